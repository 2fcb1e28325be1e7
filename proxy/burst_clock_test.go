package proxy

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestBurstClock: what is told by the clock, to the tick.
func TestBurstClock(t *testing.T) {
	const hold = 2 * time.Second
	begin := func(t *testing.T) (*burst, *lead, time.Time) {
		b := &burst{}
		lead, ahead := b.enter()
		if lead == nil || ahead != nil {
			t.Fatal("the first one does not lead")
		}
		return b, lead, time.Now()
	}
	follow := func(b *burst) (end string) {
		lead, ahead := b.enter()
		if ahead == nil {
			return map[bool]string{true: "leads", false: "passes"}[lead != nil]
		}
		_, end = b.follow(context.Background(), nil, ahead, time.Now().Add(hold))
		return end
	}
	t.Run("each waits for hold from when it came", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, _, at := begin(t)
			var all sync.WaitGroup
			for _, after := range []time.Duration{0, time.Second, 3 * time.Second} {
				all.Go(func() {
					time.Sleep(after)
					if end, took := follow(b), time.Since(at); end != holdExpired || took != after+hold {
						t.Errorf("the one that came after %v: %s after %v, want %s after %v", after, end, took, holdExpired, after+hold)
					}
				})
			}
			all.Wait()
		})
	})
	t.Run("all go when an answer begins, then none waits for the life of an entry", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, lead, at := begin(t)
			var all sync.WaitGroup
			for range burstSize {
				all.Go(func() {
					if end, took := follow(b), time.Since(at); end != holdReleased || took != time.Second {
						t.Errorf("%s after %v, want %s after 1s", end, took, holdReleased)
					}
				})
			}
			time.Sleep(time.Second)
			b.warm(at.Add(warmTime))
			b.quit(lead)
			all.Wait()
			time.Sleep(warmTime - time.Second - 1)
			if got := follow(b); got != "passes" {
				t.Errorf("at the end of the entry's life a request %s, want it to pass", got)
			}
			time.Sleep(1)
			if got := follow(b); got != "leads" {
				t.Errorf("after the entry's life a request %s, want it to lead", got)
			}
		})
	})
	t.Run("whoever went on may be the first to be answered", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, lead, at := begin(t)
			follow(b)
			var all sync.WaitGroup
			all.Go(func() {
				if end := follow(b); end != holdReleased {
					t.Errorf("%s, want %s", end, holdReleased)
				}
			})
			time.Sleep(time.Second)
			b.warm(at.Add(warmTime))
			all.Wait()
			b.quit(lead) // late, and of no effect
			if got := follow(b); got != "passes" {
				t.Errorf("then a request %s, want it to pass", got)
			}
		})
	})
	t.Run("one leads after one that failed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, lead, at := begin(t)
			var all sync.WaitGroup
			ends := make(chan string, burstSize)
			for range burstSize {
				all.Go(func() { ends <- follow(b) })
			}
			synctest.Wait()
			b.quit(lead)
			synctest.Wait()
			b.quit(lead) // again, and of no effect
			time.Sleep(hold)
			all.Wait()
			close(ends)
			count := map[string]int{}
			for end := range ends {
				count[end]++
			}
			if count[holdLed] != 1 || count[holdExpired] != burstSize-1 || time.Since(at) != hold {
				t.Errorf("%v after %v, want one to lead and the rest to expire after %v", count, time.Since(at), hold)
			}
		})
	})
	t.Run("whoever leaves waits no more", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b, _, at := begin(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, ahead := b.enter()
			if _, end := b.follow(ctx, nil, ahead, time.Now().Add(hold)); end != holdLeft || time.Since(at) != time.Second {
				t.Errorf("%s after %v, want %s after 1s", end, time.Since(at), holdLeft)
			}
		})
	})
}
