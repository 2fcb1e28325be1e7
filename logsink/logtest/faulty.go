package logtest

import (
	"context"
	"fmt"

	"github.com/seed-9236c7ca/preface/logsink"
)

// Faulty is a log whose Freeze and Append fail on demand, for tests of its
// users. The two ways differ in what the caller cannot see: whether the record
// is there.
type Faulty struct {
	logsink.Log
	// Before is asked before each Freeze and Append; its error is returned and
	// nothing is stored. nil never fails.
	Before func(op string) error
	// After is asked after; its error is returned though all is stored, as when
	// an acknowledgement is lost.
	After func(op string) error
}

// Freeze is Log.Freeze between Before and After.
func (f *Faulty) Freeze(ctx context.Context, a *logsink.Anchor) (*logsink.Anchor, error) {
	if err := ask(f.Before, "freeze"); err != nil {
		return nil, err
	}
	got, err := f.Log.Freeze(ctx, a)
	if lost := ask(f.After, "freeze"); err == nil && lost != nil {
		return nil, lost
	}
	return got, err
}

// Append is Log.Append between Before and After.
func (f *Faulty) Append(ctx context.Context, recs []logsink.Record, blobs []logsink.Blob) error {
	if err := ask(f.Before, "append"); err != nil {
		return err
	}
	err := f.Log.Append(ctx, recs, blobs)
	if lost := ask(f.After, "append"); err == nil {
		err = lost
	}
	return err
}

func ask(f func(string) error, op string) error {
	if f == nil {
		return nil
	}
	return f(op)
}

// Unavailable is an error as a log gives it that cannot be used now.
func Unavailable(why string) error { return fmt.Errorf("%w: %s", logsink.ErrUnavailable, why) }
