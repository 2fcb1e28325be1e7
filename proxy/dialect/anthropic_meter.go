package dialect

import (
	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
	"github.com/seed-9236c7ca/preface/proxy/internal/sse"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

func newAnthropicMeter(ep Endpoint, stream bool) Meter {
	switch {
	case ep == Count:
		return &documentMeter{read: countAnswer}
	case stream:
		m := new(anthropicStream)
		m.split.Want = anthropicMatters
		return m
	}
	return &documentMeter{read: anthropicAnswer}
}

// anthropicMatters reports whether an event can hold anything to report. An
// event without a name may be any.
func anthropicMatters(name []byte) bool {
	switch string(name) {
	case "", "message_start", "message_delta", "message_stop", "error":
		return true
	}
	return false
}

// anthropicStream reads a stream of Messages events.
type anthropicStream struct {
	split  sse.Splitter
	counts anthropicCounts
	report Report
}

func (m *anthropicStream) Write(p []byte) { m.split.Feed(p, m.take) }

func (m *anthropicStream) Report() Report {
	r := m.report
	r.Usage = m.counts.usage()
	return r
}

func (m *anthropicStream) take(ev sse.Event) {
	switch kind := kindOf(ev); {
	case string(kind) == "message_stop":
		m.report.Terminal = true
	case anthropicMatters(kind):
		readJSON(ev.Data, m.read)
	}
}

func (m *anthropicStream) read(root jsonspan.Value) {
	switch kind := root.Get("type"); {
	case kind.Is("message_start"):
		m.start(root.Get("message"))
	case kind.Is("message_delta"):
		m.counts.read(root.Get("usage"))
		setServed(&m.report, root.Get("usage"))
		setLabel(&m.report.StopReason, root.Get("delta").Get("stop_reason"))
	case kind.Is("message_stop"):
		m.report.Terminal = true
	case kind.Is("error"):
		setError(&m.report, root.Get("error"))
	}
}

// start reads the beginning of the answer. Its output count is that of the
// first token or so: if no message_delta follows, the output is not known.
func (m *anthropicStream) start(message jsonspan.Value) {
	setLabel(&m.report.ID, message.Get("id"))
	setLabel(&m.report.Model, message.Get("model"))
	m.counts.read(message.Get("usage"))
	setServed(&m.report, message.Get("usage"))
	setDiagnosis(&m.report, message.Get("diagnostics"))
	m.counts.output, m.counts.thinking = usage.Count{}, usage.Count{}
}

// anthropicAnswer reads an answer that is no stream.
func anthropicAnswer(root jsonspan.Value, r *Report) {
	var counts anthropicCounts
	counts.read(root.Get("usage"))
	r.Usage = counts.usage()
	setServed(r, root.Get("usage"))
	setLabel(&r.ID, root.Get("id"))
	setLabel(&r.Model, root.Get("model"))
	setLabel(&r.StopReason, root.Get("stop_reason"))
	setDiagnosis(r, root.Get("diagnostics"))
	setError(r, root.Get("error"))
}

// setServed takes over what a usage object says of how the answer was served.
func setServed(r *Report, u jsonspan.Value) {
	setLabel(&r.Tier, u.Get("service_tier"))
	setLabel(&r.Region, u.Get("inference_geo"))
}

// anthropicCounts are the counts of a usage object as written. Those of
// iterations[] are not among them: the totals leave them out too.
type anthropicCounts struct {
	fresh, cached, output, thinking usage.Count
	written, written5m, written1h   usage.Count // the total and its parts
}

// read takes over what a usage object holds. In a stream the last value of each
// wins: they are cumulative, and server tools may raise any of them.
func (c *anthropicCounts) read(u jsonspan.Value) {
	setTokens(&c.fresh, u.Get("input_tokens"))
	setTokens(&c.cached, u.Get("cache_read_input_tokens"))
	setTokens(&c.written, u.Get("cache_creation_input_tokens"))
	parts := u.Get("cache_creation")
	setTokens(&c.written5m, parts.Get("ephemeral_5m_input_tokens"))
	setTokens(&c.written1h, parts.Get("ephemeral_1h_input_tokens"))
	setTokens(&c.output, u.Get("output_tokens"))
	setTokens(&c.thinking, u.Get("output_tokens_details").Get("thinking_tokens"))
}

// setTokens sets dst to what a member says; one that is absent or null says
// nothing.
func setTokens(dst *usage.Count, v jsonspan.Value) {
	if v.Exists() && v.Kind() != jsonspan.Null {
		*dst = tokens(v)
	}
}

// usage gives the counts their classes. message_delta repeats the total of the
// writes without its parts: what the total has grown by since has no lifetime,
// and a total below its parts leaves nothing known of them.
func (c *anthropicCounts) usage() usage.Usage {
	u := usage.Usage{Fresh: c.fresh, CacheRead: c.cached, Output: c.output, Reasoning: partOf(c.output, c.thinking)}
	parts := usage.Usage{Write5m: c.written5m, Write1h: c.written1h}.Written()
	switch {
	case !parts.Known || c.written.Known && c.written.N < parts.N:
		u.WriteOther = c.written
		return u
	case c.written.Known && c.written.N > parts.N:
		u.WriteOther = c.written.Minus(parts)
	}
	u.Write5m, u.Write1h = c.written5m, c.written1h
	return u
}
