package proxy

import (
	"errors"
	"io"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/seed-9236c7ca/preface/internal/failpoint"
	"github.com/seed-9236c7ca/preface/internal/panics"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/internal/wire"
)

// A relay passes the body of an answer on. Bytes go to the client first; a copy
// then feeds the meter, whose troubles are its own. fasthttp calls WriteTo and
// then Close, after the handler has returned.
type relay struct {
	x      *exchange
	meter  dialect.Meter
	filter dialect.UsageFilter // not nil if a chunk of the stream is ours

	framing framing
	left    int64 // of a body with a length
	chunks  wire.Dechunker
	close   bool // the connection ends with this answer

	sent, first time.Time // request sent; head of the answer read
	bytes       int64
	status      int
	stream      bool
	upstreamID  string
	workspace   string // whose cache the provider looked into, if it says so

	ended   bool  // the whole body was read
	readErr error // of the provider's side
	sendErr error // of the client's side
}

type framing byte

const (
	framedByLength framing = iota
	framedByChunks
	framedByClose
	framedEmpty
)

// A stream begins with a small buffer, since most have small and rare events
// and there may be thousands of them; one that fills it gets a large one. A
// read's bytes go on as one chunk and fill, with its framing, the client's
// write buffer at most once.
const (
	smallRelay = 2 << 10
	largeRelay = 8 << 10
)

var (
	smallBuffers = sync.Pool{New: func() any { b := make([]byte, smallRelay); return &b }}
	largeBuffers = sync.Pool{New: func() any { b := make([]byte, largeRelay); return &b }}
)

var _ fasthttp.BodyWriterTo = (*relay)(nil)

// SupportsBodyWriteTo lets fasthttp use WriteTo for chunked answers too.
func (r *relay) SupportsBodyWriteTo() bool { return true }

// WriteTo passes the body on, read by read. An error breaks the client's
// transfer off, so that a cut answer never looks whole (I8). So does a panic,
// which fasthttp would recover too, and nobody would hear of it.
func (r *relay) WriteTo(w io.Writer) (n int64, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.sendErr = panics.Recovered(p)
			r.x.fault(r.sendErr)
			n, err = r.bytes, r.sendErr
		}
	}()
	return r.passAll(w)
}

func (r *relay) passAll(w io.Writer) (int64, error) {
	if over, err := r.passHead(w); over {
		return r.bytes, err
	}
	b := smallBuffers.Get().(*[]byte)
	full, err := r.loop(w, *b)
	smallBuffers.Put(b)
	if full {
		b = largeBuffers.Get().(*[]byte)
		_, err = r.loop(w, *b)
		largeBuffers.Put(b)
	}
	if err == nil && !r.ended {
		panic("BUG: relay stopped before the end of the body") // breaks the transfer off
	}
	return r.bytes, err
}

// passHead passes on what came in one read with the answer's head, and lets go
// of the reader that read it.
func (r *relay) passHead(w io.Writer) (over bool, err error) {
	defer r.x.link.unread()
	return r.next(w, r.x.link.buffered())
}

// loop passes reads on until the body is over, or a read fills a small buffer.
func (r *relay) loop(w io.Writer, b []byte) (full bool, err error) {
	for {
		n, rerr := r.x.link.conn.Read(b)
		if rerr != nil && n == 0 {
			r.readErr = r.atEnd(rerr)
			return false, r.finishFilter(w, r.readErr)
		}
		over, err := r.next(w, b[:n])
		if over {
			return false, err
		}
		if n == smallRelay && n == len(b) {
			return true, nil
		}
	}
}

// next passes on what one read brought, and says whether that was the last.
func (r *relay) next(w io.Writer, raw []byte) (over bool, err error) {
	data, err := r.take(raw)
	if serr := r.pass(w, data); serr != nil {
		return true, serr
	}
	if err != nil || r.ended {
		r.readErr = err
		return true, r.finishFilter(w, err)
	}
	return false, nil
}

// take finds the body's bytes in what was read.
func (r *relay) take(raw []byte) ([]byte, error) {
	switch r.framing {
	case framedByChunks:
		data, rest, err := r.chunks.Next(raw)
		r.ended = r.chunks.Done()
		r.close = r.close || len(rest) > 0 // bytes that nobody asked for
		return data, err
	case framedByLength:
		if int64(len(raw)) > r.left {
			raw, r.close = raw[:r.left], true
		}
		r.left -= int64(len(raw))
		r.ended = r.left == 0
	case framedEmpty:
		r.ended, r.close = true, r.close || len(raw) > 0
		return nil, nil
	}
	return raw, nil
}

// atEnd says what the end of the connection means for the body.
func (r *relay) atEnd(err error) error {
	if errors.Is(err, io.EOF) {
		if r.framing == framedByClose {
			r.ended = true
			return nil
		}
		return io.ErrUnexpectedEOF
	}
	return err
}

// pass sends bytes to the client, then shows them to the meter.
func (r *relay) pass(w io.Writer, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	out := data
	if r.filter != nil {
		out = r.filter.Filter(data)
	}
	if len(out) > 0 {
		n, err := r.write(w, out)
		if r.bytes += int64(n); err != nil {
			r.sendErr = err
		}
	}
	if o := r.x.seen; o != nil {
		o.noteChunk()
	}
	// The meter hears of bytes that the client no longer took, too: they were
	// paid for.
	if r.filter == nil && r.meter != nil {
		r.measure(data)
	}
	return r.sendErr
}

// measure feeds the meter.
func (r *relay) measure(data []byte) {
	defer r.x.s.guardMeter(&r.meter)
	r.meter.Write(data)
}

// write sends bytes to the client, in two halves where a failpoint may lie
// between.
func (r *relay) write(w io.Writer, p []byte) (int, error) {
	if !failpoint.Enabled {
		return w.Write(p)
	}
	n, err := w.Write(p[:len(p)/2])
	if err != nil {
		return n, err
	}
	failpoint.Hit(failpoint.MidEvent)
	m, err := w.Write(p[len(p)/2:])
	failpoint.Hit(failpoint.FirstRelayed)
	return n + m, err
}

// finishFilter sends what the filter held back. err is passed through.
func (r *relay) finishFilter(w io.Writer, err error) error {
	if r.filter == nil || r.sendErr != nil {
		return err
	}
	if rest := r.filter.Rest(); len(rest) > 0 {
		n, serr := w.Write(rest)
		if r.bytes += int64(n); serr != nil {
			r.sendErr = serr
			return serr
		}
	}
	return err
}

// Read is never called: fasthttp prefers WriteTo. It is here because a body
// stream is a reader.
func (r *relay) Read([]byte) (int, error) { panic("BUG: relay read instead of written") }

// Close ends the exchange. fasthttp calls it when the answer is written, or
// cannot be.
func (r *relay) Close() error {
	x := r.x
	defer x.finish() // also after a panic, which costs the record
	defer func() {
		if p := recover(); p != nil {
			x.fault(panics.Recovered(p))
		}
	}()
	if r.framing == framedEmpty {
		r.ended, r.close = true, r.close || x.link.overfull()
	}
	failpoint.Hit(failpoint.BeforeRecord)
	r.conclude()
	x.detach(r.ended && !r.close && r.sendErr == nil)
	return nil
}
