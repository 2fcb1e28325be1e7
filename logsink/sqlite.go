package logsink

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-9236c7ca/preface/internal/failpoint"
)

// SQLite is the embedded log: one file, written by any number of processes of
// one host, one transaction at a time, and read by others meanwhile.
//
// Writes of all goroutines go to one writer goroutine, which puts whatever is
// waiting into one transaction (group commit): the sync to disk, the dearest
// part by far, is shared. Reads have connections of their own and wait for
// nobody.
//
// Every process that opens the file must do so with this library or one as
// new: SQLite before 3.51.3 can lose commits of a file in WAL mode. Look at a
// copy with others. The file holds the tenant key and is made for its owner
// alone (0600).
//
// BUG(logsink): the locks in the -shm file are POSIX locks. Code of the same
// process that opens and closes that file drops them, and then another process
// that writes the log could be let in at the wrong moment. Nothing may read it;
// reading the log file itself does no harm on Linux.
type SQLite struct {
	path   string  // absolute; immutable
	config Config  // immutable
	write  *writer // nil in a reader; immutable after open

	known interned

	pool   atomic.Pointer[readPool] // replaced under mu after a doubtful error
	closed atomic.Bool              // set under mu
	mu     sync.Mutex
}

var errClosed = fmt.Errorf("%w: it was closed", ErrUnavailable)

func newSQLite(path string, c Config) *SQLite {
	s := &SQLite{path: path, config: c}
	opened.Lock()
	opened.n[path]++
	opened.Unlock()
	s.pool.Store(newReadPool(s.readerDSN()))
	return s
}

func (s *SQLite) startWriter(ctx context.Context) error {
	w := &writer{dsn: s.writerDSN(), busy: s.config.BusyTimeout, onDoubt: s.renewReaders}
	if err := w.start(ctx); err != nil {
		return err
	}
	s.write = w
	return nil
}

// do runs one job in the writer's next transaction and returns when that is on
// disk. When ctx ends first it returns at once; the job may still be done.
func (s *SQLite) do(ctx context.Context, run func(*tx) error) error {
	if s.write == nil {
		return fmt.Errorf("%w: it was opened to read only", ErrUnavailable)
	}
	return s.write.do(ctx, run)
}

// Freeze implements Log.
func (s *SQLite) Freeze(ctx context.Context, a *Anchor) (*Anchor, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	f := newFreezing(a)
	err := s.do(ctx, func(t *tx) error { return f.run(t, &s.known) })
	if err != nil {
		return nil, fmt.Errorf("cannot freeze epoch %d of session %q: %w", a.Epoch, a.Session, err)
	}
	failpoint.Hit(failpoint.Logged)
	if f.there != nil {
		return f.there, nil
	}
	return a, nil
}

// Current implements Log.
func (s *SQLite) Current(ctx context.Context, k Key) (*Anchor, error) {
	a, err := latestAnchor(s.ask(ctx), &s.known, k)
	if err != nil {
		return nil, fmt.Errorf("cannot read the anchor of session %q: %w", k.Session, s.readError(err))
	}
	return a, nil
}

// Append implements Log.
func (s *SQLite) Append(ctx context.Context, recs []Record, blobs []Blob) error {
	pages, lines, err := pack(recs, takeLineBuffer())
	if err != nil {
		return err
	}
	// The job outlives this call when ctx ends first, so it has its own bytes.
	owned := cloneBlobs(blobs)
	err = s.do(ctx, func(t *tx) error { return t.append(pages, owned) })
	if err != nil {
		return fmt.Errorf("cannot append %d records: %w", len(recs), err)
	}
	giveLineBuffer(lines) // the job is over; after an error it may yet be run
	return nil
}

// EndEpoch implements Log.
func (s *SQLite) EndEpoch(ctx context.Context, k Key, epoch int) error {
	if err := k.check(); err != nil {
		return fmt.Errorf("cannot end epoch %d of session %q: %w", epoch, k.Session, err)
	}
	err := s.do(ctx, func(t *tx) error { return t.endEpoch(k, epoch) })
	if err != nil {
		return fmt.Errorf("cannot end epoch %d of session %q: %w", epoch, k.Session, err)
	}
	return nil
}

func (t *tx) endEpoch(k Key, epoch int) error {
	_, err := t.exec(`INSERT INTO ended (key, epoch, time, tenant, session) VALUES (?,?,?,?,?) ON CONFLICT DO NOTHING`,
		keyOf(k).bytes(), epoch, time.Now().UnixNano(), k.Tenant, k.Session)
	return err
}

// endedAtOnce bounds one answer of Ended; the cursor leads to the next.
const endedAtOnce = 1000

// Ended implements Log.
func (s *SQLite) Ended(ctx context.Context, after int64) ([]EpochRef, int64, error) {
	var list []EpochRef
	cursor := after
	err := s.each(ctx, `SELECT cursor, tenant, session, epoch FROM ended WHERE cursor > ? ORDER BY cursor LIMIT ?`, []any{after, endedAtOnce},
		func(row *sql.Rows) error {
			var e EpochRef
			if err := row.Scan(&cursor, &e.Tenant, &e.Session, &e.Epoch); err != nil {
				return err
			}
			list = append(list, e)
			return nil
		})
	if err != nil {
		return nil, after, fmt.Errorf("cannot list ended epochs: %w", err)
	}
	return list, cursor, nil
}

// Secret implements Log.
func (s *SQLite) Secret(ctx context.Context, name string) ([]byte, error) {
	value, err := readSecret(s.ask(ctx), name)
	if errors.Is(err, sql.ErrNoRows) && s.write != nil {
		fresh := make([]byte, 32)
		rand.Read(fresh) // never fails
		err = s.do(ctx, func(t *tx) (err error) {
			value, err = t.secret(name, fresh)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("cannot get secret %q of the log: %w", name, s.readError(err))
	}
	return value, nil
}

// secret returns the secret that is there, or else makes it the given one.
func (t *tx) secret(name string, fresh []byte) ([]byte, error) {
	_, err := t.exec(`INSERT INTO secret (name, value, sum) VALUES (?,?,?) ON CONFLICT DO NOTHING`, name, fresh, checksum(fresh, name))
	if err != nil {
		return nil, err
	}
	return readSecret(t.ask(), name)
}

func readSecret(ask asker, name string) ([]byte, error) {
	var value []byte
	var sum int64
	if err := ask(`SELECT value, sum FROM secret WHERE name = ?`, name).Scan(&value, &sum); err != nil {
		return nil, err
	}
	if checksum(value, name) != sum {
		return nil, damaged("secret %q: its checksum differs", name)
	}
	return value, nil
}

// Close implements Log and Reader. Closing twice is closing once.
func (s *SQLite) Close() error {
	s.mu.Lock()
	again := s.closed.Swap(true)
	s.mu.Unlock()
	if again {
		return nil
	}
	// Readers first: the last connection folds the WAL into the file.
	err := s.pool.Load().close()
	if s.write != nil {
		err = errors.Join(err, s.write.close())
	}
	opened.Lock()
	opened.n[s.path]--
	opened.Unlock()
	if err != nil {
		return fmt.Errorf("cannot close header log %s: %w", s.path, err)
	}
	return nil
}

var (
	_ Log    = (*SQLite)(nil)
	_ Reader = (*SQLite)(nil)
)
