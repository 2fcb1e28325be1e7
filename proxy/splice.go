package proxy

import (
	"fmt"
	"net"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
)

// A plan is what is done to a request: what is inserted where, or why nothing
// is.
type plan struct {
	inject    bool
	why       string           // of a bare one
	splices   []dialect.Splice // sorted by offset in the client's body
	askUsage  bool             // the answer's extra usage chunk is ours
	rendering string           // name of the frozen bytes
}

// Reasons to send one request bare although its epoch has a prefix.
const (
	whySide     = "side_request"
	whyFragment = "count_fragment"
	whyNoBytes  = "no_rendering"
)

// splice decides what the request carries and where.
func (x *exchange) splice() error {
	x.thread = x.s.threads.get(x.life, x.s.logs, x.threadKey(), x.epoch.Born)
	why := x.bareBecause()
	x.plan.inject, x.plan.why = why == "", why
	if x.plan.inject {
		x.plan.rendering = x.facts.Rendering
		bytes := x.epoch.Rendering(x.facts.Rendering)
		x.plan.splices = append(x.plan.splices, x.facts.Slot.Splices(bytes)...)
	} else if err := x.mustCarry(why); err != nil {
		return err
	}
	x.askUsage()
	x.askVerdict()
	return nil
}

func (x *exchange) threadKey() threadKey {
	return threadKey{x.key(), x.epoch.Number, x.ident.Thread}
}

// bareBecause says why the request goes without the prefix, or "". What the
// epoch decided comes first, then what the thread did.
func (x *exchange) bareBecause() string {
	f := &x.facts
	if !x.epoch.Injects() {
		return x.epoch.Why
	}
	if x.endpoint == dialect.Count {
		return x.countBecause()
	}
	side := ""
	if f.Side && x.route.Side == PassBare {
		side = whySide
	}
	x.thread.renew(x.life, x.s.logs, x.threadKey(), side, f.History)
	if why := x.thread.decide(side, f.History); why != "" {
		return why
	}
	if f.Never != "" {
		return f.Never
	}
	if x.epoch.Rendering(f.Rendering) == nil {
		return whyNoBytes // an epoch of a release that did not know this dialect
	}
	return ""
}

// countBecause: a count of a whole turn, or of one whose signatures the provider
// checks, needs the prefix; a count of a fragment must not have it.
func (x *exchange) countBecause() string {
	switch f := &x.facts; {
	case f.Never != "":
		return f.Never
	case x.epoch.Rendering(f.Rendering) == nil:
		return whyNoBytes
	case f.SignedThinking || x.ident.Known || x.thread.continues(f.History):
		return ""
	}
	return whyFragment
}

// mustCarry refuses, where the route enforces its prefix, a request that goes
// without it although the model would see it as an ordinary turn.
func (x *exchange) mustCarry(why string) error {
	if x.route.Policy != Enforced || !x.epoch.Injects() {
		return nil
	}
	if why == dialect.NeverConversation || why == whyNoBytes {
		return &refusal{kind: dialect.ErrInvalid, reason: why,
			msg: fmt.Sprintf("this request cannot carry the session's prefix (%s), and route %q has policy enforced", why, x.route.Name)}
	}
	return nil
}

// askUsage has a stream report its usage if it would not.
func (x *exchange) askUsage() {
	if x.facts.WantsUsage || len(x.facts.UsageSplices) == 0 || x.gen.cfg.Usage.Request == "never" {
		return
	}
	x.plan.askUsage = true
	x.plan.splices = merge(x.plan.splices, x.facts.UsageSplices)
}

// merge keeps splices sorted by offset. At one offset, a's come first.
func merge(a, b []dialect.Splice) []dialect.Splice {
	out := make([]dialect.Splice, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0].At <= b[0].At {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// outgoing is the body that is sent: as it came if nothing is inserted, else
// the client's (decompressed) body as its parts with the inserted ones between.
func (x *exchange) outgoing(parts net.Buffers) net.Buffers {
	if len(x.plan.splices) == 0 {
		return append(parts, x.raw)
	}
	at := 0
	for _, s := range x.plan.splices {
		if s.At > at {
			parts = append(parts, x.body[at:s.At])
			at = s.At
		}
		parts = append(parts, s.Bytes)
	}
	return append(parts, x.body[at:])
}

// unchanged reports whether the parts of a body that are not inserted are the
// client's own bytes, all of them and in order (I3). It compares where they
// are, not what: copies of the client's bytes must not exist.
func (x *exchange) unchanged(parts net.Buffers) bool {
	body := x.body
	if len(x.plan.splices) == 0 {
		body = x.raw
	}
	next := 0
	for _, p := range parts {
		if next < len(x.plan.splices) && same(p, x.plan.splices[next].Bytes) {
			next++
		} else if len(p) > len(body) || !same(p, body[:len(p)]) {
			return false
		} else {
			body = body[len(p):]
		}
	}
	return len(body) == 0 && next == len(x.plan.splices)
}

// same reports whether two slices are the same memory.
func same(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// recordSplices appends the inserted ranges as the log has them: in offsets of
// the body that was sent, neighbours joined.
func (p *plan) recordSplices(out []logsink.Splice) []logsink.Splice {
	inserted := 0
	for _, s := range p.splices {
		at := s.At + inserted
		inserted += len(s.Bytes)
		out = join(out, logsink.Splice{Offset: at, Length: len(s.Bytes), Kind: s.Kind}, p.rendering)
	}
	return out
}

// join adds a range, to the one before if it touches it: a prefix and the
// comma beside it are one insertion.
func join(list []logsink.Splice, s logsink.Splice, rendering string) []logsink.Splice {
	isPrefix := s.Kind == kindPrefix
	if n := len(list) - 1; n >= 0 && list[n].Offset+list[n].Length == s.Offset && joins(list[n].Kind) && joins(s.Kind) {
		if isPrefix {
			list[n].Kind, list[n].Rendering, list[n].From = s.Kind, rendering, list[n].Length
		}
		list[n].Length += s.Length
		return list
	}
	if isPrefix {
		s.Rendering = rendering
	}
	return append(list, s)
}

// joins reports whether a splice is the prefix or what stands around it.
func joins(kind string) bool { return kind != kindUsage && kind != dialect.KindVerdict }

// Kinds of splice, beside dialect.KindVerdict.
const (
	kindPrefix = "prefix"
	kindUsage  = "usage"
)
