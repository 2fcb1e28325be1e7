package dialect

import (
	"bytes"
	"slices"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// headerDepth is the depth of top-level members other than the messages: a
// tool's or system block's own members with its marks, the type of an output
// format, and metadata.user_id and the like for identity.
const headerDepth = 2

// readParameters collects the top-level members that are parameters: those
// whose name is not in apart, in document order.
func (r *Request) readParameters(root jsonspan.Value, apart []string) {
	for m := root.First(); m.Exists(); m = m.Next() {
		switch {
		case nameIn(m, apart):
		case comparesAnswers(m):
			r.readParameters(m, comparison)
		default:
			r.ParameterSpans = append(r.ParameterSpans, jsonspan.Span{From: m.NameSpan().From, To: m.Span().To})
		}
	}
}

func nameIn(m jsonspan.Value, names []string) bool {
	name := m.Name()
	if bytes.IndexByte(name, '\\') >= 0 {
		return slices.ContainsFunc(names, m.NameIs)
	}
	for _, n := range names {
		if string(name) == n {
			return true
		}
	}
	return false
}

// comparesAnswers reports whether a member is OpenAI's cache options with the
// id of an earlier answer in it, which is another each time. The options beside
// it are then parameters one by one.
func comparesAnswers(m jsonspan.Value) bool {
	return m.NameIs("prompt_cache_options") && m.Get("comparison_response_id").Exists()
}

var comparison = []string{"comparison_response_id"}

// readTools notes one list of tools.
func (r *Request) readTools(tools jsonspan.Value) {
	if !isSet(tools) {
		return
	}
	r.ToolSpans = append(r.ToolSpans, tools.Span())
	r.Tools = r.Tools || tools.Len() > 0
	r.readHeaderMarks(MarkInTools, tools)
}

// tinyOutput is the largest limit on output, in tokens, that no turn of an
// agent would set. Titles are asked for with 40, quota probes with 1.
const tinyOutput = 64

// isTiny reports whether a member limits output to next to nothing. A limit of
// 0 fills a cache before a turn and belongs to that turn's thread.
func isTiny(limit jsonspan.Value) bool {
	n, ok := limit.Int()
	return ok && 0 < n && n <= tinyOutput
}

// isJSONFormat reports whether an output format asks for JSON, with or without
// a schema.
func isJSONFormat(format jsonspan.Value) bool {
	t := format.Get("type")
	return t.Is("json_schema") || t.Is("json_object")
}

// isSet reports whether a member is there and says something: providers take
// null, and an empty string in place of an id, for an absent one.
func isSet(v jsonspan.Value) bool {
	switch v.Kind() {
	case jsonspan.Absent, jsonspan.Null:
		return false
	case jsonspan.String:
		return v.Span().Len() > len(`""`)
	}
	return true
}

// inner is what stands between the quotes of a string, as written; nil if v is
// no string.
func inner(v jsonspan.Value) []byte {
	if v.Kind() != jsonspan.String {
		return nil
	}
	raw := v.Raw()
	return raw[1 : len(raw)-1]
}
