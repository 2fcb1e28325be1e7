package logsink_test

import (
	"context"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/internal/redistest"
	"github.com/seed-9236c7ca/preface/logsink"
)

// Two processes agree on who goes first, on one server and on many.
func TestRedisBursts(t *testing.T) {
	t.Run("Single", func(t *testing.T) { testBursts(t, redistest.Start(t).URL()) })
	t.Run("Cluster", func(t *testing.T) { testBursts(t, clusterURL(t)) })
}

func testBursts(t *testing.T, url string) {
	const hold = time.Hour
	ctx := t.Context()
	here, there := openBursts(t, url), openBursts(t, url)
	enter := func(b *logsink.Bursts, id logsink.BurstID, hold time.Duration) (logsink.BurstTurn, logsink.BurstClaim) {
		t.Helper()
		claim := logsink.NewBurstClaim()
		turn, err := b.Enter(ctx, id, claim, hold)
		if err != nil {
			t.Fatal(err)
		}
		return turn, claim
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range byte(8) { // of several slots
		id, other := logsink.BurstID{i, 1}, logsink.BurstID{i, 2}
		first, claim := enter(here, id, hold)
		second, refused := enter(there, id, hold)
		apart, _ := enter(there, other, hold)
		if !first.First || second != (logsink.BurstTurn{}) || !apart.First {
			t.Errorf("burst %d: the first is told %+v, the second %+v, another burst's first %+v", i, first, second, apart)
		}
		must(there.Quit(ctx, id, refused))
		if turn, _ := enter(there, id, hold); turn.First {
			t.Errorf("burst %d: a claim that does not stand was quit, and that ended another", i)
		}
		must(here.Quit(ctx, id, claim))
		next, claim := enter(there, id, hold)
		if !next.First {
			t.Errorf("burst %d: nobody goes first, and the next one is told %+v", i, next)
		}
		must(there.Warm(ctx, id, 2*time.Hour))
		must(here.Warm(ctx, id, time.Hour)) // told late, of an older answer
		must(there.Quit(ctx, id, claim))
		if turn, _ := enter(here, id, hold); turn.First || turn.Warm <= time.Hour || turn.Warm > 2*time.Hour {
			t.Errorf("burst %d: it is warm for 2h, and one who enters is told %+v", i, turn)
		}
	}
}

// A claim stands for hold, as whoever made it may have died.
func TestRedisBurstClaimEnds(t *testing.T) {
	b := openBursts(t, redistest.Start(t).URL())
	id := logsink.BurstID{1}
	if turn, err := b.Enter(t.Context(), id, logsink.NewBurstClaim(), 20*time.Millisecond); err != nil || !turn.First {
		t.Fatalf("Enter = %+v, %v, want to go first", turn, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		turn, err := b.Enter(ctx, id, logsink.NewBurstClaim(), time.Hour)
		if err != nil {
			t.Fatalf("the claim does not end: %v", err)
		}
		if turn.First {
			return
		}
	}
}

func openBursts(t *testing.T, url string) *logsink.Bursts {
	t.Helper()
	l, err := logsink.OpenRedis(t.Context(), url, logsink.Config{Durability: logsink.DurableMemory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l.Bursts()
}
