package provider

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A question is what a request asks, in any dialect.
type question struct {
	prompt    digest // of the whole prompt
	step      int    // how many messages the user and the tools have sent
	text      string // of the last user message
	results   int    // tool results after it
	tools     []tool
	schema    object // of the answer, nil if it is free text
	maxTokens int64  // of the answer, 0 is no limit
	thinks    bool
	bytes     int // Fault.EventBytes
}

// A tool is one that the request offers.
type tool struct {
	name   string
	custom bool // Responses: takes text, not JSON
	schema object
}

// A reply is what the model says.
type reply struct {
	thinking string
	text     string
	call     *toolCall
	cut      bool // by the limit on output
}

type toolCall struct {
	tool
	arguments []byte // JSON, or text for a custom tool
}

var callTool = regexp.MustCompile(`CALL_TOOL\s+([A-Za-z0-9_.-]+)`)

// reply answers deterministically. If the last user text says CALL_TOOL name,
// once or several times, those of the named tools that are offered are called
// one by one; then, and else, it is a short text.
func (q question) reply() reply {
	r := reply{}
	if q.thinks {
		r.thinking = fmt.Sprintf("This is step %d; the prompt is %s.", q.step, q.name())
	}
	if q.schema != nil {
		r.text = string(canonical(sample(q.schema, 0)))
		return r.limit(q.maxTokens)
	}
	if r.call = q.nextCall(); r.call != nil {
		return r
	}
	// The dash is there for those who cut bytes: it takes three.
	r.text = fmt.Sprintf("Step %d is done. I read prompt %s – and have nothing to add.", q.step, q.name())
	if q.bytes > 0 {
		r.text = strings.Repeat("preface ", q.bytes/8+1)[:q.bytes]
		return r
	}
	return r.limit(q.maxTokens)
}

// name shortens the prompt's digest for the reader of a demo.
func (q question) name() string { return hex.EncodeToString(q.prompt[:4]) }

func (q question) nextCall() *toolCall {
	var calls []tool
	for _, wanted := range callTool.FindAllStringSubmatch(q.text, -1) {
		if i := slices.IndexFunc(q.tools, func(t tool) bool { return t.name == wanted[1] }); i >= 0 {
			calls = append(calls, q.tools[i])
		}
	}
	if q.results >= len(calls) {
		return nil
	}
	t := calls[q.results]
	if t.custom {
		return &toolCall{t, []byte("simulated")}
	}
	return &toolCall{t, canonical(sample(t.schema, 0))}
}

// limit cuts the text to a number of tokens.
func (r reply) limit(most int64) reply {
	room := max(0, (most-textTokens(r.thinking))*tokenBytes)
	if most == 0 || int64(len(r.text)) <= room {
		return r
	}
	for room > 0 && !utf8.RuneStart(r.text[room]) {
		room--
	}
	r.text, r.cut = r.text[:room], true
	return r
}

// output is what the reply costs.
func (r reply) output() int64 {
	n := textTokens(r.thinking) + textTokens(r.text)
	if r.call != nil {
		n += headerTokens + textTokens(r.call.name) + textTokens(string(r.call.arguments))
	}
	return n
}

// maxSample bounds how deep a schema is followed.
const maxSample = 8

// sample makes the smallest value that a JSON schema wants.
func sample(schema object, depth int) any {
	if v, ok := schema["const"]; ok {
		return v
	}
	if l := schema.list("enum"); len(l) > 0 {
		return l[0]
	}
	for _, of := range []string{"anyOf", "oneOf", "allOf"} {
		if l := objects(schema.list(of)); len(l) > 0 && depth < maxSample {
			return sample(l[0], depth+1)
		}
	}
	switch sampleType(schema) {
	case "object":
		return sampleObject(schema, depth)
	case "array":
		return []any{}
	case "integer", "number":
		return 1
	case "boolean":
		return false
	case "null":
		return nil
	}
	return "simulated"
}

func sampleType(schema object) string {
	if l := schema.list("type"); len(l) > 0 {
		s, _ := l[0].(string)
		return s
	}
	if schema.has("properties") || schema == nil {
		return "object"
	}
	return schema.str("type")
}

func sampleObject(schema object, depth int) any {
	out := map[string]any{}
	properties := schema.obj("properties")
	for _, name := range schema.list("required") {
		if s, ok := name.(string); ok && depth < maxSample {
			out[s] = sample(properties.obj(s), depth+1)
		}
	}
	return out
}
