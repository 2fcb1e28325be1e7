package proxy

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestLife(t *testing.T) {
	f := func(name string, ends bool, use func(*life) error, want error) {
		t.Helper()
		l := new(life)
		if ends {
			l.end()
			l.end()
		}
		if got := use(l); got != want {
			t.Errorf("%s of a life that has ended (%v) = %v, want %v", name, ends, got, want)
		}
	}
	state := func(l *life) error { return l.Err() }
	child := func(l *life) error {
		ctx, cancel := context.WithTimeout(l, time.Hour)
		defer cancel()
		if l.Err() != nil {
			<-ctx.Done()
		}
		return ctx.Err()
	}
	f("Err", false, state, nil)
	f("Err", true, state, context.Canceled)
	f("a child's Err", false, child, nil)
	f("a child's Err", true, child, context.Canceled)
}

// TestI7_LifeWakesWhoWaits: what waits for a request's sake stops when the client
// leaves, whether it began to wait before or comes late.
func TestI7_LifeWakesWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := new(life)
		woken := make(chan struct{})
		go func() {
			<-l.Done()
			close(woken)
		}()
		synctest.Wait()
		select {
		case <-woken:
			t.Fatal("woken before the end")
		default:
		}
		l.end()
		<-woken
		<-l.Done()
	})
}
