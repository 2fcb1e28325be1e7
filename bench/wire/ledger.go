package wire

import (
	"context"
	"fmt"

	"github.com/seed-9236c7ca/preface/bench/cache"
	"github.com/seed-9236c7ca/preface/logsink"
)

// logged compares Preface's log with what the provider charged. got is by request
// id, and is emptied. It returns how many requests the log has otherwise or not.
func (s *stage) logged(ctx context.Context, got map[string]cache.Tokens) (wrong int, err error) {
	r, err := logsink.OpenReader(ctx, s.logConfig())
	if err != nil {
		return 0, err
	}
	defer func() { _ = r.Close() }() // nothing was written
	err = r.Records(ctx, logsink.Key{}, 0, func(_ int64, rec logsink.Record) bool {
		if rec.Response == nil {
			return true
		}
		want, known := got[rec.Response.ID]
		if !known || !same(rec.Response.Usage, want) {
			wrong++
		}
		delete(got, rec.Response.ID)
		return true
	})
	if err != nil {
		return 0, fmt.Errorf("cannot compare with the header log: %w", err)
	}
	return wrong + len(got), nil
}

// same reports whether a usage in the log is what was charged.
func same(u *logsink.Usage, t cache.Tokens) bool {
	if u == nil {
		return t == cache.Tokens{}
	}
	return counted(u.Fresh)+counted(u.Unsplit) == t.Fresh && counted(u.CacheRead) == t.Read &&
		counted(u.Write5m)+counted(u.Write1h)+counted(u.Write30m)+counted(u.WriteOther) == t.Written()
}

func counted(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
