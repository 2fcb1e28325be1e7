package logtest_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/logsink/logtest"
)

// A broken backend is SQLite behind methods that do one thing wrong.
type broken struct {
	name  string
	fails []string // cases that must see it
	log   func(*wrapped)
	read  func(*wrappedReader)
	fresh bool // each Open is a log of its own
}

type wrapped struct {
	logsink.Log
	freeze  func(context.Context, *logsink.Anchor) (*logsink.Anchor, error)
	current func(context.Context, logsink.Key) (*logsink.Anchor, error)
	append  func(context.Context, []logsink.Record, []logsink.Blob) error
	last    func(context.Context, logsink.Key, string) (*logsink.Request, *logsink.Header, error)
	find    func(context.Context, string, []string) (logsink.Key, string, error)
	ended   func(context.Context, int64) ([]logsink.EpochRef, int64, error)
	secret  func(context.Context, string) ([]byte, error)
	retain  func(context.Context, logsink.Retention) (logsink.Dropped, error)
	close   func() error
}

func wrap(l logsink.Log) *wrapped {
	return &wrapped{l, l.Freeze, l.Current, l.Append, l.Last, l.Find, l.Ended, l.Secret, l.Retain, l.Close}
}

func (w *wrapped) Freeze(ctx context.Context, a *logsink.Anchor) (*logsink.Anchor, error) {
	return w.freeze(ctx, a)
}
func (w *wrapped) Current(ctx context.Context, k logsink.Key) (*logsink.Anchor, error) {
	return w.current(ctx, k)
}
func (w *wrapped) Append(ctx context.Context, r []logsink.Record, b []logsink.Blob) error {
	return w.append(ctx, r, b)
}
func (w *wrapped) Last(ctx context.Context, k logsink.Key, thread string) (*logsink.Request, *logsink.Header, error) {
	return w.last(ctx, k, thread)
}
func (w *wrapped) Find(ctx context.Context, tenant string, l []string) (logsink.Key, string, error) {
	return w.find(ctx, tenant, l)
}
func (w *wrapped) Ended(ctx context.Context, after int64) ([]logsink.EpochRef, int64, error) {
	return w.ended(ctx, after)
}
func (w *wrapped) Secret(ctx context.Context, name string) ([]byte, error) {
	return w.secret(ctx, name)
}
func (w *wrapped) Retain(ctx context.Context, r logsink.Retention) (logsink.Dropped, error) {
	return w.retain(ctx, r)
}
func (w *wrapped) Close() error { return w.close() }

type wrappedReader struct {
	logsink.Reader
	sessions func(context.Context, string, string, func(logsink.SessionInfo) bool) error
	blob     func(context.Context, logsink.Digest) ([]byte, error)
}

func (w *wrappedReader) Sessions(ctx context.Context, tenant, prefix string, f func(logsink.SessionInfo) bool) error {
	return w.sessions(ctx, tenant, prefix, f)
}
func (w *wrappedReader) ReadBlob(ctx context.Context, d logsink.Digest) ([]byte, error) {
	return w.blob(ctx, d)
}

var brokenBackends = []broken{
	{name: "every caller keeps its own anchor", fails: []string{"I5_FreezeRaceHasOneWinner", "I1_FreezeSurvivesReopening", "FreezeEpochs", "UnknownOutcomeIsStoredOnce"}, log: func(w *wrapped) {
		inner := w.freeze
		w.freeze = func(ctx context.Context, a *logsink.Anchor) (*logsink.Anchor, error) {
			_, err := inner(ctx, a)
			return a, err
		}
	}},
	{name: "each process has its own log", fails: []string{"I5_FreezeRaceHasOneWinner", "I1_FreezeSurvivesReopening", "I2_FreezeKeepsBytes", "I6_KeysStayApart", "Secret", "EndEpoch", "Last", "Find", "LastOfManyThreads", "AppendConcurrently"}, fresh: true},
	{name: "bytes are made text", fails: []string{"I2_FreezeKeepsBytes"}, log: func(w *wrapped) {
		inner := w.current
		w.current = func(ctx context.Context, k logsink.Key) (*logsink.Anchor, error) {
			a, err := inner(ctx, k)
			if err != nil {
				return nil, err
			}
			own := *a
			own.Renderings = slices.Clone(a.Renderings)
			for i := range own.Renderings {
				own.Renderings[i].Bytes = bytes.ToValidUTF8(own.Renderings[i].Bytes, []byte("?"))
			}
			return &own, nil
		}
	}},
	{name: "anything is accepted", fails: []string{"FreezeRefusesContradictions", "AppendRefuses", "BlobsComeWithRecords"}, log: func(w *wrapped) {
		freeze, add := w.freeze, w.append
		w.freeze = func(ctx context.Context, a *logsink.Anchor) (*logsink.Anchor, error) {
			if a.Check() != nil {
				return a, nil
			}
			return freeze(ctx, a)
		}
		w.append = func(ctx context.Context, r []logsink.Record, b []logsink.Blob) error {
			add(ctx, r, b)
			return nil
		}
	}},
	{name: "tenants share sessions", fails: []string{"I6_TenantsStayApart"}, log: func(w *wrapped) {
		inner := w.current
		w.current = func(ctx context.Context, k logsink.Key) (*logsink.Anchor, error) {
			k.Tenant = "a11ce"
			return inner(ctx, k)
		}
	}},
	{name: "session ids lose their case", fails: []string{"I6_KeysStayApart"}, log: func(w *wrapped) {
		inner := w.freeze
		w.freeze = func(ctx context.Context, a *logsink.Anchor) (*logsink.Anchor, error) {
			own := *a
			own.Session = strings.ToLower(a.Session)
			return inner(ctx, &own)
		}
	}},
	{name: "batches are turned round", fails: []string{"AppendKeepsOrder", "AppendConcurrently", "Last"}, log: func(w *wrapped) {
		inner := w.append
		w.append = func(ctx context.Context, r []logsink.Record, b []logsink.Blob) error {
			r = slices.Clone(r)
			slices.Reverse(r)
			return inner(ctx, r, b)
		}
	}},
	{name: "a retried record is stored twice", fails: []string{"AppendAgainStoresOnce", "UnknownOutcomeIsStoredOnce"}, log: func(w *wrapped) {
		inner := w.append
		n := 0
		w.append = func(ctx context.Context, r []logsink.Record, b []logsink.Blob) error {
			r = slices.Clone(r)
			for i := range r {
				if q := r[i].Request; q != nil {
					own := *q
					n++
					own.ID += fmt.Sprintf(" (%d)", n)
					r[i].Request = &own
				}
			}
			return inner(ctx, r, b)
		}
	}},
	{name: "strings end at NUL", fails: []string{"AppendOddStrings"}, log: func(w *wrapped) {
		inner := w.last
		w.last = func(ctx context.Context, k logsink.Key, thread string) (*logsink.Request, *logsink.Header, error) {
			thread, _, _ = strings.Cut(thread, "\x00")
			return inner(ctx, k, thread)
		}
	}},
	{name: "contexts are ignored", fails: []string{"CancelReturns"}, log: func(w *wrapped) {
		inner := w.append
		w.append = func(_ context.Context, r []logsink.Record, b []logsink.Blob) error {
			return inner(context.Background(), r, b)
		}
	}},
	{name: "only few threads are known", fails: []string{"LastOfManyThreads"}, log: func(w *wrapped) {
		inner := w.last
		w.last = func(ctx context.Context, k logsink.Key, thread string) (*logsink.Request, *logsink.Header, error) {
			if thread == "agent-0" {
				return nil, nil, logsink.ErrNoThread
			}
			return inner(ctx, k, thread)
		}
	}},
	{name: "the shortest history is found", fails: []string{"Find"}, log: func(w *wrapped) {
		inner := w.find
		w.find = func(ctx context.Context, tenant string, l []string) (logsink.Key, string, error) {
			l = slices.Clone(l)
			slices.Reverse(l)
			return inner(ctx, tenant, l)
		}
	}},
	{name: "the cursor is ignored", fails: []string{"EndEpoch"}, log: func(w *wrapped) {
		inner := w.ended
		w.ended = func(ctx context.Context, _ int64) ([]logsink.EpochRef, int64, error) { return inner(ctx, 0) }
	}},
	{name: "secrets are of the process", fails: []string{"Secret"}, log: func(w *wrapped) {
		own := bytes.Repeat([]byte{byte(time.Now().UnixNano())}, 31)
		w.secret = func(_ context.Context, name string) ([]byte, error) { return append(own, byte(len(name))), nil }
	}},
	{name: "a list is cut", fails: []string{"SessionsAreListed"}, read: func(w *wrappedReader) {
		inner := w.sessions
		w.sessions = func(ctx context.Context, tenant, prefix string, f func(logsink.SessionInfo) bool) error {
			n := 0
			return inner(ctx, tenant, prefix, func(s logsink.SessionInfo) bool { n++; return n <= 500 && f(s) })
		}
	}},
	{name: "nothing is dropped", fails: []string{"CancelledCallsShareNothing", "RetainByAge", "RetainKeepsLiveAnchors", "RetainBySize"}, log: func(w *wrapped) {
		w.retain = func(context.Context, logsink.Retention) (logsink.Dropped, error) { return logsink.Dropped{}, nil }
	}},
	{name: "live anchors are dropped", fails: []string{"RetainKeepsLiveAnchors"}, log: func(w *wrapped) {
		inner := w.retain
		w.retain = func(ctx context.Context, r logsink.Retention) (logsink.Dropped, error) {
			r.Live = 1
			return inner(ctx, r)
		}
	}},
	{name: "zero is a limit", fails: []string{"RetainNothing"}, log: func(w *wrapped) {
		inner := w.retain
		w.retain = func(ctx context.Context, r logsink.Retention) (logsink.Dropped, error) {
			r.MaxAge = max(r.MaxAge, time.Hour)
			return inner(ctx, r)
		}
	}},
	{name: "blobs are lost", fails: []string{"BlobsComeWithRecords", "RetainByAge", "RetainNothing"}, read: func(w *wrappedReader) {
		w.blob = func(context.Context, logsink.Digest) ([]byte, error) { return nil, logsink.ErrNoBlob }
	}},
	{name: "it never closes", fails: []string{"ClosedIsUnavailable"}, log: func(w *wrapped) {
		w.close = func() error { return nil }
	}},
}

func (b *broken) backend(t testing.TB) logtest.Backend {
	path := filepath.Join(t.TempDir(), "log.db")
	opens := 0
	return logtest.Backend{
		Open: func(testing.TB) logsink.Log {
			own := path
			if b.fresh && opens > 0 {
				own += fmt.Sprint(opens)
			}
			opens++
			l, err := logsink.OpenSQLite(context.Background(), own, logsink.Config{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
			w := wrap(l)
			if b.log != nil {
				b.log(w)
			}
			return w
		},
		Reader: func(testing.TB) logsink.Reader {
			r, err := logsink.OpenSQLiteReader(context.Background(), path, logsink.Config{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { r.Close() })
			w := &wrappedReader{r, r.Sessions, r.ReadBlob}
			if b.read != nil {
				b.read(w)
			}
			return w
		},
	}
}

// recorder is a testing.TB that notes a failure instead of having it.
type recorder struct {
	testing.TB
	mu     sync.Mutex
	failed []string
}

func (r *recorder) note(s string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = append(r.failed, s)
}
func (r *recorder) Helper()                           {}
func (r *recorder) Errorf(format string, args ...any) { r.note(fmt.Sprintf(format, args...)) }
func (r *recorder) Error(args ...any)                 { r.note(fmt.Sprint(args...)) }
func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...); runtime.Goexit() }
func (r *recorder) Fatal(args ...any)                 { r.Error(args...); runtime.Goexit() }

// run runs a case and returns its failures.
func run(t testing.TB, name string, b *broken) []string {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil { // a case that trips over a broken backend has seen it
				r.note(fmt.Sprint("panic: ", p))
			}
		}()
		logtest.RunCase(r, name, b.backend(t))
	}()
	<-done
	return r.failed
}

func TestSuiteSeesBrokenBackends(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, b := range brokenBackends {
		t.Run(b.name, func(t *testing.T) {
			for _, name := range b.fails {
				seen[name] = true
				if len(run(t, name, &b)) == 0 {
					t.Errorf("%s passes", name)
				}
			}
		})
	}
	for _, name := range logtest.CaseNames() {
		if !seen[name] {
			t.Errorf("no broken backend shows that %s can fail", name)
		}
	}
}

// The wrapper itself breaks nothing.
func TestSuiteAcceptsTheWrapper(t *testing.T) {
	t.Parallel()
	for _, name := range logtest.CaseNames() {
		if failed := run(t, name, &broken{}); len(failed) > 0 {
			t.Errorf("%s fails: %.500q", name, failed)
		}
	}
}

func TestFaulty(t *testing.T) {
	l := &wrapped{}
	stored := 0
	l.append = func(context.Context, []logsink.Record, []logsink.Blob) error { stored++; return nil }
	fail := func(op string) error { return logtest.Unavailable(op) }
	f := &logtest.Faulty{Log: l, Before: fail}
	if err := f.Append(t.Context(), nil, nil); err == nil || stored != 0 {
		t.Errorf("Append that fails before: %v with %d stored, want an error and none", err, stored)
	}
	f = &logtest.Faulty{Log: l, After: fail}
	if err := f.Append(t.Context(), nil, nil); err == nil || stored != 1 {
		t.Errorf("Append that fails after: %v with %d stored, want an error and one", err, stored)
	}
	f = &logtest.Faulty{Log: l}
	if err := f.Append(t.Context(), nil, nil); err != nil || stored != 2 {
		t.Errorf("Append that does not fail: %v with %d stored", err, stored)
	}
}
