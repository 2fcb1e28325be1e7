package contrib

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/seed-9236c7ca/preface/internal/panics"
)

// maxLate bounds the calls of one contributor that ignore their deadline: once
// so many have not returned, it is refused at once until one returns. Calls
// that began before are still let run, so the goroutines of a contributor are
// at most maxLate and the compositions that run at the same time.
const maxLate = 16

// An answer is what a call ended with.
type answer struct {
	list []Message
	err  error
}

// States of a call.
const (
	running int32 = iota
	returned
	abandoned
)

// call runs the contributor in a goroutine of its own, so that one which
// ignores its context holds nothing but that goroutine. list belongs to the
// contributor from here on.
func (st *step) call(ctx context.Context, s Session, list []Message) ([]Message, error) {
	if n := st.late.Load(); n >= maxLate {
		return nil, fmt.Errorf("refused: %d earlier calls have not returned since deadline=%v passed", n, st.cfg.Deadline)
	}
	ctx, cancel := context.WithTimeout(ctx, st.cfg.Deadline)
	defer cancel()
	a := st.await(ctx, s, list)
	if a.err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, fmt.Errorf("deadline=%v passed: %w", st.cfg.Deadline, a.err)
	}
	return a.list, a.err
}

// await starts the call and waits for its end or ctx's, whichever is first.
// Both sides settle with one swap of state whether the call was abandoned: if
// so, whoever abandons it counts it in and its goroutine counts it out.
func (st *step) await(ctx context.Context, s Session, list []Message) answer {
	var state atomic.Int32
	done := make(chan answer, 1)
	go func() {
		a := answer{err: errors.New("ended its goroutine")}
		defer func() { // also after runtime.Goexit
			done <- a
			if !state.CompareAndSwap(running, returned) {
				st.late.Add(-1)
			}
		}()
		a = answered(ctx, st.made, s, list)
	}()
	select {
	case a := <-done:
		return a
	case <-ctx.Done():
	}
	st.late.Add(1)
	if !state.CompareAndSwap(running, abandoned) {
		st.late.Add(-1)
		return <-done
	}
	return answer{err: ctx.Err()}
}

// answered calls the contributor and makes an error of a panic.
func answered(ctx context.Context, made Contributor, s Session, list []Message) (a answer) {
	defer func() {
		if v := recover(); v != nil {
			a = answer{err: panics.Recovered(v)}
		}
	}()
	got, err := made.Contribute(ctx, s, slices.Clip(list))
	return answer{got, err}
}
