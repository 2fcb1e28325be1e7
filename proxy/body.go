package proxy

import (
	"errors"
	"fmt"
	"io"
	"math/bits"
	"sync"
	"time"
	"unsafe"

	"github.com/seed-9236c7ca/preface/proxy/dialect"
)

// readBody reads the request's body into a buffer of ours. fasthttp would keep
// its own for as long as the connection lasts; an agent's body is large, and
// its answer takes minutes.
func (x *exchange) readBody() error {
	stream := x.ctx.RequestBodyStream()
	if stream == nil {
		return nil
	}
	limit := x.gen.cfg.Limits.Body
	n := x.ctx.Request.Header.ContentLength()
	if n > limit {
		x.discard(stream)
		return tooLarge(limit)
	}
	var err error
	if n >= 0 {
		x.buf = acquireBody(n)
		_, err = io.ReadFull(stream, x.buf)
	} else {
		x.buf, err = readAll(stream, limit)
	}
	x.raw = x.buf
	switch {
	case errors.Is(err, errTooLarge):
		x.discard(stream)
		return tooLarge(limit)
	case err != nil:
		return x.unreceived(err)
	}
	return nil
}

// discard reads on for a while in a body that is refused: a client that is still
// writing when the connection closes is reset, and never sees the answer.
func (x *exchange) discard(stream io.Reader) {
	if x.conn.SetReadDeadline(time.Now().Add(maxDiscardTime)) == nil {
		_, _ = io.CopyN(io.Discard, stream, maxDiscard) // the connection ends anyway
	}
}

const (
	maxDiscard     = 16 << 20
	maxDiscardTime = 2 * time.Second
)

func tooLarge(limit int) error {
	return &refusal{kind: dialect.ErrTooLarge, reason: "body_limit", hangUp: true,
		msg: fmt.Sprintf("the request body is over %d bytes (limits.body)", limit)}
}

// unreceived: the body did not arrive whole.
func (x *exchange) unreceived(err error) error {
	if x.left.Load() {
		return errClientLeft
	}
	return x.s.unread(err)
}

var errTooLarge = errors.New("body too large")

// readAll reads a body of unknown length.
func readAll(r io.Reader, limit int) ([]byte, error) {
	b := acquireBody(64 << 10)[:0]
	for {
		if len(b) == cap(b) {
			b = grow(b)
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case len(b) > limit:
			return b, errTooLarge
		case errors.Is(err, io.EOF):
			return b, nil
		case err != nil:
			return b, err
		}
	}
}

func grow(b []byte) []byte {
	bigger := acquireBody(2 * cap(b))[:len(b)]
	copy(bigger, b)
	releaseBody(b)
	return bigger
}

// letGo gives the body's buffer back.
func (x *exchange) letGo() {
	releaseBody(x.buf)
	x.buf, x.raw, x.body = nil, nil, nil
}

// bodies are buffers by size: class i holds those of 4 KiB << i, each by its
// first byte: a slice would have to be boxed whenever one is given back.
var bodies [16]sync.Pool

const smallestBody = 4 << 10

func bodyClass(n int) int { return bits.Len(uint(max(n-1, 0) / smallestBody)) }

// acquireBody returns n bytes of any content.
func acquireBody(n int) []byte {
	class := bodyClass(n)
	if class >= len(bodies) {
		return make([]byte, n)
	}
	if first, ok := bodies[class].Get().(*byte); ok {
		return unsafe.Slice(first, smallestBody<<class)[:n]
	}
	return make([]byte, n, smallestBody<<class)
}

// releaseBody takes a buffer back; nobody may use it any more.
func releaseBody(b []byte) {
	class := bodyClass(cap(b))
	if cap(b) >= smallestBody && class < len(bodies) && cap(b) == smallestBody<<class {
		bodies[class].Put(unsafe.SliceData(b))
	}
}
