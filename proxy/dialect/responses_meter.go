package dialect

import (
	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
	"github.com/seed-9236c7ca/preface/proxy/internal/sse"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

func newResponsesMeter(ep Endpoint, stream bool) Meter {
	switch {
	case ep == Count:
		return &documentMeter{read: countAnswer}
	case stream:
		m := new(responsesStream)
		m.split.Want = responsesMatters
		m.split.Limit = maxAnswer // the last event repeats the whole answer
		return m
	}
	return &documentMeter{read: responsesAnswer}
}

// responsesMatters reports whether an event can hold anything to report. An
// event without a name may be any.
func responsesMatters(name []byte) bool {
	switch string(name) {
	case "", "response.created", "error":
		return true
	}
	return endsResponse(name)
}

func endsResponse(kind []byte) bool {
	switch string(kind) {
	case "response.completed", "response.incomplete", "response.failed":
		return true
	}
	return false
}

// responsesStream reads a stream of Responses events.
type responsesStream struct {
	split  sse.Splitter
	report Report
}

func (m *responsesStream) Write(p []byte) { m.split.Feed(p, m.take) }

func (m *responsesStream) Report() Report { return m.report }

// take reads an event. One that ends the answer does so even if it is too large
// to be read.
func (m *responsesStream) take(ev sse.Event) {
	kind := kindOf(ev)
	if endsResponse(kind) {
		m.report.Terminal = true
	}
	if responsesMatters(kind) {
		readJSON(ev.Data, m.read)
	}
}

func (m *responsesStream) read(root jsonspan.Value) {
	kind := root.Get("type")
	switch {
	case kind.Is("error"):
		m.report.Error = "error"
		setLabel(&m.report.Error, root.Get("code"))
		setError(&m.report, root.Get("error")) // some hosts nest it
	case kind.Is("response.created"):
		responsesAnswer(root.Get("response"), &m.report)
	default:
		if name, _ := kind.Text(); endsResponse([]byte(name)) {
			m.report.Terminal = true
			responsesAnswer(root.Get("response"), &m.report)
		}
	}
}

// responsesAnswer reads a response object, whole or as far as it has come.
func responsesAnswer(resp jsonspan.Value, r *Report) {
	setLabel(&r.ID, resp.Get("id"))
	setLabel(&r.Model, resp.Get("model"))
	setLabel(&r.Tier, resp.Get("service_tier"))
	if u := resp.Get("usage"); u.Kind() == jsonspan.Object {
		r.Usage = responsesUsage(u)
	}
	setComparison(r, resp.Get("prompt_cache_diagnostics"))
	setError(r, resp.Get("error"))
	if s := resp.Get("status"); !s.Is("queued") && !s.Is("in_progress") {
		setLabel(&r.StopReason, s)
	}
	setLabel(&r.StopReason, resp.Get("incomplete_details").Get("reason"))
}

func responsesUsage(u jsonspan.Value) usage.Usage {
	var r reading
	details := u.Get("input_tokens_details")
	out := r.tokens(u.Get("output_tokens"))
	return r.inclusive(usage.Usage{
		CacheRead:  r.tokens(details.Get("cached_tokens")),
		WriteOther: r.tokens(details.Get("cache_write_tokens")),
		Output:     out,
		Reasoning:  r.partOf(out, r.tokens(u.Get("output_tokens_details").Get("reasoning_tokens"))),
	}, r.tokens(u.Get("input_tokens")))
}
