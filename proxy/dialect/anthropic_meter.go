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
	m.counts.into(&r)
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
	m.counts.output, m.counts.thinking, m.counts.iterations = usage.Count{}, usage.Count{}, nil
}

// anthropicAnswer reads an answer that is no stream.
func anthropicAnswer(root jsonspan.Value, r *Report) {
	var counts anthropicCounts
	counts.read(root.Get("usage"))
	setLabel(&r.Model, root.Get("model"))
	counts.into(r)
	setServed(r, root.Get("usage"))
	setLabel(&r.ID, root.Get("id"))
	setLabel(&r.StopReason, root.Get("stop_reason"))
	setDiagnosis(r, root.Get("diagnostics"))
	setError(r, root.Get("error"))
}

// setServed takes over what a usage object says of how the answer was served.
func setServed(r *Report, u jsonspan.Value) {
	setLabel(&r.Tier, u.Get("service_tier"))
	setLabel(&r.Region, u.Get("inference_geo"))
}
