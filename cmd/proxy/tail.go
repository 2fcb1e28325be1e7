package main

import (
	"context"
	"io"
	"os/signal"
	"sort"
	"strings"
	"syscall"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
)

// tailEvery is how often tail asks for new records.
const tailEvery = 250 * time.Millisecond

// tail prints the last records and then those that come, until a signal.
func (f *logFlags) tail(ctx context.Context, r logsink.Reader, stdout io.Writer) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	p := recordPrinter{w: stdout, json: f.json, sessions: true}
	cursor, err := f.beforeLast(ctx, r)
	tick := time.NewTicker(tailEvery)
	defer tick.Stop()
	for err == nil && p.err == nil {
		err = r.Records(ctx, logsink.Key{}, cursor, func(at int64, rec logsink.Record) bool {
			cursor = at
			return !f.selects(rec) || p.print(rec)
		})
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
	if p.err != nil {
		return p.err
	}
	return err
}

func (f *logFlags) selects(r logsink.Record) bool {
	return strings.HasPrefix(r.Of().Tenant, f.tenant)
}

// beforeLast returns the cursor after which the last n records come. Cursors
// grow with time, so it looks back from the end in steps that double: a large
// log is not read from its beginning.
func (f *logFlags) beforeLast(ctx context.Context, r logsink.Reader) (int64, error) {
	end, err := lastCursor(ctx, r)
	if err != nil {
		return 0, err
	}
	for step := int64(1); ; step *= 2 {
		from := max(0, end-step)
		before := []int64{from} // before[i] is where to begin in order to get i records less than all
		err := r.Records(ctx, logsink.Key{}, from, func(at int64, rec logsink.Record) bool {
			if f.selects(rec) {
				before = append(before, at)
			}
			return true
		})
		if n := len(before) - 1; err != nil || from == 0 || n >= f.n {
			return before[max(0, n-f.n)], err
		}
	}
}

// lastCursor returns the cursor of the last record, or 0.
func lastCursor(ctx context.Context, r logsink.Reader) (int64, error) {
	var failed error
	at := sort.Search(1<<62, func(c int) bool {
		none := true
		err := r.Records(ctx, logsink.Key{}, int64(c), func(int64, logsink.Record) bool {
			none = false
			return false
		})
		if err != nil {
			failed = err
		}
		return none
	})
	return int64(at), failed
}
