package telemetry

import (
	"net"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/trace"
)

// maxText bounds a string in a span, in bytes.
const maxText = 512

func clean(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "")
}

func statusText(code int) string { return strconv.Itoa(code) }

// address adds where a server is.
func (a *attributes) address(hostport string, secure bool) {
	if host, port := server(hostport, secure); host != "" {
		a.text(attrServerAddress, host)
		a.number(attrServerPort, port)
	}
}

// server reads where a server is. port is that of the scheme if it is not told.
func server(hostport string, secure bool) (host string, port int64) {
	host, digits, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if port, _ = strconv.ParseInt(digits, 10, 32); port != 0 {
		return host, port
	}
	if secure {
		return host, 443
	}
	return host, 80
}

// methods are those that the conventions know; others are _OTHER.
var methods = map[string]string{
	"GET": "GET", "HEAD": "HEAD", "POST": "POST", "PUT": "PUT", "DELETE": "DELETE", "CONNECT": "CONNECT",
	"OPTIONS": "OPTIONS", "TRACE": "TRACE", "PATCH": "PATCH", "QUERY": "QUERY",
}

// method adds the method and returns what a span's name begins with.
func (a *attributes) method(m string) string {
	if known, ok := methods[m]; ok {
		a.text(attrMethod, known)
		return known
	}
	a.text(attrMethod, "_OTHER")
	a.text(attrMethodOriginal, m)
	return "HTTP"
}

// spans writes the spans of an exchange: what the client asked of us, and below it
// what we asked of the provider.
func (p *Pipeline) spans(e *Exchange) {
	t := e.Trace
	if t == nil {
		t = p.Begin()
	}
	if !t.flags.IsSampled() {
		return
	}
	if !e.Sent.IsZero() {
		p.client(e, t)
	}
	p.server(e, t)
}

// server writes what the client asked of us.
func (p *Pipeline) server(e *Exchange, t *Trace) {
	a := &attributes{p.scratch[:0]}
	name := a.served(e)
	a.place(t, t.server, t.above(), t.continues())
	a.about(kindServer, name, e.Start, e.End)
	if t.linked {
		a.link(t.parent)
	}
	if e.fault() != "" {
		a.fail()
	}
	p.queue.put(a.encoding)
	p.scratch = a.encoding
}

// client writes what we asked of the provider.
func (p *Pipeline) client(e *Exchange, t *Trace) {
	a := &attributes{p.scratch[:0]}
	name := a.called(e, &p.words)
	a.place(t, t.client, t.server, false)
	a.about(kindClient, name, e.Sent, e.End)
	a.tell(e)
	if e.failure() != "" {
		a.fail()
	}
	p.queue.put(a.encoding)
	p.scratch = a.encoding
}

// place writes where a span stands.
func (m *encoding) place(t *Trace, id, parent trace.SpanID, remote bool) {
	m.bytes(spanTrace, t.id[:])
	m.bytes(spanID, id[:])
	if state := t.told(); state != "" {
		m.text(spanState, state)
	}
	if parent.IsValid() {
		m.bytes(spanParent, parent[:])
	}
	flags := uint32(t.flags) | flagKnowsRemote
	if remote {
		flags |= flagRemote
	}
	m.flags(spanFlags, flags)
}

// about writes what a span is and when it was.
func (m *encoding) about(kind uint64, name string, start, end time.Time) {
	m.text(spanName, name)
	m.number(spanKind, kind)
	m.time(spanStart, start)
	m.time(spanEnd, end)
}

// served writes the server span's attributes and returns its name.
func (a *attributes) served(e *Exchange) string {
	name := a.method(e.Method)
	if e.Template != "" {
		name += " " + clean(e.Template)
		a.text(attrTemplate, e.Template)
	}
	a.text(attrPath, e.Path)
	a.text(attrScheme, "http")
	a.address(e.Host, false)
	if e.Status != 0 {
		a.number(attrStatus, int64(e.Status))
	}
	a.text(attrErrorType, e.fault())
	a.text(ownRequest, e.ID)
	a.text(ownRoute, e.Route)
	a.text(ownRefused, e.Refused)
	a.text(ownEnd, e.Ended)
	if c := e.Call; c != nil {
		a.text(ownClass, c.Class)
		a.text(ownDecision, c.Decision)
		a.text(ownPassthrough, c.Why)
	}
	return name
}

// called writes the client span's attributes and returns its name.
func (a *attributes) called(e *Exchange, words *vocabulary) string {
	name := a.method(e.Method)
	a.address(e.Upstream, e.Secure)
	if e.Answered != 0 {
		a.number(attrStatus, int64(e.Answered))
	}
	if n := len(e.Retries); n > 0 {
		a.number(attrResend, int64(n))
	}
	a.text(attrErrorType, e.failure())
	if c := e.Call; c != nil {
		if e.model() {
			name = operationChat
			if c.Model != "" {
				name += " " + clean(c.Model)
			}
			a.genAI(e, words)
		}
		a.session(c)
		a.money(c)
	}
	return name
}

// genAI adds what the GenAI conventions name.
func (a *attributes) genAI(e *Exchange, words *vocabulary) {
	c := e.Call
	a.text(attrOperation, operationChat)
	a.text(attrProvider, c.Provider)
	a.text(attrRequestModel, c.Model)
	if c.Named {
		a.text(attrConversation, c.Session)
	}
	if c.Stream {
		a.yes(attrRequestStream)
	}
	a.asked(&c.Asked, words.latest)
	a.text(attrResponseID, c.ResponseID)
	a.text(attrResponseModel, c.Answerer)
	if reason := e.finish(words.latest); reason != "" {
		a.list(attrFinishReasons, reason)
	}
	if c.Stream && !e.FirstChunk.IsZero() {
		a.float(attrFirstChunk, e.FirstChunk.Sub(e.Sent).Seconds())
	}
	u := &c.Usage
	for _, f := range [...]struct {
		name  string
		known bool
		n     int64
	}{
		{attrInputTokens, u.Input().Known, u.Input().N},
		{attrCacheRead, u.CacheRead.Known, u.CacheRead.N},
		{words.cacheWrite, u.Written().Known, u.Written().N},
		{attrOutputTokens, u.Output.Known, u.Output.N},
		{attrReasoningTokens, u.Reasoning.Known, u.Reasoning.N},
	} {
		if f.known {
			a.number(f.name, f.n)
		}
	}
}

func (a *attributes) asked(q *Asked, latest bool) {
	a.integer(attrMaxTokens, q.MaxTokens)
	a.real(attrTemperature, q.Temperature)
	a.real(attrTopP, q.TopP)
	if q.TopK != nil && latest {
		a.number(attrTopK, int64(*q.TopK)) // whole in the new names
	} else {
		a.real(attrTopK, q.TopK)
	}
	a.real(attrFrequencyPenalty, q.FrequencyPenalty)
	a.real(attrPresencePenalty, q.PresencePenalty)
	a.integer(attrSeed, q.Seed)
	a.integer(attrChoices, q.Choices)
}

// finish is why the answer ended. By the new names one that did not end says so.
func (e *Exchange) finish(latest bool) string {
	if e.Call.StopReason == "" && latest && e.Answered/100 == 2 && e.Failed {
		return finishError
	}
	return e.Call.StopReason
}

// session adds whose call it is and what it carried.
func (a *attributes) session(c *Call) {
	a.text(ownSession, c.Session)
	a.text(ownSessionSource, c.Source)
	a.text(ownThread, c.Thread)
	if c.Epoch > 0 {
		a.number(ownEpoch, int64(c.Epoch))
	}
	a.text(ownPrefixHash, c.Prefix)
	if c.Inserted > 0 {
		a.number(ownPrefixBytes, int64(c.Inserted))
	}
}

// money adds what the cache did and what that was worth.
func (a *attributes) money(c *Call) {
	if c.Cause != "" {
		a.text(ownCause, c.Cause)
		a.text(ownCauseOwner, c.Owner)
		a.number(ownMissed, c.Missed)
	}
	if c.Usage.CacheRead.Known {
		a.number(ownSavedTokens, c.Usage.CacheRead.N)
	}
	a.text(ownUnpriced, c.Unpriced)
	if !c.Priced {
		return
	}
	a.float(ownCostUSD, c.Paid.USD())
	a.float(ownPrefixUSD, c.OfPrefix.USD())
	a.float(ownSavedUSD, (c.Uncached - c.Paid).USD())
	a.text(ownPrice, c.Price)
}

// tell adds the points in time of a call.
func (m *encoding) tell(e *Exchange) {
	for _, at := range e.Retries {
		m.event(eventRetry, at)
	}
	if !e.FirstByte.IsZero() {
		m.event(eventFirstByte, e.FirstByte)
	}
	if e.Terminal && !e.LastChunk.IsZero() {
		m.event(eventTerminal, e.LastChunk)
	}
}
