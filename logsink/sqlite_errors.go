package logsink

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// A fault is what an SQLite result code means to us.
type fault struct {
	kind   error  // a sentinel beside ErrUnavailable, or nil
	advice string // what an operator can do
	doubt  bool   // the handle is not trusted any more
}

// faults lists the result codes that mean that the log cannot be used now.
//
// doubt is the fsyncgate rule: after a failed write, sync or read the kernel
// and the library may believe in pages that are not on disk, so the handle is
// dropped and what is on disk is read afresh.
var faults = map[int]fault{
	sqlite3.SQLITE_BUSY:      {kind: ErrLocked, advice: "another process holds its lock for longer than log.busy_timeout: end that process or give each its own log.path"},
	sqlite3.SQLITE_LOCKED:    {kind: ErrLocked, advice: "another process holds its lock: end that process or give each its own log.path"},
	sqlite3.SQLITE_PROTOCOL:  {kind: ErrLocked, advice: "another process holds its lock: end that process or give each its own log.path"},
	sqlite3.SQLITE_FULL:      {advice: "the disk or quota is full: make room or lower log.retention"},
	sqlite3.SQLITE_READONLY:  {advice: "the file or its directory cannot be written: give this user write access to both", doubt: true},
	sqlite3.SQLITE_PERM:      {advice: "the file cannot be accessed: give this user read and write access to it and its directory"},
	sqlite3.SQLITE_CANTOPEN:  {advice: "the file or its directory cannot be opened: check that both exist and that this user may write them", doubt: true},
	sqlite3.SQLITE_IOERR:     {advice: "the disk reports an error: check the system's log and the disk", doubt: true},
	sqlite3.SQLITE_NOMEM:     {advice: "out of memory", doubt: true},
	sqlite3.SQLITE_INTERRUPT: {advice: "the request's time was over"},
	sqlite3.SQLITE_CORRUPT:   {kind: ErrCorrupt, advice: adviceDamaged, doubt: true},
	sqlite3.SQLITE_NOTADB:    {kind: ErrCorrupt, advice: adviceDamaged, doubt: true},
}

const adviceDamaged = "keep the file and its -wal for a rescue, and restore a copy or set another log.path"

// A sqliteError is an error of the library with what it means. It wraps
// ErrUnavailable, the fault's own sentinel and the library's error.
type sqliteError struct {
	fault
	cause error
}

// Error is one line; the library may quote a statement of several.
func (e *sqliteError) Error() string {
	what := ErrUnavailable
	if e.kind != nil {
		what = e.kind
	}
	cause := strings.Join(strings.Fields(e.cause.Error()), " ")
	return fmt.Sprintf("%v: %s (%.300s)", what, e.advice, cause)
}

func (e *sqliteError) Unwrap() []error {
	if e.kind != nil {
		return []error{ErrUnavailable, e.kind, e.cause}
	}
	return []error{ErrUnavailable, e.cause}
}

// classify gives an error of the library its meaning. Others, and those of
// statements that are wrong in themselves, come back as they are.
func classify(err error) error {
	var known *sqliteError
	if err == nil || errors.As(err, &known) || errors.Is(err, ErrUnavailable) {
		return err
	}
	var se *sqlite.Error
	if errors.As(err, &se) {
		if f, ok := faults[se.Code()&0xff]; ok {
			return &sqliteError{f, se}
		}
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}

// doubtful reports whether the handle that gave err must not be used again.
func doubtful(err error) bool {
	var e *sqliteError
	return errors.As(err, &e) && e.doubt
}

// damaged reports what a read found: bytes that are not what was written. A new
// handle would find the same.
func damaged(format string, args ...any) error {
	return &sqliteError{fault{kind: ErrCorrupt, advice: adviceDamaged}, fmt.Errorf(format, args...)}
}

// dooms reports whether err comes from the library itself and so ends the whole
// transaction that it happened in.
func dooms(err error) bool {
	var e *sqliteError
	if !errors.As(err, &e) {
		return false
	}
	var se *sqlite.Error
	return errors.As(e.cause, &se)
}
