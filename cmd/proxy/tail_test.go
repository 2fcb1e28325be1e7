package main

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/seed-9236c7ca/preface/logsink"
)

// A cursorLog has one record at each of its cursors; even ones are tenant a's.
type cursorLog struct {
	logsink.Reader
	at []int64
}

func (l *cursorLog) Records(_ context.Context, _ logsink.Key, after int64, f func(int64, logsink.Record) bool) error {
	for _, c := range l.at {
		tenant := "a"
		if c%2 == 1 {
			tenant = "b"
		}
		if c > after && !f(c, logsink.Record{Request: &logsink.Request{Key: logsink.Key{Tenant: tenant}}}) {
			break
		}
	}
	return nil
}

func TestBeforeLast(t *testing.T) {
	f := func(n int, tenant string, at []int64, want ...int64) {
		t.Helper()
		flags, l := logFlags{sessionsFlags{n: n, tenant: tenant}}, &cursorLog{at: at}
		from, err := flags.beforeLast(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		_ = l.Records(t.Context(), logsink.Key{}, from, func(c int64, r logsink.Record) bool {
			if flags.selects(r) {
				got = append(got, c)
			}
			return true
		})
		if !slices.Equal(got, want) {
			t.Errorf("after beforeLast of %d of tenant %q in %v come %v, want %v", n, tenant, at, got, want)
		}
	}
	sparse := []int64{1, 2, 1 << 16, 1<<16 + 1, 1 << 30, 1<<40 + 1}
	f(0, "", nil)
	f(5, "", nil)
	f(0, "", sparse)
	f(1, "", sparse, sparse[5])
	f(2, "", sparse, sparse[4:]...)
	f(5, "", sparse, sparse[1:]...)
	f(6, "", sparse, sparse...)
	f(99, "", sparse, sparse...)
	f(1, "a", sparse, 1<<30)
	f(2, "b", sparse, 1<<16+1, 1<<40+1)
	f(2, "none", sparse)
}

func TestLastCursor(t *testing.T) {
	for _, want := range []int64{0, 1, 2, 3, 1 << 20, 1<<61 - 1} {
		l := &cursorLog{at: []int64{want}}
		if got, err := lastCursor(t.Context(), l); err != nil || got != want {
			t.Errorf("lastCursor of a log that ends at %d = %d, %v", want, got, err)
		}
	}
	if got := fmt.Sprint(lastCursor(t.Context(), &cursorLog{})); got != "0 <nil>" {
		t.Errorf("lastCursor of an empty log = %s", got)
	}
}
