package logsink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/seed-9236c7ca/preface/internal/panics"
)

// A writer is the one goroutine that writes the file. It puts all jobs that
// wait into one transaction and answers them when that is on disk; while it
// syncs, the next ones gather. Nothing is delayed to make a batch larger.
type writer struct {
	dsn     string        // immutable
	busy    time.Duration // how long to wait for another process's lock; immutable
	onDoubt func()        // called after a doubtful error; immutable
	jobs    chan *job
	ended   chan struct{} // closed when the goroutine is over

	// closed is set under mu, before jobs is closed; jobs is sent to under
	// mu's read lock.
	mu     sync.RWMutex
	closed bool

	// These are touched by the goroutine only, once it runs. conn is nil after a
	// doubtful error, until the next batch opens a new one. recent and sessions
	// say what is in the file, and are forgotten when that is not sure.
	conn     *conn
	recent   recent
	sessions sessionCache
}

// A job is one caller's part of a transaction.
type job struct {
	ctx  context.Context // a job whose caller has gone before it begins is left out
	run  func(*tx) error
	done chan error // has room for the one answer
}

// A tx is the writer's transaction as one job sees it.
type tx struct {
	*conn
	recent   *recent
	sessions *sessionCache
	stored   []recordID // by this job
}

func (t *tx) ask() asker { return t.row }

const (
	jobsWaiting = 1024
	jobsAtOnce  = 512
)

// start opens the file for writing and shows that it can be written.
func (w *writer) start(ctx context.Context) error {
	c, err := openConn(ctx, w.dsn)
	if err != nil {
		return err
	}
	if err := w.canWrite(c); err != nil {
		return errors.Join(err, c.close())
	}
	w.conn = c
	w.jobs = make(chan *job, jobsWaiting)
	w.ended = make(chan struct{})
	go w.work()
	return nil
}

func (w *writer) do(ctx context.Context, run func(*tx) error) error {
	j := &job{ctx, run, make(chan error, 1)}
	if err := w.enqueue(j); err != nil {
		return err
	}
	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
		return gone(ctx)
	}
}

func (w *writer) enqueue(j *job) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return errClosed
	}
	select {
	case w.jobs <- j:
		return nil
	case <-j.ctx.Done():
		return gone(j.ctx)
	}
}

// gone is the answer to a caller whose time is over. It wraps context's error
// and says what it does not mean.
func gone(ctx context.Context) error {
	return fmt.Errorf("%w: gave up waiting; what was to be stored may be yet: %w", ErrUnavailable, context.Cause(ctx))
}

// close lets the jobs that wait be done, and then closes the file.
func (w *writer) close() error {
	w.mu.Lock()
	w.closed = true
	close(w.jobs)
	w.mu.Unlock()
	<-w.ended
	if w.conn == nil {
		return nil
	}
	return w.conn.close()
}

func (w *writer) work() {
	defer close(w.ended)
	for j := range w.jobs {
		w.commit(w.gather(j))
	}
}

// gather returns first and all jobs that wait behind it.
func (w *writer) gather(first *job) []*job {
	batch := []*job{first}
	for len(batch) < jobsAtOnce {
		select {
		case j, ok := <-w.jobs:
			if !ok {
				return batch
			}
			batch = append(batch, j)
		default:
			return batch
		}
	}
	return batch
}

// commit runs a batch and answers its jobs. A job that dooms the transaction,
// say by reading a damaged page, gets its error alone; the others are tried
// again without it. The third time they all get the error: then it is not the
// job.
func (w *writer) commit(batch []*job) {
	for try := 1; len(batch) > 0; try++ {
		results, culprit, err := w.transact(batch)
		if doubtful(err) {
			w.drop()
		}
		if err == nil || culprit < 0 || try == 3 {
			answer(batch, results, err)
			return
		}
		batch[culprit].done <- err
		batch = slices.Delete(batch, culprit, culprit+1)
	}
}

func answer(batch []*job, results []error, err error) {
	for i, j := range batch {
		if err == nil {
			j.done <- results[i]
		} else {
			j.done <- err
		}
	}
}

// transact runs a batch in one transaction. results are the jobs' own errors.
// If err is not nil nothing of the batch is known to be stored; culprit is the
// index of the job that caused it, or -1.
func (w *writer) transact(batch []*job) (results []error, culprit int, err error) {
	c, err := w.connection()
	if err != nil {
		return nil, -1, err
	}
	if err := w.begin(c); err != nil {
		return nil, -1, err
	}
	if err := w.sessions.check(c); err != nil {
		w.rollback(c)
		return nil, -1, classify(err)
	}
	results = make([]error, len(batch))
	for i, j := range batch {
		results[i] = w.runOne(c, j)
		if dooms(results[i]) {
			w.rollback(c)
			return nil, i, results[i]
		}
	}
	if _, err := c.exec("COMMIT"); err != nil {
		w.rollback(c)
		return nil, -1, classify(err)
	}
	return results, -1, nil
}

// begin takes the write lock. It waits for another process by itself: SQLite's
// own wait looks every 100 ms in the end, and against a process that writes one
// transaction after the other it may never see the lock free.
func (w *writer) begin(c *conn) error {
	const first, most = 500 * time.Microsecond, 4 * time.Millisecond
	deadline := time.Now().Add(w.busy)
	for wait := first; ; wait = min(2*wait, most) {
		_, err := c.exec("BEGIN IMMEDIATE")
		err = classify(err)
		if !errors.Is(err, ErrLocked) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(wait)
	}
}

// canWrite takes the lock and writes nothing, for which SQLite must be able to
// write: of a file that may only be read it begins a transaction to read.
func (w *writer) canWrite(c *conn) error {
	if err := w.begin(c); err != nil {
		return err
	}
	_, err := c.exec("DELETE FROM secret WHERE name IS NULL")
	_, end := c.exec("ROLLBACK")
	return errors.Join(err, end)
}

// rollback ends a failed transaction. What the records of it came to is not
// known for sure (a failed sync may have written them), so it is read again.
func (w *writer) rollback(c *conn) {
	c.exec("ROLLBACK") // an error means that the library did it itself
	w.recent.forget()
	w.sessions.forget()
}

// runOne runs one job inside a savepoint, so that its error undoes only what it
// did.
func (w *writer) runOne(c *conn, j *job) error {
	if j.ctx.Err() != nil {
		return gone(j.ctx)
	}
	t := &tx{conn: c, recent: &w.recent, sessions: &w.sessions}
	if _, err := c.exec("SAVEPOINT job"); err != nil {
		return classify(err)
	}
	err := classify(j.runSafely(t))
	if dooms(err) {
		return err
	}
	if err != nil {
		w.recent.remove(t.stored)
		clear(w.sessions.rows)
		if _, undo := c.exec("ROLLBACK TO job"); undo != nil {
			return classify(undo)
		}
	}
	if _, release := c.exec("RELEASE job"); release != nil {
		return classify(release)
	}
	return err
}

// runSafely keeps a fault of ours in one job from ending the process: it is told
// to the caller, as at the boundary of a request.
func (j *job) runSafely(t *tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("BUG: writing the log %w", panics.Recovered(p))
		}
	}()
	return j.run(t)
}

// connection returns the connection, or opens it afresh.
func (w *writer) connection() (*conn, error) {
	if w.conn != nil {
		return w.conn, nil
	}
	c, err := openConn(context.Background(), w.dsn)
	if err != nil {
		return nil, classify(err)
	}
	w.conn = c
	return c, nil
}

// drop lets go of a connection that is not trusted any more.
func (w *writer) drop() {
	w.recent.forget()
	w.sessions.forget()
	if w.conn != nil {
		w.conn.close() // its error is of the kind that led here
		w.conn = nil
	}
	w.onDoubt()
}
