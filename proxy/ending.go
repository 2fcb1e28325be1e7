package proxy

import (
	"cmp"
	"errors"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/seed-9236c7ca/preface/internal/panics"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// conclude says how a relayed answer ended, and records it.
func (r *relay) conclude() {
	rep := r.report()
	end, detail := r.end(&rep)
	r.x.finishRecord(end, detail, &rep)
}

// report asks the meter, whose faults are counted and change nothing else.
func (r *relay) report() (rep dialect.Report) {
	if r.meter == nil {
		return rep
	}
	defer r.x.s.guardMeter(&r.meter)
	return r.meter.Report()
}

// guardMeter drops a meter that panicked. It is deferred around its calls.
func (s *Server) guardMeter(m *dialect.Meter) {
	if p := recover(); p != nil {
		*m = nil
		s.counters.Panic()
		s.log.Error("BUG: panic in a usage meter; the answer goes on unmeasured", "stack", string(debug.Stack()))
	}
}

// end names the end. A client that leaves after the terminal event has had its
// answer: Codex does so on every request.
func (r *relay) end(rep *dialect.Report) (end, detail string) {
	gone := r.x.left.Load() || r.sendErr != nil
	var fault *panics.Error
	switch {
	case errors.As(r.sendErr, &fault):
		return logsink.EndFault, ""
	case rep.Error != "" && r.stream:
		return logsink.EndError, rep.Error
	case gone && !rep.Terminal && !r.ended:
		if r.sendErr != nil && isTimeout(r.sendErr) {
			return logsink.EndClientStalled, ""
		}
		return logsink.EndClientGone, ""
	case r.readErr != nil && !rep.Terminal:
		if os.IsTimeout(r.readErr) {
			return logsink.EndStalled, ""
		}
		return logsink.EndCut, ""
	case r.stream && r.meter != nil && !rep.Terminal && !rep.Blind:
		return logsink.EndNoTerminal, ""
	}
	return logsink.EndComplete, rep.Error // of an error that was the whole answer
}

// conclude records a request that got no answer to relay.
func (x *exchange) conclude(end, detail string) { x.finishRecord(end, detail, &dialect.Report{}) }

// finishRecord writes the response record, counts the request, and tells who
// wants to know how it went.
func (x *exchange) finishRecord(end, detail string, rep *dialect.Report) {
	x.countEnd(end)
	x.noteEnd(end, rep)
	if x.sent.request == nil {
		return
	}
	r, req := &x.relay, x.sent.request
	now := time.Now()
	room := new(answerRecord)
	rec := &room.Response
	*rec = logsink.Response{
		V: logsink.Version, ID: x.id, Key: req.Key, Epoch: req.Epoch, Thread: req.Thread,
		Status: r.status, Total: now.Sub(x.start), Bytes: r.bytes, End: end, Detail: detail,
		UpstreamID: r.upstreamID, ResponseID: rep.ID, StopReason: rep.StopReason,
		Usage: room.fill(rep.Usage), Time: now.UTC(), Tier: rep.Tier,
	}
	if rep.Model != req.Model {
		rec.Model = rep.Model
	}
	if !r.first.IsZero() {
		rec.FirstByte = r.first.Sub(r.sent)
	}
	rec.Iterations = recorded(rep.Iterations)
	x.heard(rec, rep)
	x.settle(rec, rep)
	x.s.counters.Tokens(req.Dialect, rep.Usage)
	if x.completed = end == logsink.EndComplete && r.status/100 == 2; x.completed {
		x.epoch.Completed()
	}
}

// settle hands the record of an answer on to be priced and explained, or to the
// log as it is if the configuration wants neither.
func (x *exchange) settle(rec *logsink.Response, rep *dialect.Report) {
	if x.seen != nil {
		x.seen.resp = rec
	}
	if x.gen.cfg.Usage.Account == Off {
		x.s.queue.Put(logsink.Record{Response: rec})
		return
	}
	r := &x.relay
	if call := x.sent.call; call != nil {
		call.Start, call.FirstByte = r.sent, r.first
		if r.workspace != "" {
			call.Account += " " + r.workspace
		}
	}
	x.s.accountant.put(answer{
		req: x.sent.request, resp: rec, call: x.sent.call, before: x.sent.before, line: x.sent.line, usage: rep.Usage, iterations: rep.Iterations, prices: x.gen.prices,
		query: usage.Query{Model: cmp.Or(rep.Model, x.sent.request.Model), At: x.start, Tier: rep.Tier, Region: rep.Region, Lifetime: x.sent.lifetime},
	})
}

// countEnd counts a request, once: one that was sent and then refused ended as
// its record says.
func (x *exchange) countEnd(end string) {
	if !x.counted {
		x.counted = true
		x.s.counters.Request(x.routeName(), end)
	}
}

// An answerRecord is a response record with room for what it points to: there is
// one for each answer, and all of it lives as long.
type answerRecord struct {
	logsink.Response
	usage  logsink.Usage
	counts usage.Usage
}

// fill writes counts for the log; what was not reported stays away.
func (r *answerRecord) fill(u usage.Usage) *logsink.Usage {
	if !u.Reported() {
		return nil
	}
	r.counts = u
	c := &r.counts
	r.usage = logsink.Usage{
		Fresh: known(&c.Fresh), CacheRead: known(&c.CacheRead), Unsplit: known(&c.Unsplit),
		Write5m: known(&c.Write5m), Write1h: known(&c.Write1h), Write30m: known(&c.Write30m), WriteOther: known(&c.WriteOther),
		Output: known(&c.Output), Reasoning: known(&c.Reasoning),
	}
	return &r.usage
}

// recorded are iterations as the log has them.
func recorded(list []usage.Iteration) []logsink.Iteration {
	if len(list) == 0 {
		return nil
	}
	out := make([]logsink.Iteration, len(list))
	for i, it := range list {
		out[i] = logsink.Iteration{Model: it.Model, Usage: new(answerRecord).fill(it.Usage)}
	}
	return out
}

func known(c *usage.Count) *int64 {
	if !c.Known {
		return nil
	}
	return &c.N
}

// count counts a model call that was sent by what was done to it.
func (x *exchange) count() {
	if x.dialect == nil {
		return
	}
	x.s.counters.Prefix(x.route.Name, x.plan.inject, x.plan.why)
}

func itoa(n int) string { return strconv.Itoa(n) }
