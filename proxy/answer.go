package proxy

import (
	"bytes"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/seed-9236c7ca/preface/proxy/dialect"
)

// answerWith prepares the answer: its head goes on but for what belongs to one
// connection, with our four headers added.
func (x *exchange) answerWith() {
	r, h := &x.relay, &x.ctx.Response.Header
	r.x = x
	r.close = r.close || h.ConnectionClose()
	h.ResetConnectionClose()
	coding := string(h.ContentEncoding())
	r.stream = strings.HasPrefix(string(h.ContentType()), "text/event-stream")
	r.frame(h, x.ctx.IsHead()) // while the head is whole
	x.cleanHead(h)
	h.SetProtocol(http11) // each hop has its own, and our framing is that of 1.1
	x.label(h)
	x.tap(coding)
	size := -1
	if r.framing == framedByLength {
		size = int(r.left)
	}
	if r.framing == framedEmpty {
		size = max(h.ContentLength(), 0)
		x.ctx.Response.SkipBody = x.ctx.IsHead()
	}
	x.ctx.Response.ImmediateHeaderFlush = r.stream
	x.ctx.Response.SetBodyStream(r, size)
}

var http11 = []byte("HTTP/1.1")

// frame reads from the head how the body ends.
func (r *relay) frame(h *fasthttp.ResponseHeader, isHead bool) {
	n := h.ContentLength()
	switch code := h.StatusCode(); {
	case isHead || code == fasthttp.StatusNoContent || code == fasthttp.StatusNotModified || n == 0:
		r.framing = framedEmpty
	case n > 0:
		r.framing, r.left = framedByLength, int64(n)
	case n == -1:
		r.framing = framedByChunks
	default:
		r.framing, r.close = framedByClose, true
	}
}

// tap meters the answers of model calls.
func (x *exchange) tap(coding string) {
	if x.dialect == nil || x.sent.request == nil {
		return
	}
	r := &x.relay
	r.meter = x.dialect.Meter(x.endpoint, r.stream)
	if f, ok := r.meter.(dialect.UsageFilter); ok && x.plan.askUsage && r.stream && coding == "" {
		r.filter = f
		return
	}
	if coding != "" {
		r.meter = dialect.Decoding(r.meter, coding)
	}
}

// cleanHead takes out of an answer what belongs to the provider's connection.
func (x *exchange) cleanHead(h *fasthttp.ResponseHeader) {
	var drop, nominated [][]byte
	for name, value := range h.All() {
		switch {
		case is(name, "connection"):
			drop, nominated = append(drop, name), append(nominated, listed(value)...)
		case is(name, "keep-alive"), is(name, "proxy-authenticate"), is(name, "proxy-connection"),
			is(name, "te"), is(name, "trailer"), is(name, "upgrade"):
			drop = append(drop, name)
		case is(name, "request-id"), is(name, "x-request-id"):
			x.relay.upstreamID = string(value)
		case is(name, "anthropic-workspace-id"):
			x.relay.workspace = string(value)
		}
	}
	for _, name := range append(drop, spelled(h, nominated)...) {
		h.DelBytes(name)
	}
}

// spelled are the names in a head that a Connection header lists, as they are
// written there: fasthttp deletes no other.
func spelled(h *fasthttp.ResponseHeader, nominated [][]byte) (names [][]byte) {
	if len(nominated) == 0 {
		return nil
	}
	for name := range h.All() {
		if slices.ContainsFunc(nominated, func(n []byte) bool { return bytes.EqualFold(n, name) }) {
			names = append(names, bytes.Clone(name))
		}
	}
	return names
}

func listed(connection []byte) [][]byte {
	var h head
	h.list(connection)
	return h.connection
}

// label adds our headers to the answer of a model call.
func (x *exchange) label(h *fasthttp.ResponseHeader) {
	if x.dialect == nil {
		return
	}
	h.Set("x-preface-request", x.id)
	if x.epoch == nil {
		h.Set("x-preface-prefix", "bare; "+x.plan.why)
		return
	}
	h.Set("x-preface-session", x.ident.Session)
	h.Set("x-preface-epoch", itoa(x.epoch.Number))
	if x.plan.inject {
		h.Set("x-preface-prefix", x.epoch.Prefix)
	} else {
		h.Set("x-preface-prefix", "bare; "+x.plan.why)
	}
}
