package trace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/seed-9236c7ca/preface/logsink"
)

// isLog reports whether a file is a header log in SQLite. It leaves the file at
// its beginning.
func isLog(f *os.File) bool {
	const magic = "SQLite format 3\x00"
	b := make([]byte, len(magic))
	n, _ := f.ReadAt(b, 0) // what is shorter is none
	return string(b[:n]) == magic
}

// openLog reads the sessions of a header log, which a proxy may be writing.
func openLog(path string) (*Reader, error) {
	log, err := logsink.OpenSQLiteReader(context.Background(), path, logsink.DefaultConfig())
	if err != nil {
		return nil, fmt.Errorf("cannot read the trace (-trace): %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	name := filepath.Base(path)
	next, stop := iter.Pull2(logSessions(ctx, log, name))
	return &Reader{
		info: Info{Name: name, Format: "header-log"},
		from: pulled(next),
		close: func() error {
			cancel()
			stop()
			return log.Close()
		},
	}, nil
}

// pulled is a format whose sessions come one by one.
type pulled func() ([]Request, error, bool)

func (p pulled) next(*lines) ([]Request, error) {
	list, err, ok := p()
	if !ok {
		return nil, io.EOF
	}
	return list, err
}

// logSessions are the requests of each session of a log.
func logSessions(ctx context.Context, log logsink.Reader, name string) iter.Seq2[[]Request, error] {
	return func(yield func([]Request, error) bool) {
		stopped := false
		err := log.Sessions(ctx, "", "", func(s logsink.SessionInfo) bool {
			list, err := readSession(ctx, log, s.Key)
			if err != nil {
				stopped = !yield(nil, &Fault{File: name, Reason: fmt.Sprintf("session %q: %v", s.Session, err)})
				return false
			}
			stopped = !yield(list, nil)
			return !stopped
		})
		if err != nil && !stopped && !errors.Is(err, context.Canceled) {
			yield(nil, &Fault{File: name, Reason: err.Error()})
		}
	}
}

// readSession reads the records of one session.
func readSession(ctx context.Context, log logsink.Reader, k logsink.Key) ([]Request, error) {
	s := newReplay(k)
	err := log.Records(ctx, k, 0, func(_ int64, r logsink.Record) bool {
		s.record(r)
		return true
	})
	return s.requests(), err
}
