package logsink

import "errors"

// What a lookup may not find.
var (
	ErrNoSession = errors.New("no such session in the log")
	ErrNoThread  = errors.New("no such thread in the log")
	ErrNoBlob    = errors.New("no such blob in the log")
)

// ErrUnavailable is wrapped by every error that means that the log cannot be
// used now: locked, full, unreachable, or too slow for the deadline.
var ErrUnavailable = errors.New("header log unavailable")

// What opening a log may meet. Each is wrapped with the path and what to do.
var (
	ErrLocked  = errors.New("header log is in use by another process")
	ErrCorrupt = errors.New("header log is damaged")
	ErrNewer   = errors.New("header log was written by a newer version")
	ErrForeign = errors.New("file is not a header log")
)
