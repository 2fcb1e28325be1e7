package proxy

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/seed-9236c7ca/preface/proxy/dialect"
)

// receive reads the head, checks what must not go on, and finds the target.
func (x *exchange) receive() error {
	req := &x.ctx.Request
	if err := x.head.read(&req.Header); err != nil {
		x.observe() // whose trace it is nobody can tell
		return &refusal{kind: dialect.ErrInvalid, reason: "framing", msg: err.Error(), hangUp: true}
	}
	x.join()
	if err := x.checkLine(); err != nil {
		return err
	}
	path, query, _ := bytes.Cut(req.Header.RequestURI(), []byte("?"))
	x.query = query
	if x.upgrades() {
		if err := x.refuseUpgrade(string(path)); err != nil {
			return err
		}
	} else if err := x.find(string(path)); err != nil {
		return err
	}
	return x.readBody()
}

// checkLine refuses request lines that fasthttp lets through.
func (x *exchange) checkLine() error {
	h := &x.ctx.Request.Header
	switch p := string(h.Protocol()); {
	case p != "HTTP/1.1" && p != "HTTP/1.0":
		return &refusal{kind: dialect.ErrInvalid, reason: "framing", msg: "unsupported HTTP version", hangUp: true}
	case !isToken(h.Method()):
		return &refusal{kind: dialect.ErrInvalid, reason: "framing", msg: "the method is not a token", hangUp: true}
	case (h.IsGet() || h.IsHead()) && x.head.announcesBody():
		return &refusal{kind: dialect.ErrInvalid, reason: "framing", msg: "a GET or HEAD request must not have a body", hangUp: true}
	case len(h.RequestURI()) == 0 || h.RequestURI()[0] != '/':
		return &refusal{kind: dialect.ErrInvalid, reason: "framing", msg: "the request target must begin with a slash", hangUp: true}
	}
	return nil
}

// find finds the target, and counts model calls against the limit.
func (x *exchange) find(path string) error {
	t, ok := x.gen.routes.match(path, x.ctx.IsPost(), x.family())
	if !ok {
		return &refusal{kind: dialect.ErrNotFound, reason: "no_route",
			msg: fmt.Sprintf("no route for %s: use a provider's own paths (/v1/messages, /v1/chat/completions, /v1/responses), put /anthropic or /openai in front, or add a route to the configuration", printable(path))}
	}
	x.target = t
	if t.dialect == nil && t.route.Policy == Enforced && x.ctx.IsPost() && x.gen.routes.disguises(path) {
		return &refusal{kind: dialect.ErrInvalid, reason: "path",
			msg: fmt.Sprintf("the path is a model call's in other words, which would pass without the prefix, and route %q has policy enforced; write it without escapes, dots and empty parts", t.route.Name)}
	}
	if t.dialect != nil && x.s.inFlight.Load() > int64(x.gen.cfg.Limits.InFlight) {
		return &refusal{kind: dialect.ErrOverloaded, reason: "in_flight", retry: true, after: time.Second,
			msg: fmt.Sprintf("%d requests are in flight already (limits.in_flight)", x.gen.cfg.Limits.InFlight)}
	}
	return nil
}

// family is the API family that the request's headers point to, if they do.
func (x *exchange) family() string {
	if len(x.head.get("anthropic-version")) > 0 || len(x.head.get("x-api-key")) > 0 {
		return "anthropic"
	}
	return ""
}

func (x *exchange) upgrades() bool { return x.head.get("upgrade") != nil }

// refuseUpgrade answers 426, upon which Codex and Copilot use HTTP at once
// (facts/clients.md 1.8). Anything else costs them seconds or the whole turn.
func (x *exchange) refuseUpgrade(path string) error {
	d, ok := x.gen.routes.modelPath(path)
	if !ok {
		// No model call: the upgrade is not passed on, the request is.
		return x.find(path)
	}
	x.target.dialect = d
	return &refusal{kind: dialect.ErrUpgrade, reason: "websocket", msg: "WebSocket is not served here; use HTTP"}
}

// printable makes a path fit for a message: bounded, and without control
// characters.
func printable(path string) string {
	if len(path) > 100 {
		path = path[:100] + "…"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, path)
}
