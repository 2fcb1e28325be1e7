package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// troubles tell of what goes wrong with export: once at first, then once in a
// while with the number of times. What the libraries say is never told as it is,
// since it can quote a header with a credential, or what a collector answered.
type troubles struct {
	log   *slog.Logger
	every time.Duration
	count atomic.Int64

	mu    sync.Mutex // guards the following
	told  time.Time
	quiet int64 // times since it was told
}

const tellEvery = time.Minute

// tell counts a failure and logs it if it is time.
func (t *troubles) tell(what string, err error) {
	t.count.Add(1)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.quiet++; time.Since(t.told) < t.every && !t.told.IsZero() {
		return
	}
	t.log.Warn("cannot export to the collector; agents do not notice", "signal", what, "error", inOurWords(err), "times", t.quiet)
	t.told, t.quiet = time.Now(), 0
}

// Handle is for what the libraries find wrong by themselves, such as a variable
// that they cannot read.
func (t *troubles) Handle(err error) { t.tell("setup", err) }

// inOurWords is what went wrong, as far as it can be told without quoting: the
// system's words, or the collector's status.
func inOurWords(err error) string {
	var op *net.OpError
	var dns *net.DNSError
	var u *url.Error
	switch {
	case errors.As(err, &dns):
		return "cannot resolve the collector's name"
	case errors.As(err, &op):
		return op.Op + ": " + op.Err.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "the collector did not answer in time"
	case errors.Is(err, context.Canceled):
		return "given up at shutdown"
	case errors.As(err, &u) && u.Timeout():
		return "the collector did not answer in time"
	case errors.As(err, &u):
		return "cannot talk HTTP with the collector"
	}
	return "the collector refuses" + statusIn(err.Error())
}

// statuses are those that collectors refuse with, as they stand in an error.
var statuses = []string{
	"400 Bad Request", "401 Unauthorized", "403 Forbidden", "404 Not Found", "405 Method Not Allowed",
	"413 Request Entity Too Large", "415 Unsupported Media Type", "500 Internal Server Error",
}

// statusIn finds the status in the text of an error; the libraries have no other
// way to tell it.
func statusIn(text string) string {
	for _, s := range statuses {
		if strings.Contains(text, s) {
			return ": " + s
		}
	}
	return ", or has more than it takes"
}
