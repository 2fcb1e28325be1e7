package dialect

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
	"github.com/seed-9236c7ca/preface/proxy/internal/sse"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// maxAnswer bounds what is held of one answer: a document, an event that holds
// a whole response, or the bytes of a coded answer.
const maxAnswer = 8 << 20

// maxLabel bounds the strings of a Report: what a provider sends there goes into
// records and metrics.
const maxLabel = 512

// maxTokens is the largest number that every JSON parser reads alike.
const maxTokens = 1 << 53

// documentMeter reads an answer that is one JSON document.
type documentMeter struct {
	read func(root jsonspan.Value, r *Report) // the dialect's; immutable

	body   []byte
	over   bool // body grew over maxAnswer and was let go
	looked int  // length of body when report was made
	report Report
}

func (m *documentMeter) Write(p []byte) {
	if m.over || len(m.body)+len(p) > maxAnswer {
		m.over, m.body = true, nil
		return
	}
	m.body = append(m.body, p...)
}

// Report scans the whole document if bytes came since the last Report.
func (m *documentMeter) Report() Report {
	if m.over {
		return Report{Blind: true}
	}
	if m.looked != len(m.body) {
		m.looked, m.report = len(m.body), Report{}
		read := readJSON(m.body, func(root jsonspan.Value) { m.read(root, &m.report) })
		m.report.Terminal = read || json.Valid(m.body)
	}
	return m.report
}

// countAnswer reads the answer of a count endpoint: such calls are not billed,
// so their numbers are no usage.
func countAnswer(root jsonspan.Value, r *Report) { setError(r, root.Get("error")) }

var docs = sync.Pool{New: func() any { return new(jsonspan.Doc) }}

// readJSON calls f with the document's root, and reports whether it did: not
// if the document is cut, or parsers disagree on it.
func readJSON(data []byte, f func(root jsonspan.Value)) bool {
	doc := docs.Get().(*jsonspan.Doc)
	defer docs.Put(doc)
	defer doc.Reset() // lets go of data
	if doc.Scan(data, answerDepth) != nil {
		return false
	}
	f(doc.Root())
	return true
}

// answerDepth is how far an answer is indexed below its top-level members: as
// deep as the token details lie in each.
func answerDepth(name []byte) int {
	switch string(name) {
	case "message", "response":
		return 3
	case "usage": // of an iteration, what it wrote by lifetime
		return 4
	case "choices", "diagnostics":
		return 2
	case "delta", "error", "incomplete_details", "prompt_cache_diagnostics":
		return 1
	}
	return 0
}

// kindOf is what an event is about: its name, or the type that its data begin
// with, or nothing if neither says so.
func kindOf(ev sse.Event) []byte {
	if len(ev.Name) > 0 {
		return ev.Name
	}
	rest, ok := bytes.CutPrefix(ev.Data, []byte(`{"type":"`))
	end := bytes.IndexByte(rest, '"')
	if !ok || end < 0 {
		return nil
	}
	return rest[:end]
}

// A reading takes counts out of an answer and notes whether one cannot be true.
type reading struct{ odd bool }

// tokens is the count that a member holds. What is no whole number of tokens
// is not known.
func (r *reading) tokens(v jsonspan.Value) usage.Count {
	n, ok := v.Int()
	if ok && (n < 0 || n > maxTokens) {
		ok, r.odd = false, true
	}
	if !ok {
		return usage.Count{}
	}
	return usage.Of(n)
}

// partOf is c, or unknown if it is more than the whole it is said to be of.
func (r *reading) partOf(whole, c usage.Count) usage.Count {
	if c.Known && whole.Known && c.N > whole.N {
		r.odd = true
		return usage.Count{}
	}
	return c
}

// minus is c without d, or unknown if d is more.
func (r *reading) minus(c, d usage.Count) usage.Count {
	return c.Minus(r.partOf(c, d))
}

// setLabel sets dst to a string that says something, cut to maxLabel bytes. A
// scanned document has no broken characters, so only a cut can leave one.
func setLabel(dst *string, v jsonspan.Value) {
	text, _ := v.Text()
	if text == "" {
		return
	}
	if len(text) > maxLabel {
		text = strings.Clone(strings.ToValidUTF8(text[:maxLabel], ""))
	}
	*dst = text
}

// NoDifference is the Verdict that Anthropic gives by a null: nothing differs
// from the request before, or none was named.
const NoDifference = "no_difference"

// setDiagnosis reads Anthropic's verdict. Where its comparison is not done yet,
// it says nothing.
func setDiagnosis(r *Report, d jsonspan.Value) {
	if d.Kind() == jsonspan.Null {
		r.Verdict = NoDifference
		return
	}
	setLabel(&r.Verdict, d.Get("cache_miss_reason").Get("type"))
}

// setComparison reads OpenAI's verdict: the reason of a miss, else its type.
func setComparison(r *Report, d jsonspan.Value) {
	setLabel(&r.Verdict, d.Get("type"))
	setLabel(&r.Verdict, d.Get("reason"))
}

// setError names the kind of an error: its type, else its code, else just that
// it is one. An error that is a string is its own type.
func setError(r *Report, e jsonspan.Value) {
	if e.Kind() != jsonspan.Object && e.Kind() != jsonspan.String {
		return
	}
	r.Error = "error"
	setLabel(&r.Error, e)
	setLabel(&r.Error, e.Get("code"))
	setLabel(&r.Error, e.Get("type"))
}
