package dialect

import (
	"bytes"
	"slices"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// A memberName is a name that means something to the digester.
type memberName byte

const (
	otherName memberName = iota
	roleName
	typeName
	textName
	contentName // content, or the output of a tool call in Responses
	markName    // a cache mark of any provider
	idName
)

var memberNames = map[string]memberName{
	"role":                    roleName,
	"type":                    typeName,
	"text":                    textName,
	"content":                 contentName,
	"output":                  contentName,
	"cache_control":           markName,
	"prompt_cache_breakpoint": markName,
	"id":                      idName,
}

// nameOf returns which name a member has. It is one look, a switch, where asking
// for each name in turn took a third of the time of a Read.
func nameOf(v jsonspan.Value) memberName {
	name := v.Name()
	switch string(name) {
	case "role":
		return roleName
	case "type":
		return typeName
	case "text":
		return textName
	case "content", "output":
		return contentName
	case "cache_control", "prompt_cache_breakpoint":
		return markName
	case "id":
		return idName
	}
	if mayBeEscaped(name) && bytes.IndexByte(name, '\\') >= 0 {
		return escapedName(v)
	}
	return otherName
}

// mayBeEscaped reports whether a name is as long as the shortest of those above
// is with an escape, and begins like one of them or with the escape.
func mayBeEscaped(name []byte) bool {
	if len(name) < len(`\u0069d`) {
		return false
	}
	switch name[0] {
	case 'r', 't', 'c', 'o', 'p', 'i', '\\':
		return true
	}
	return false
}

// escapedName is nameOf for a name that is written with escapes.
func escapedName(v jsonspan.Value) memberName {
	for text, name := range memberNames {
		if v.NameIs(text) {
			return name
		}
	}
	return otherName
}

// says reports whether v is a string that means one of the words.
func says(v jsonspan.Value, words ...string) bool {
	raw := inner(v)
	for _, w := range words {
		if string(raw) == w {
			return true
		}
	}
	return bytes.IndexByte(raw, '\\') >= 0 && slices.ContainsFunc(words, v.Is)
}

// markCount is 1 for a mark that marks something: null is none.
func markCount(v jsonspan.Value) int {
	if v.Kind() == jsonspan.Null {
		return 0
	}
	return 1
}
