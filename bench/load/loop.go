package load

import (
	"context"
	"errors"
	"sync"
	"time"
)

// A measurement is what came of one load on one target.
type measurement struct {
	total  []time.Duration // of each whole answer, from when its request was due
	first  []time.Duration // until its first byte
	failed int
	err    error // the first one
	took   time.Duration
}

func (m *measurement) add(r reply, due, done time.Time) {
	if r.err != nil {
		m.fail(r.err)
		return
	}
	m.total = append(m.total, done.Sub(due))
	m.first = append(m.first, r.first.Sub(due))
}

func (m *measurement) fail(err error) {
	m.failed++
	if m.err == nil {
		m.err = err
	}
}

func (m *measurement) merge(o measurement) {
	m.total, m.first = append(m.total, o.total...), append(m.first, o.first...)
	m.failed += o.failed
	if m.err == nil {
		m.err = o.err
	}
}

// A shot sends one request with the sender of a number and returns what came
// of it, when its answer was whole.
type shot func(sender int) reply

// closedLoop sends with each sender as fast as it goes, for a time, and at least
// once.
func closedLoop(ctx context.Context, senders int, length time.Duration, do shot) measurement {
	end := time.Now().Add(length)
	return each(senders, func(i int, m *measurement) {
		for ctx.Err() == nil {
			due := time.Now()
			m.add(do(i), due, time.Now())
			if !time.Now().Before(end) {
				return
			}
		}
	})
}

var errNotSent = errors.New("no connection was free in time to send it: the rate is more than the target can take")

// openLoop has a request due at fixed times, whether or not the earlier ones
// have ended. Those that find no sender free wait, and their waiting counts.
func openLoop(ctx context.Context, senders int, length time.Duration, rate float64, do shot) measurement {
	n := max(1, int(rate*length.Seconds()))
	due := make(chan time.Time, n)
	var clock sync.WaitGroup
	clock.Go(func() {
		defer close(due)
		tick(ctx, n, rate, due)
	})
	m := each(senders, func(i int, m *measurement) {
		for at := range due {
			if ctx.Err() != nil {
				m.fail(errNotSent)
				continue
			}
			m.add(do(i), at, time.Now())
		}
	})
	clock.Wait()
	return m
}

// tick sends the times at which n requests are due, at those times. It sends all
// that are left when ctx ends, so that they are counted.
func tick(ctx context.Context, n int, rate float64, due chan<- time.Time) {
	start := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i := range n {
		at := start.Add(time.Duration(float64(i) / rate * float64(time.Second)))
		timer.Reset(time.Until(at))
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		due <- at
	}
}

// each runs a function for each sender, beside each other, and sums up.
func each(senders int, run func(i int, m *measurement)) measurement {
	start := time.Now()
	parts := make([]measurement, senders)
	var all sync.WaitGroup
	for i := range parts {
		all.Go(func() { run(i, &parts[i]) })
	}
	all.Wait()
	var sum measurement
	for _, p := range parts {
		sum.merge(p)
	}
	sum.took = time.Since(start)
	return sum
}
