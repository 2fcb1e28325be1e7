package proxy

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
)

// others are the replicas on the same log. They are asked by the one that leads in
// this process, and told in passing when an answer has begun. When they cannot be
// asked, bursts are this process's: a log that is away must not keep a request
// that needs nothing of it. A nil *others is nobody.
type others struct {
	shared *logsink.Bursts
	mute   atomic.Int64 // they are not asked until then; Unix ns
	failed atomic.Int64 // calls that failed
	tells  sync.WaitGroup
}

const (
	askEvery  = 50 * time.Millisecond  // while another replica leads
	askLeast  = 10 * time.Millisecond  // what must be left of a wait, or an answer may come too late
	askTime   = 250 * time.Millisecond // for one question
	askPause  = 5 * time.Second        // after one that failed
	tellTime  = 2 * time.Second        // for one message
	tellEvery = time.Minute            // of an entry that they know of
)

func newOthers(shared *logsink.Bursts) *others {
	if shared == nil {
		return nil
	}
	return &others{shared: shared}
}

// again says when one who leads here, behind another replica, is to ask again. If
// mine is nil there is nothing to ask.
func (o *others) again(mine *lead) <-chan time.Time {
	if o == nil || mine == nil {
		return nil
	}
	return time.After(askEvery)
}

// goesFirst reports whether one that leads here goes: first among the replicas,
// too, or without a lead, since the beginning is warm. If it does not, it goes on
// leading here.
func (b *burst) goesFirst(ctx context.Context, mine *lead, until time.Time) (_ *lead, goes bool) {
	if b.others.silent() {
		return mine, true
	}
	hold := time.Until(until)
	if hold < askLeast {
		return mine, false // the wait is about to end
	}
	claim := logsink.NewBurstClaim()
	turn, err := b.others.ask(ctx, b.id, claim, hold)
	switch {
	case err != nil:
		mine.claim = claim // it may stand
		return mine, true
	case turn.Warm > 0:
		b.warm(time.Now().Add(turn.Warm))
		return nil, true
	case turn.First:
		mine.claim = claim
	}
	return mine, turn.First
}

// silent reports whether there is nobody to ask.
func (o *others) silent() bool { return o == nil || time.Now().UnixNano() < o.mute.Load() }

func (o *others) ask(ctx context.Context, id logsink.BurstID, claim logsink.BurstClaim, hold time.Duration) (logsink.BurstTurn, error) {
	bounded, cancel := context.WithTimeout(ctx, min(hold, askTime))
	defer cancel()
	turn, err := o.shared.Enter(bounded, id, claim, hold)
	if err != nil && ctx.Err() == nil {
		o.fail()
	}
	return turn, err
}

func (o *others) fail() {
	o.failed.Add(1)
	o.mute.Store(time.Now().Add(askPause).UnixNano())
}

// tell lets others know until when the beginning is warm, if they wait for mine or
// were not told of late.
func (b *burst) tell(until time.Time, mine *lead) {
	if b.others == nil || !b.newsToTell(mine) {
		return
	}
	b.others.say(func(ctx context.Context) error { return b.others.shared.Warm(ctx, b.id, time.Until(until)) })
}

func (b *burst) newsToTell(mine *lead) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if (mine == nil || mine.claim == "") && now.Sub(b.told) < tellEvery {
		return false
	}
	b.told = now
	return true
}

// forget gives back what mine holds among the others, if anything.
func (b *burst) forget(mine *lead) {
	if mine == nil || mine.claim == "" {
		return
	}
	claim := mine.claim
	b.others.say(func(ctx context.Context) error { return b.others.shared.Quit(ctx, b.id, claim) })
}

// say tells something on the side: no request waits for it.
func (o *others) say(f func(context.Context) error) {
	o.tells.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), tellTime)
		defer cancel()
		if f(ctx) != nil {
			o.fail()
		}
	})
}

// settle waits for what is being told.
func (o *others) settle() {
	if o != nil {
		o.tells.Wait()
	}
}

// failures is how many calls failed.
func (o *others) failures() float64 {
	if o == nil {
		return 0
	}
	return float64(o.failed.Load())
}
