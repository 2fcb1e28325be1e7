package wire

import (
	"errors"
	"os"
	"sync/atomic"
	"time"
)

// A deadline is when reads fail. Servers push it ahead with every request, and
// moving the runtime's timer each time costs more than reading: so the timer
// stays where it is while it is due first, and a read that it ends too early
// moves it and goes on.
//
// Both times are nanoseconds since epoch, 0 for none. Any goroutine may set a
// deadline; one that is earlier than the timer takes effect at once, also on a
// read that waits.
type deadline struct{ due, timer atomic.Int64 }

// epoch is where this process counts from: by the monotonic clock, so that a
// clock that is set moves no deadline.
var epoch = time.Now()

// set makes t the deadline, the zero time none. arm sets the timer.
func (d *deadline) set(t time.Time, arm func(time.Time) error) error {
	due := int64(0)
	if !t.IsZero() {
		due = max(1, int64(t.Sub(epoch)))
	}
	d.due.Store(due)
	timer := d.timer.Load()
	if timer != 0 && (due == 0 || timer <= due) || timer == due {
		return nil
	}
	d.timer.Store(due)
	return arm(t)
}

// early reports whether a read failed because the timer came before the
// deadline, and has then moved the timer there.
func (d *deadline) early(err error, arm func(time.Time) error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	due := d.due.Load()
	if due != 0 && int64(time.Since(epoch)) >= due {
		return false
	}
	d.timer.Store(due)
	t := time.Time{}
	if due != 0 {
		t = epoch.Add(time.Duration(due))
	}
	return arm(t) == nil
}
