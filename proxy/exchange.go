package proxy

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/seed-9236c7ca/preface/internal/failpoint"
	"github.com/seed-9236c7ca/preface/prefixstore"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/identity"
	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
	"github.com/seed-9236c7ca/preface/proxy/internal/wire"
	"github.com/seed-9236c7ca/preface/proxy/telemetry"
)

// An exchange is one request and its answer. The handler's goroutine owns it,
// except for the fields that say otherwise. Slices into the request (head,
// body, doc, facts) are dead once the request has been sent; the relay, which
// runs after the handler has returned, uses none of them.
type exchange struct {
	s     *Server
	gen   *generation // the configuration this exchange began with
	ctx   *fasthttp.RequestCtx
	conn  *wire.Conn // the client's
	id    string     // x-preface-request
	start time.Time

	target
	query []byte
	buf   []byte // the body as it came: ours, to give back
	raw   []byte // the same
	body  []byte // the body to scan: raw, or decompressed
	coded bool   // the client sent body compressed
	*work

	ident  identity.Identity
	epoch  *prefixstore.Epoch
	thread *thread
	plan   plan
	sent   sent

	burst *burst // whose beginning it has, nil if it waits for nobody and nobody for it
	lead  *lead  // its lead in there, nil if it has none

	relay     relay
	answered  bool // the answer's head came before all of the request was sent
	completed bool // the client got a whole successful answer
	counted   bool // how it ended is in the metrics

	trace  *telemetry.Trace // nil where there are no spans at all
	seen   *observed        // for spans and GenAI metrics, nil if there are to be none
	untold bool             // the provider is told of no trace

	leaving func() // x.clientGone, made once

	life *life
	left atomic.Bool // the client has left

	// link is written by the handler and read by the watcher.
	mu   sync.Mutex
	link *link
}

// A work is what is needed of a request until it has been sent, and no longer:
// answers take minutes, and an index of a large body is large itself.
type work struct {
	head  head
	get   func(name string) []byte // head.get, made once
	doc   jsonspan.Doc
	facts dialect.Request
	parts net.Buffers // room for the body's parts

	hint  uint64  // at the thread, for repeats
	last  *repeat // what the body may repeat, nil if nothing is known
	same  int     // bytes that the body begins with like last's
	keeps bool    // there is room to keep this one
	kept  *repeat // this one, once it is kept
}

var works = sync.Pool{New: func() any {
	w := new(work)
	w.get = w.head.get
	return w
}}

// errClientLeft ends what is done for a client that is no longer there.
var errClientLeft = clientLeft{}

type clientLeft struct{}

func (clientLeft) Error() string { return "the client has left" }

var exchanges = sync.Pool{New: func() any {
	x := new(exchange)
	x.leaving = x.clientGone
	return x
}}

// serve handles one request: it is the server's handler.
func (s *Server) serve(ctx *fasthttp.RequestCtx) {
	x := s.begin(ctx)
	defer x.recovered()
	if err := x.handle(); err != nil {
		x.refuse(err)
	}
	if s.draining.Load() {
		ctx.SetConnectionClose() // its next request is welcome elsewhere
	}
}

func (s *Server) begin(ctx *fasthttp.RequestCtx) *exchange {
	x := exchanges.Get().(*exchange)
	x.s, x.gen, x.ctx, x.conn = s, s.current.Load(), ctx, wire.Of(ctx.Conn())
	x.work = works.Get().(*work)
	x.start = time.Now()
	x.id = newID(x.start)
	x.life = new(life) // others may keep it for longer than the exchange
	s.inFlight.Add(1)
	x.conn.Used.Store(true)
	x.conn.OnGone(x.leaving)
	failpoint.Hit(failpoint.Accepted)
	return x
}

// handle takes the request through its steps. An error is a refusal, or the
// client's leaving; when it returns nil the answer is set up.
func (x *exchange) handle() error {
	if err := x.prepare(); err != nil {
		return err
	}
	if err := x.hold(); err != nil {
		return err
	}
	return x.forward()
}

// prepare is all that comes before the provider: when it returns nil, the
// request's prefix and records are in the log, or it goes on untouched: no
// model call, an unreadable one, or a side request of no known session.
func (x *exchange) prepare() error {
	if err := x.receive(); err != nil {
		return err
	}
	failpoint.Hit(failpoint.BodyRead)
	if x.dialect == nil {
		return nil
	}
	began := time.Now()
	err := x.ready()
	x.s.counters.Overhead(time.Since(began))
	return err
}

// ready is what Preface does to a model call that it has received.
func (x *exchange) ready() error {
	if err := x.scan(); err != nil {
		return x.unreadable(err)
	}
	if err := x.identify(); err != nil {
		return err
	}
	if err := x.freeze(); err != nil {
		return err
	}
	if x.epoch == nil {
		return nil
	}
	if err := x.splice(); err != nil {
		return err
	}
	return x.record()
}

// clientGone is called by the watcher when the client has gone.
func (x *exchange) clientGone() {
	x.left.Store(true)
	x.life.end()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.link != nil {
		x.link.abort()
	}
}

// attach makes the link known to the watcher. It fails if the client has left.
func (x *exchange) attach(l *link) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.left.Load() {
		return errClientLeft
	}
	x.link = l
	return nil
}

// detach gives the link back; the watcher must not touch it afterwards.
func (x *exchange) detach(reuse bool) {
	x.mu.Lock()
	l := x.link
	x.link = nil
	x.mu.Unlock()
	if l != nil {
		l.done(reuse && !x.left.Load())
	}
}

// recovered turns a panic into a 500 for this request alone. What was panicked
// with may quote a body, so only its place is told.
func (x *exchange) recovered() {
	p := recover()
	if p == nil {
		return
	}
	x.s.counters.Panic()
	x.s.log.Error("BUG: panic in a request", "request", x.id, "stack", string(debug.Stack()))
	x.detach(false)
	x.refuse(&refusal{kind: dialect.ErrInternal, msg: "internal error; the proxy's log has the place under request " + x.id})
}

// finish ends an exchange that has its answer, or none. It runs once.
func (x *exchange) finish() {
	x.conn.OnGone(nil)
	x.life.end()
	x.stopLeading()
	if x.ident.Derived {
		x.gen.resolver.Done(x.ident, x.sent.history, x.completed)
	}
	x.observeDone()
	x.s.inFlight.Add(-1)
	x.detach(false)
	x.reset()
	exchanges.Put(x)
}

// reset lets go of everything but the room that is used again.
func (x *exchange) reset() {
	x.release()
	*x = exchange{leaving: x.leaving}
}

// release lets go of the request's body and of all that points into it: as soon
// as it has been sent, or at the latest at the end.
func (x *exchange) release() {
	if x.work == nil {
		return
	}
	w := x.work
	x.work, x.plan.splices = nil, nil
	w.doc.Reset()
	w.facts.Reset()
	w.head.reset()
	w.parts = clear0(w.parts)
	x.forgo(w)
	works.Put(w)
	x.letGo()
}

// clear0 empties a slice and keeps its room, without what it referred to.
func clear0[T any](s []T) []T {
	clear(s)
	return s[:0]
}

// newID makes a request id: sorted by time, and unique without asking anyone.
func newID(now time.Time) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(now.UnixNano()))
	binary.BigEndian.PutUint64(b[8:], rand.Uint64())
	var text [2 * len(b)]byte
	hex.Encode(text[:], b[:])
	return string(text[:])
}
