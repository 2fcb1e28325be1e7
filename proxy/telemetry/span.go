package telemetry

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Attributes are gathered in a slice that is used again: spans have copies.
type attributes []attribute.KeyValue

// text adds a string unless it is empty. Strings of clients may be anything, and
// a broken character in one would keep all spans of its batch from being encoded.
func (a *attributes) text(name, s string) {
	if s != "" {
		*a = append(*a, attribute.String(name, clean(s)))
	}
}

func (a *attributes) number(name string, n int64) { *a = append(*a, attribute.Int64(name, n)) }

func (a *attributes) integer(name string, n *int64) {
	if n != nil {
		*a = append(*a, attribute.Int64(name, *n))
	}
}

func (a *attributes) real(name string, f *float64) {
	if f != nil {
		*a = append(*a, attribute.Float64(name, *f))
	}
}

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

// address adds where a server is. port is that of the scheme if it is not told.
func (a *attributes) address(hostport string, secure bool) {
	host, port, err := net.SplitHostPort(hostport)
	n, _ := strconv.ParseInt(port, 10, 32)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if n == 0 {
		if n = 80; secure {
			n = 443
		}
	}
	if host != "" {
		a.text(attrServerAddress, host)
		a.number(attrServerPort, n)
	}
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

// spans makes the spans of an exchange: what the client asked of us, and below it
// what we asked of the provider.
func (p *Pipeline) spans(e *Exchange) {
	t := e.Trace
	if t == nil {
		t = p.begin()
	}
	if !t.flags.IsSampled() {
		return
	}
	server := &finished{kind: trace.SpanKindServer, start: e.Start, end: e.End, failed: e.fault() != "", by: p}
	server.context, server.parent, server.links = t.place()
	server.name = p.served(e)
	server.attributes = slices.Clone(p.scratch)
	if !e.Sent.IsZero() {
		client := &finished{kind: trace.SpanKindClient, start: e.Sent, end: e.End, failed: e.failure() != "", by: p}
		client.context, client.parent = server.context.WithSpanID(t.client), server.context
		client.name = p.asked(e)
		client.attributes = slices.Clone(p.scratch)
		client.tell(e)
		p.queue.OnEnd(client)
	}
	p.queue.OnEnd(server)
}

// served gathers the server span's attributes and returns its name.
func (p *Pipeline) served(e *Exchange) string {
	a := p.scratch[:0]
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
	p.scratch = a
	return name
}

// asked gathers the client span's attributes and returns its name.
func (p *Pipeline) asked(e *Exchange) string {
	a := p.scratch[:0]
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
			p.genAI(&a, e)
		}
		a.session(c)
		a.money(c)
	}
	p.scratch = a
	return name
}

// genAI adds what the GenAI conventions name.
func (p *Pipeline) genAI(a *attributes, e *Exchange) {
	c := e.Call
	a.text(attrOperation, operationChat)
	a.text(attrProvider, c.Provider)
	a.text(attrRequestModel, c.Model)
	if c.Named {
		a.text(attrConversation, c.Session)
	}
	if c.Stream {
		*a = append(*a, attribute.Bool(attrRequestStream, true))
	}
	a.asked(&c.Asked, p.words.latest)
	a.text(attrResponseID, c.ResponseID)
	a.text(attrResponseModel, c.Answerer)
	if reasons := p.finishes(e); reasons != "" {
		*a = append(*a, attribute.StringSlice(attrFinishReasons, []string{clean(reasons)}))
	}
	if c.Stream && !e.FirstChunk.IsZero() {
		*a = append(*a, attribute.Float64(attrFirstChunk, e.FirstChunk.Sub(e.Sent).Seconds()))
	}
	u := &c.Usage
	for _, f := range [...]struct {
		name  string
		known bool
		n     int64
	}{
		{attrInputTokens, u.Input().Known, u.Input().N},
		{attrCacheRead, u.CacheRead.Known, u.CacheRead.N},
		{p.words.cacheWrite, u.Written().Known, u.Written().N},
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

// finishes is why the answer ended. By the new names one that did not end says so.
func (p *Pipeline) finishes(e *Exchange) string {
	if e.Call.StopReason == "" && p.words.latest && e.Answered/100 == 2 && e.Failed {
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
	*a = append(*a,
		attribute.Float64(ownCostUSD, c.Paid.USD()),
		attribute.Float64(ownPrefixUSD, c.OfPrefix.USD()),
		attribute.Float64(ownSavedUSD, (c.Uncached-c.Paid).USD()))
	a.text(ownPrice, c.Price)
}

// tell adds the points in time of a call.
func (f *finished) tell(e *Exchange) {
	f.events = make([]sdktrace.Event, 0, len(e.Retries)+2)
	for _, at := range e.Retries {
		f.event(eventRetry, at)
	}
	if !e.FirstByte.IsZero() {
		f.event(eventFirstByte, e.FirstByte)
	}
	if e.Terminal && !e.LastChunk.IsZero() {
		f.event(eventTerminal, e.LastChunk)
	}
}
