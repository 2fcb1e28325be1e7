package wire

import (
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// A timer is what the runtime has of a connection's deadline, in a test.
type timer struct {
	at    time.Time
	moved int
}

func (t *timer) arm(at time.Time) error {
	t.at = at
	t.moved++
	return nil
}

// inBubble runs f under a clock of its own, which this package counts by as well.
func inBubble(t *testing.T, f func(t *testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		before := epoch
		epoch = time.Now()
		defer func() { epoch = before }()
		f(t)
	})
}

// wait is a read that nothing comes for: it fails when the timer is due.
func (t *timer) wait() error {
	time.Sleep(time.Until(t.at))
	return os.ErrDeadlineExceeded
}

// TestDeadlineThatMovesAhead: a read fails at the last deadline that was set,
// neither before nor after, however the timer lags behind.
func TestDeadlineThatMovesAhead(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var d deadline
		var tm timer
		for range 100 {
			if err := d.set(time.Now().Add(75*time.Second), tm.arm); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if tm.moved != 1 {
			t.Errorf("the timer was moved %d times, want once", tm.moved)
		}
		want := time.Now().Add(75*time.Second - 100*time.Millisecond)
		for d.early(tm.wait(), tm.arm) {
		}
		if !time.Now().Equal(want) {
			t.Errorf("the read failed at %v, want %v", time.Now(), want)
		}
	})
}

// TestDeadlineThatComesNearer takes effect at once.
func TestDeadlineThatComesNearer(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var d deadline
		var tm timer
		_ = d.set(time.Now().Add(time.Hour), tm.arm)
		near := time.Now().Add(time.Second)
		_ = d.set(near, tm.arm)
		if !tm.at.Equal(near) {
			t.Fatalf("the timer is due at %v, want %v", tm.at, near)
		}
		if d.early(tm.wait(), tm.arm) {
			t.Error("a read that failed at its deadline goes on")
		}
	})
}

// TestDeadlineThatIsLifted: the timer that is left wakes a read once, and no more.
func TestDeadlineThatIsLifted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var d deadline
		var tm timer
		_ = d.set(time.Now().Add(time.Second), tm.arm)
		_ = d.set(time.Time{}, tm.arm)
		if !d.early(tm.wait(), tm.arm) || !tm.at.IsZero() {
			t.Errorf("a read without a deadline failed, or is to fail at %v", tm.at)
		}
	})
}
