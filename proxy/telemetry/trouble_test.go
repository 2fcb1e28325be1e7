package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestTroublesAreTold: the first one at once, the others once a minute with their
// number.
func TestTroublesAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		tr := troubles{log: slog.New(slog.NewTextHandler(&out, nil)), every: tellEvery}
		for range 1000 {
			tr.tell("traces", errors.New("x"))
		}
		time.Sleep(tellEvery)
		tr.tell("traces", errors.New("x"))
		if n := strings.Count(out.String(), "\n"); n != 2 || !strings.Contains(out.String(), "times=1000") || tr.count.Load() != 1001 {
			t.Errorf("of 1001 failures %d are counted and told in %d lines: %s", tr.count.Load(), n, out.String())
		}
	})
}

// TestTroublesQuoteNothing: what the libraries and collectors say is not repeated.
func TestTroublesQuoteNothing(t *testing.T) {
	inner := errors.New("s3cret")
	for _, c := range []struct {
		err  error
		want string
	}{
		{inner, "refuses"},
		{fmt.Errorf("failed to send to http://h?s3cret: 401 Unauthorized (body: s3cret)"), "401 Unauthorized"},
		{&net.OpError{Op: "dial", Err: errors.New("connection refused")}, "connection refused"},
		{&net.DNSError{Name: "s3cret", Err: "no such host"}, "resolve"},
		{&url.Error{Op: "Post", URL: "http://u:s3cret@h", Err: inner}, "HTTP"},
		{fmt.Errorf("s3cret: %w", context.DeadlineExceeded), "in time"},
		{fmt.Errorf("s3cret: %w", context.Canceled), "shutdown"},
	} {
		if got := inOurWords(c.err); strings.Contains(got, "s3cret") || !strings.Contains(got, c.want) {
			t.Errorf("inOurWords(%v) = %q, want %q in it", c.err, got, c.want)
		}
	}
}
