package sdktest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// An answer is one HTTP answer as it reached an SDK.
type answer struct {
	Status int
	Header http.Header
	Body   []byte // as far as it was read
	Ended  bool   // it was read to its end
}

// A wire is the HTTP client of an SDK. It keeps every answer, byte for byte.
type wire struct {
	transport http.Transport

	mu  sync.Mutex // guards got and what it points to
	got []*answer
}

func newWire(t *testing.T) *wire {
	w := &wire{}
	t.Cleanup(w.transport.CloseIdleConnections)
	return w
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := w.transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	a := &answer{Status: resp.StatusCode, Header: resp.Header.Clone()}
	w.mu.Lock()
	w.got = append(w.got, a)
	w.mu.Unlock()
	resp.Body = &keptBody{resp.Body, w, a}
	return resp, nil
}

// answers are copies of those that came so far.
func (w *wire) answers() []answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]answer, len(w.got))
	for i, a := range w.got {
		out[i] = *a
		out[i].Body = bytes.Clone(a.Body)
	}
	return out
}

type keptBody struct {
	io.ReadCloser
	wire *wire
	a    *answer
}

func (b *keptBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.wire.mu.Lock()
	defer b.wire.mu.Unlock()
	b.a.Body = append(b.a.Body, p[:n]...)
	b.a.Ended = b.a.Ended || errors.Is(err, io.EOF)
	return n, err
}

// theirs are the header fields that the provider has a say in: not those that
// describe a connection or a moment, and none of the proxy's.
func theirs(h http.Header) http.Header {
	out := http.Header{}
	for name, values := range h {
		switch {
		case name == "Date", name == "Connection", name == "Keep-Alive":
		case strings.HasPrefix(name, "X-Preface-"):
		default:
			out[name] = values
		}
	}
	return out
}
