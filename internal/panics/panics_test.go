package panics

import (
	"strings"
	"testing"
)

func caught(f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Recovered(v)
		}
	}()
	f()
	return nil
}

func throws() { panic("a secret") }

func divides(n int) int { return 1 / n }

func TestI12_PanicsAreNotQuoted(t *testing.T) {
	f := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v, want %s…", err, want)
		}
	}
	f(caught(throws), "panicked with a string in github.com/seed-9236c7ca/preface/internal/panics.throws, line ")
	f(caught(func() { divides(0) }), "panicked with a runtime.errorString in github.com/seed-9236c7ca/preface/internal/panics.divides, line ")
}
