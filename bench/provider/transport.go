package provider

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// A transport frames an answer. One goroutine uses it, in the order start,
// write any number of times, then finish or abort; flush may come between.
// write sends p before it returns, and keeps no reference to it. A transport
// whose finish or abort returned has nothing more to send.
type transport interface {
	start(status int, h http.Header, length int64) error // length -1: chunked
	write(p []byte) error
	flush()
	finish() error
	abort()
}

// transport chooses: net/http frames what is framed well.
func (x *exchange) transport(stream bool) transport {
	f := x.fault
	if f.Length != 0 && !stream && f.Encoding == "" || f.BadChunk || f.ChunkExtensions {
		return &rawTransport{x: x}
	}
	return &httpTransport{x.w, http.NewResponseController(x.w)}
}

// An httpTransport leaves the framing to net/http. The handler must panic with
// http.ErrAbortHandler after abort, which makes net/http close the connection.
type httpTransport struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

func (t *httpTransport) start(status int, h http.Header, length int64) error {
	for name, values := range h {
		t.w.Header()[name] = values
	}
	if length >= 0 {
		t.w.Header().Set("Content-Length", strconv.FormatInt(length, 10))
	}
	t.w.WriteHeader(status)
	return nil
}

func (t *httpTransport) write(p []byte) error {
	if _, err := t.w.Write(p); err != nil {
		return err
	}
	return t.rc.Flush()
}

func (t *httpTransport) flush()        { _ = t.rc.Flush() } // a dead client shows at the next write
func (t *httpTransport) finish() error { return nil }
func (t *httpTransport) abort()        {} // by the handler's panic

// A rawTransport frames by itself, wrongly where the fault says so, on a
// connection taken from net/http, which it closes at the end.
type rawTransport struct {
	x       *exchange
	conn    io.WriteCloser
	chunked bool
	writes  int
}

func (t *rawTransport) start(status int, h http.Header, length int64) error {
	c, _, err := http.NewResponseController(t.x.w).Hijack()
	if err != nil {
		return fmt.Errorf("cannot take over the connection: %w", err)
	}
	t.conn = c
	// net/http no longer reads, so somebody has to see the client leave.
	t.x.p.conns.wg.Go(func() { _, _ = io.Copy(io.Discard, c) })
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	h = h.Clone()
	h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	t.chunked = length < 0 || t.x.fault.BadChunk || t.x.fault.ChunkExtensions
	if t.chunked {
		h.Set("Transfer-Encoding", "chunked")
	} else {
		h.Set("Content-Length", strconv.FormatInt(length, 10))
	}
	_ = h.Write(&b) // a bytes.Buffer takes everything
	b.WriteString("\r\n")
	_, err = t.conn.Write(b.Bytes())
	return err
}

func (t *rawTransport) write(p []byte) error {
	if t.x.fault.BadChunk && t.writes == t.x.fault.BadChunkAfter {
		_, _ = io.WriteString(t.conn, "XYZ\r\nthis is no chunk\r\n")
		return errCut
	}
	t.writes++
	if !t.chunked {
		_, err := t.conn.Write(p)
		return err
	}
	if len(p) == 0 {
		return nil // would read as the last chunk
	}
	_, err := fmt.Fprintf(t.conn, "%x%s\r\n%s\r\n", len(p), t.extension(), p)
	return err
}

func (t *rawTransport) extension() string {
	if !t.x.fault.ChunkExtensions {
		return ""
	}
	return fmt.Sprintf(`;n=%d;quoted="a;b,c"`, t.writes)
}

func (t *rawTransport) flush() {}

func (t *rawTransport) finish() error {
	defer t.conn.Close()
	if t.x.fault.BadChunk {
		t.writes = t.x.fault.BadChunkAfter // the answer was too short to reach it
		return t.write(nil)
	}
	if t.chunked {
		if _, err := fmt.Fprintf(t.conn, "0%s\r\nX-Provider-Trailer: end\r\n\r\n", t.extension()); err != nil {
			return err
		}
	}
	t.x.tap.succeed()
	return nil
}

func (t *rawTransport) abort() {
	if t.conn != nil {
		_ = t.conn.Close() // it is being thrown away
	}
}
