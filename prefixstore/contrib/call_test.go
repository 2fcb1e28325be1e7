package contrib

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// stuck is a contributor that ignores its context until release is closed.
func stuck(release <-chan struct{}) fake {
	return func(_ context.Context, _ Session, l []Message) ([]Message, error) {
		<-release
		return append(l, Message{Text: "too late"}), nil
	}
}

func TestFault28_HungContributorEndsAtItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		began := time.Now()
		_, err := composerOf(newStep(Config{Name: "svc"}, stuck(release))).Compose(t.Context(), Session{})
		if want := `contributor "svc": deadline=500ms passed: context deadline exceeded`; fmt.Sprint(err) != want {
			t.Errorf("Compose = %v, want %s", err, want)
		}
		if took := time.Since(began); took != 500*time.Millisecond {
			t.Errorf("Compose took %v, want the deadline of 500ms", took)
		}
	})
}

func TestFault28_ObedientContributorIsToldOfItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obeys := fake(func(ctx context.Context, _ Session, _ []Message) ([]Message, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		c := composerOf(newStep(Config{Name: "svc", Deadline: time.Second, OnError: Skip}, obeys), stepOf("b", gives(Message{Text: "b"})))
		r := compose(t, c, Session{})
		if got, want := r.Contributions[0].Outcome, "skipped: deadline=1s passed: context deadline exceeded"; got != want {
			t.Errorf("outcome = %q, want %q", got, want)
		}
		if got := r.Contributions[0].Took; got != time.Second {
			t.Errorf("took = %v, want 1s", got)
		}
		synctest.Wait()
		if n := c.Late(); n != 0 {
			t.Errorf("Late() = %d after the call returned, want 0", n)
		}
	})
}

// A composition cut short is no composition, even of contributors that may be
// skipped (I5).
func TestI5_InterruptedCompositionGivesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		ok := stepOf("ok", gives(Message{Text: "a"}))
		slow := newStep(Config{Name: "slow", Deadline: time.Minute, OnError: Skip}, stuck(release))

		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		r, err := composerOf(ok, slow, ok).Compose(ctx, Session{})
		if !errors.Is(err, context.DeadlineExceeded) || r.Messages != nil {
			t.Errorf("Compose past the caller's deadline = %v, %v, want nothing and its error", r.Messages, err)
		}
		if want := `contributor "slow": composition interrupted: context deadline exceeded`; fmt.Sprint(err) != want {
			t.Errorf("Compose = %v, want %s", err, want)
		}

		ctx, stop := context.WithCancel(t.Context())
		cancels := stepOf("cancels", func(_ context.Context, _ Session, l []Message) ([]Message, error) {
			stop()
			return append(l, Message{Text: "b"}), nil
		})
		if r, err := composerOf(ok, cancels).Compose(ctx, Session{}); !errors.Is(err, context.Canceled) || r.Messages != nil {
			t.Errorf("Compose cancelled at its end = %v, %v, want nothing and context.Canceled", r.Messages, err)
		}
	})
}

func TestI10_CallsThatNeverReturnAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var calls atomic.Int32
		hung := stuck(release)
		c := composerOf(newStep(Config{Name: "svc"}, fake(func(ctx context.Context, s Session, l []Message) ([]Message, error) {
			calls.Add(1)
			return hung(ctx, s, l)
		})))
		for i := range maxLate {
			if _, err := c.Compose(t.Context(), Session{}); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("Compose %d = %v, want its deadline", i, err)
			}
			if n := c.Late(); n != i+1 {
				t.Fatalf("Late() = %d after %d hung calls", n, i+1)
			}
		}
		began := time.Now()
		for range 100 {
			_, err := c.Compose(t.Context(), Session{})
			if want := "refused: 16 earlier calls have not returned since deadline=500ms passed"; err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("Compose beyond the bound = %v, want %s", err, want)
			}
		}
		if took := time.Since(began); took != 0 || calls.Load() != maxLate {
			t.Errorf("100 refused compositions took %v and made %d calls, want 0 and %d", took, calls.Load(), maxLate)
		}

		close(release)
		synctest.Wait()
		if n := c.Late(); n != 0 {
			t.Errorf("Late() = %d after all returned, want 0", n)
		}
		if r := compose(t, c, Session{}); len(r.Messages) != 1 {
			t.Errorf("Compose after all returned = %v, want its message", r.Messages)
		}
	})
}

type secret struct{ key string }

func TestFault2_PanicIsAnErrorWithoutItsValue(t *testing.T) {
	const canary = "sk-CANARY-1"
	for name, tc := range map[string]struct {
		value any
		want  string
	}{
		"string":  {canary, "panicked with a string in "},
		"error":   {errors.New(canary), "panicked with a *errors.errorString in "},
		"struct":  {secret{canary}, "panicked with a contrib.secret in "},
		"nil":     {nil, "panicked with a *runtime.PanicNilError in "},
		"runtime": {indexError(), "panicked with a runtime.boundsError in "},
	} {
		c := composerOf(stepOf("svc", func(context.Context, Session, []Message) ([]Message, error) { panic(tc.value) }))
		_, err := c.Compose(t.Context(), Session{})
		if err == nil || !strings.HasPrefix(err.Error(), `contributor "svc": `+tc.want) || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: Compose = %v, want %s…, without the value", name, err, tc.want)
		}
		if err != nil && !strings.Contains(err.Error(), "TestFault2_") {
			t.Errorf("%s: Compose = %v, want the function that panicked", name, err)
		}
	}
}

// indexError returns what the runtime panics with.
func indexError() (v any) {
	defer func() { v = recover() }()
	var empty []int
	return empty[len(empty)]
}

// The place is where it was thrown, also when the runtime throws.
func TestFault2_PlaceOfARuntimePanic(t *testing.T) {
	c := composerOf(stepOf("svc", func(_ context.Context, _ Session, l []Message) ([]Message, error) {
		return []Message{l[len(l)]}, nil
	}))
	_, err := c.Compose(t.Context(), Session{})
	if err == nil || !strings.Contains(err.Error(), "runtime.boundsError in ") || !strings.Contains(err.Error(), "PlaceOfARuntimePanic") {
		t.Errorf("Compose = %v, want a boundsError in this test", err)
	}
}

func TestFault2_OthersAreUnaffected(t *testing.T) {
	panics := patient(Config{Name: "svc", OnError: Skip}, fake(func(context.Context, Session, []Message) ([]Message, error) { panic("x") }))
	r := compose(t, composerOf(panics, stepOf("ok", gives(Message{Text: "text"}))), Session{})
	if want := []Message{{"user", "text"}}; !slices.Equal(r.Messages, want) {
		t.Errorf("Compose beside a panic = %v, want %v", r.Messages, want)
	}
}

func TestGoexitIsAnErrorAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := composerOf(stepOf("svc", func(context.Context, Session, []Message) ([]Message, error) {
			runtime.Goexit()
			return nil, nil
		}))
		began := time.Now()
		_, err := c.Compose(t.Context(), Session{})
		if want := `contributor "svc": ended its goroutine`; fmt.Sprint(err) != want || time.Since(began) != 0 {
			t.Errorf("Compose = %v after %v, want %s at once", err, time.Since(began), want)
		}
	})
}
