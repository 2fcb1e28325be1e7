package proxy

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/seed-9236c7ca/preface/internal/failpoint"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
)

// forward sends the request and waits for the head of the answer. The request
// is built anew: its line, the client's end-to-end headers in their order and
// spelling, and one framing header of our own.
func (x *exchange) forward() error {
	b := heads.Get().(*[]byte)
	defer heads.Put(b)
	head := x.appendHead((*b)[:0])
	*b = head
	parts := x.outgoing(append(x.parts[:0], head))
	x.parts = parts
	x.checkParts(parts[1:])
	if err := x.send(parts); err != nil {
		return err
	}
	x.count()
	return x.await()
}

var heads = sync.Pool{New: func() any { return new([]byte) }}

// appendHead appends the request line and headers.
func (x *exchange) appendHead(b []byte) []byte {
	up := x.route.upstream
	b = append(b, x.ctx.Method()...)
	b = append(b, ' ')
	b = up.appendTarget(b, x.path, x.query)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, up.base.Host...)
	b = append(b, crlf...)
	x.propagate()
	b = x.head.appendTo(b, x.drops)
	if n := x.outSize(); n > 0 || x.ctx.IsPost() || x.ctx.IsPut() || x.ctx.IsPatch() {
		b = append(b, "Content-Length: "...)
		b = strconv.AppendInt(b, int64(n), 10)
		b = append(b, crlf...)
	}
	if x.plan.askUsage {
		// The extra chunk can be taken out of plain bytes only.
		b = append(b, "Accept-Encoding: identity\r\n"...)
	}
	return append(b, crlf...)
}

// drops says which end-to-end headers do not fit what is sent: the coding of a
// body that goes out plain, and the client's wish for a coded answer that we
// must read.
func (x *exchange) drops(name []byte) bool {
	return x.tells(name) || x.coded && len(x.plan.splices) > 0 && is(name, "content-encoding") ||
		x.plan.askUsage && is(name, "accept-encoding")
}

// outSize is the size of the body that is sent.
func (x *exchange) outSize() int {
	if len(x.plan.splices) == 0 {
		return len(x.raw)
	}
	n := len(x.body)
	for _, s := range x.plan.splices {
		n += len(s.Bytes)
	}
	return n
}

// send writes the request to a provider. It is tried a second time only if
// nothing of the first try was written (I9).
func (x *exchange) send(parts net.Buffers) error {
	for attempt := 1; ; attempt++ {
		l, err := x.route.upstream.acquire(x.life)
		if err != nil {
			return x.unreached(err)
		}
		if err := x.attach(l); err != nil {
			l.done(false)
			return x.leftBehind()
		}
		x.relay.sent = time.Now()
		n, err := l.write(x.route.upstream, parts)
		switch {
		case err == nil:
			return nil
		case n > 0:
			return x.brokeOff(err)
		case attempt == maxAttempts:
			x.detach(false)
			return x.unreached(err)
		}
		x.detach(false)
		x.noteRetry()
	}
}

// maxAttempts bounds how often a request is offered that nothing was written of.
const maxAttempts = 3

// brokeOff: the provider stopped reading in the middle of the request. It may
// have answered first, as it does to a body that is too large.
func (x *exchange) brokeOff(err error) error {
	if x.left.Load() {
		return x.leftBehind()
	}
	if isTimeout(err) {
		return x.untaken()
	}
	x.ctx.Response.Header.DisableNormalizing()
	if x.readHead(time.Second) == nil {
		x.relay.close, x.answered = true, true
		return nil
	}
	return x.unanswered(err)
}

// await reads the head of the answer and sets up the relay of its body. The
// request's body is let go first: it may be large and the wait long.
func (x *exchange) await() error {
	x.release()
	failpoint.Hit(failpoint.AwaitByte)
	h := &x.ctx.Response.Header
	h.DisableNormalizing()
	if !x.answered {
		if err := x.readHead(x.gen.cfg.Timeouts.FirstByte); err != nil {
			return x.unanswered(err)
		}
	}
	x.relay.first, x.relay.status = time.Now(), h.StatusCode()
	x.route.firstByte.Observe(x.relay.first.Sub(x.relay.sent).Seconds())
	x.letFollow()
	x.answerWith() // last: from here on it is the relay that ends the exchange
	return nil
}

// readHead reads heads until one is final, waiting for each as long as idle.
func (x *exchange) readHead(idle time.Duration) error {
	if err := x.link.wire.SetReadIdle(idle); err != nil {
		return err
	}
	h := &x.ctx.Response.Header
	for range 8 {
		if err := h.Read(x.link.br); err != nil {
			return err
		}
		if code := h.StatusCode(); code >= 200 {
			return x.link.wire.SetReadIdle(x.gen.cfg.Timeouts.StreamIdle)
		} else if code == 101 {
			return errors.New("the provider switched protocols, which nobody asked for")
		}
	}
	return errors.New("too many interim answers")
}

// leftBehind: the client has left, and there is a record of its request to end.
func (x *exchange) leftBehind() error {
	x.conclude(logsink.EndClientGone, "")
	return errClientLeft
}

// unreached: no byte of the request was written, so it may be sent again.
func (x *exchange) unreached(err error) error {
	if x.left.Load() {
		return x.leftBehind()
	}
	host := x.route.upstream.base.Host
	x.s.log.Warn("provider not reached", "route", x.route.Name, "host", host, "error", err)
	x.conclude(logsink.EndRefused, "")
	if errors.Is(err, fasthttp.ErrNoFreeConns) {
		return &refusal{kind: dialect.ErrOverloaded, reason: "upstream_limit", retry: true, after: time.Second,
			msg: fmt.Sprintf("all %d connections to %s are in use (limits.upstream), and none came free within %v; nothing was sent", x.gen.cfg.Limits.Upstream, host, connWait)}
	}
	return &refusal{kind: dialect.ErrUpstream, reason: "upstream_unreached", retry: true, after: time.Second,
		msg: fmt.Sprintf("cannot reach %s (upstream of route %q); nothing was sent", host, x.route.Name)}
}

// untaken: the provider has read nothing of the request for a long time.
func (x *exchange) untaken() error {
	x.detach(false)
	host := x.route.upstream.base.Host
	x.s.log.Warn("provider does not read a request", "route", x.route.Name, "host", host, "request", x.id)
	x.conclude(logsink.EndStalled, "request not read")
	return &refusal{kind: dialect.ErrTimeout, reason: "upstream_stalled",
		msg: fmt.Sprintf("%s read nothing of the request for %v (timeouts.stream_idle); it may have been charged", host, x.gen.cfg.Timeouts.StreamIdle)}
}

// unanswered: the request was sent, at least in part, and no answer came. It
// may have been charged, so nobody is told to send it again.
func (x *exchange) unanswered(err error) error {
	x.detach(false)
	if x.left.Load() {
		return x.leftBehind()
	}
	host := x.route.upstream.base.Host
	x.s.log.Warn("provider gave no answer", "route", x.route.Name, "host", host, "request", x.id, "error", headError(err))
	if isTimeout(err) {
		x.conclude(logsink.EndStalled, "no head")
		return &refusal{kind: dialect.ErrTimeout, reason: "upstream_timeout",
			msg: fmt.Sprintf("%s did not answer within %v (timeouts.first_byte); the request may have been charged", host, x.gen.cfg.Timeouts.FirstByte)}
	}
	x.conclude(logsink.EndNoAnswer, "")
	return &refusal{kind: dialect.ErrUpstream, reason: "upstream_no_answer",
		msg: fmt.Sprintf("%s gave no answer that can be passed on: %s; the request may have been charged", host, headError(err))}
}

// headError says why an answer's head cannot be read, without any of it: fasthttp
// quotes it in parse errors.
func headError(err error) string {
	var op *net.OpError
	var long *fasthttp.ErrSmallBuffer
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed"
	case errors.As(err, &long):
		return fmt.Sprintf("its head is longer than %d KiB", maxAnswerHead>>10)
	case errors.As(err, &op):
		return op.Err.Error() // without addresses
	}
	return "its head cannot be read"
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}
