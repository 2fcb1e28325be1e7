package dialect

import (
	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// anthropicCounts are the counts of a usage object as written.
type anthropicCounts struct {
	reading
	fresh, cached, output, thinking usage.Count
	written, written5m, written1h   usage.Count // the total and its parts
	// iterations are the runs of models that the answer is made of. The totals
	// leave out those that compacted the history and those of other models, and
	// all are billed (facts/providers.md 1.5).
	iterations []usage.Iteration
}

// maxIterations bounds what is kept of an answer; more cannot be told apart.
const maxIterations = 64

// read takes over what a usage object holds. In a stream the last value of each
// wins: they are cumulative, and server tools may raise any of them.
func (c *anthropicCounts) read(u jsonspan.Value) {
	c.set(&c.fresh, u.Get("input_tokens"))
	c.set(&c.cached, u.Get("cache_read_input_tokens"))
	c.set(&c.written, u.Get("cache_creation_input_tokens"))
	parts := u.Get("cache_creation")
	c.set(&c.written5m, parts.Get("ephemeral_5m_input_tokens"))
	c.set(&c.written1h, parts.Get("ephemeral_1h_input_tokens"))
	c.set(&c.output, u.Get("output_tokens"))
	c.set(&c.thinking, u.Get("output_tokens_details").Get("thinking_tokens"))
	if list := u.Get("iterations"); list.Kind() == jsonspan.Array {
		c.readIterations(list)
	}
}

// set sets dst to what a member says; one that is absent or null says nothing.
func (c *anthropicCounts) set(dst *usage.Count, v jsonspan.Value) {
	if v.Exists() && v.Kind() != jsonspan.Null {
		*dst = c.tokens(v)
	}
}

func (c *anthropicCounts) readIterations(list jsonspan.Value) {
	c.iterations = nil
	for v := list.First(); v.Exists(); v = v.Next() {
		if len(c.iterations) == maxIterations {
			c.odd = true
			return
		}
		var one anthropicCounts
		one.read(v)
		it := usage.Iteration{Usage: one.totals()}
		setLabel(&it.Model, v.Get("model"))
		c.iterations = append(c.iterations, it)
	}
}

// into reports the counts: the sum of the iterations, if they are told, which is
// what is billed.
func (c *anthropicCounts) into(r *Report) {
	r.Usage = c.totals()
	if sum := usage.SumOf(c.iterations); len(c.iterations) > 0 && !lacks(sum, r.Usage) {
		if !sum.Reasoning.Known {
			sum.Reasoning = r.Usage.Reasoning
		}
		sum.Odd = sum.Odd || r.Usage.Odd
		r.Usage, r.Iterations = sum, c.iterations
	}
	for i := range r.Iterations {
		if it := &r.Iterations[i]; it.Model == r.Model {
			it.Model = ""
		}
	}
	if len(r.Iterations) == 1 && r.Iterations[0].Model == "" {
		r.Iterations = nil
	}
}

// lacks reports whether a sum is less than what it is said to include: then the
// list is not of everything, and the totals are better.
func lacks(sum, totals usage.Usage) bool {
	less := func(a, b usage.Count) bool { return b.Known && (!a.Known || a.N < b.N) }
	return less(sum.Fresh, totals.Fresh) || less(sum.CacheRead, totals.CacheRead) || less(sum.Written(), totals.Written()) || less(sum.Output, totals.Output)
}

// totals gives the counts their classes. message_delta repeats the total of the
// writes without its parts: what the total has grown by since has no lifetime,
// and a total below its parts leaves nothing known of them.
func (c *anthropicCounts) totals() usage.Usage {
	u := usage.Usage{Fresh: c.fresh, CacheRead: c.cached, Output: c.output, Reasoning: c.partOf(c.output, c.thinking)}
	parts := usage.Usage{Write5m: c.written5m, Write1h: c.written1h}.Written()
	switch {
	case !parts.Known:
		u.WriteOther = c.written
	case c.written.Known && c.written.N < parts.N:
		u.WriteOther, c.odd = c.written, true
	default:
		if c.written.Known && c.written.N > parts.N {
			u.WriteOther = c.written.Minus(parts)
		}
		u.Write5m, u.Write1h = c.written5m, c.written1h
	}
	u.Odd = c.odd
	return u
}
