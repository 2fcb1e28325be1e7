package proxy

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/seed-9236c7ca/preface/internal/panics"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
)

// A refusal is an answer of our own instead of the provider's. Its message
// names what to do or which setting governs it, and quotes no body and no
// credential.
type refusal struct {
	kind   dialect.ErrorKind
	status int    // instead of the kind's own, if not 0
	reason string // for the counter; bounded words
	msg    string
	// retry says whether the same request may be sent again with success, and
	// after how long. SDKs retry by themselves unless told not to.
	retry bool
	after time.Duration
	// hangUp closes the connection: its framing cannot be trusted any more.
	hangUp bool
}

func (r *refusal) Error() string { return r.msg }

// refuse answers with an error in the dialect's own shape.
func (x *exchange) refuse(err error) {
	defer x.finish()
	r := x.asRefusal(err)
	x.noteRefused(r)
	if r == left {
		x.countEnd("client_gone")
	} else {
		x.countEnd("refused")
		x.s.counters.Refused(r.reason)
	}
	x.answer(r)
}

// left is what a client that has left is answered. Mostly nobody reads it; one
// that closed only its sending side sees that its request was given up, and not
// an empty success (I8).
var left = &refusal{kind: dialect.ErrInvalid, status: statusClientLeft, reason: "client_gone", hangUp: true,
	msg: "the client closed its side of the connection before the answer, which counts as leaving"}

// statusClientLeft is nginx's number for it; HTTP has none.
const statusClientLeft = 499

func (x *exchange) asRefusal(err error) *refusal {
	var r *refusal
	switch {
	case errors.As(err, &r):
		return r
	case x.left.Load() || errors.Is(err, errClientLeft):
		return left
	}
	x.fault(err)
	return &refusal{kind: dialect.ErrInternal, reason: "internal", msg: "internal error; the proxy's log has it under request " + x.id}
}

// fault tells operators of an error that is no answer for a client: of a damaged
// log, or of a panic of ours.
func (x *exchange) fault(err error) {
	var p *panics.Error
	if errors.As(err, &p) {
		x.s.counters.Panic()
	}
	x.s.log.Error("request failed for a fault of Preface or of its log", "request", x.id, "route", x.routeName(), "session", x.ident.Session, "error", err)
}

func (x *exchange) answer(r *refusal) {
	resp := &x.ctx.Response
	resp.Reset()
	if resp.SetStatusCode(dialect.Status(r.kind)); r.status != 0 {
		resp.SetStatusCode(r.status)
	}
	h := &resp.Header
	h.DisableNormalizing()
	h.Set("content-type", "application/json")
	h.Set("x-should-retry", strconv.FormatBool(r.retry))
	if r.after > 0 {
		h.Set("retry-after", strconv.Itoa(int(r.after.Round(time.Second)/time.Second)))
	}
	h.Set("x-preface-request", x.id)
	if r.hangUp {
		x.ctx.SetConnectionClose()
	}
	resp.SetBodyRaw(x.shape().Error(r.kind, r.msg))
}

// shape is the dialect that errors are written in: that of the request, or the
// route's first, or any.
func (x *exchange) shape() dialect.Dialect {
	switch {
	case x.dialect != nil:
		return x.dialect
	case x.route != nil:
		return x.route.dialects[0]
	}
	d, _ := dialect.Get(dialect.Names()[0])
	return d
}

func (x *exchange) routeName() string {
	if x.route == nil {
		return "none"
	}
	return x.route.Name
}

// unfrozen decides what a failure to get the session's epoch means: the one
// place that chooses between refusing a request and sending it bare
// (DESIGN.md 4.9). A nil error means that x.epoch is set.
func (x *exchange) unfrozen(err error) error {
	var compose *prefixstore.ComposeError
	switch {
	case x.left.Load():
		return errClientLeft
	case errors.As(err, &compose):
		return x.uncomposed(compose)
	case errors.Is(err, logsink.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded):
		return x.unlogged(err)
	}
	return err
}

// uncomposed: the contributors failed. The log works, so the decision to go
// bare can be frozen like any other.
func (x *exchange) uncomposed(err *prefixstore.ComposeError) error {
	x.s.log.Warn("contributors gave no prefix", "route", x.route.Name, "session", x.ident.Session, "policy", x.route.Policy, "error", err)
	x.s.counters.ComposeFailed()
	if x.route.Policy == Enforced {
		return &refusal{kind: dialect.ErrUnavailable, reason: "compose_failed", retry: true, after: time.Second,
			msg: fmt.Sprintf("cannot compose the prefix of this session, and route %q has policy enforced (contributors.on_error: skip would go on without the one that failed); the proxy's log says which", x.route.Name)}
	}
	e, berr := x.s.store.Bare(x.life, x.want(), x.route.recipe, "compose_failed")
	if berr != nil {
		return x.unfrozen(berr)
	}
	x.epoch = e
	return nil
}

// unlogged: the log is down. An opening request may go bare, and is remembered
// so. One with history, or of a subagent, is refused whatever the policy: its
// session has begun, with a prefix maybe that this process does not know.
func (x *exchange) unlogged(err error) error {
	if x.left.Load() {
		return errClientLeft // what was asked of the log was given up with it
	}
	x.s.log.Warn("header log unavailable", "route", x.route.Name, "session", x.ident.Session, "policy", x.route.Policy, "error", err)
	if x.route.Policy == BestEffort && !x.facts.Answered && !x.ident.Subagent() && x.ident.Resume == "" {
		if e, ok := x.s.store.Remember(x.want(), x.route.recipe, "log_down"); ok {
			x.epoch = e
			return nil
		}
	}
	why := "this session may have begun with a prefix"
	if x.route.Policy == Enforced {
		why = fmt.Sprintf("route %q has policy enforced", x.route.Name)
	}
	return &refusal{kind: dialect.ErrUnavailable, reason: "log_down", retry: true, after: time.Second,
		msg: fmt.Sprintf("the header log (setting log) cannot be used now, and %s; try again shortly", why)}
}

// unreadable decides about a body in which no place can be found: refused if
// the route enforces its prefix, else passed on untouched.
func (x *exchange) unreadable(err error) error {
	var r *refusal
	if errors.As(err, &r) && r.kind == dialect.ErrTooLarge {
		return err // passing it on would undo the limit
	}
	reason := "malformed"
	if r != nil {
		reason = r.reason
	}
	x.s.counters.Passthrough(reason)
	if x.route.Policy == Enforced {
		if r == nil {
			r = &refusal{kind: dialect.ErrInvalid, reason: reason,
				msg: fmt.Sprintf("cannot find the place for the prefix in the request body: %v; route %q has policy enforced", err, x.route.Name)}
		}
		return r
	}
	x.plan.why = reason
	return nil
}
