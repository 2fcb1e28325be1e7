package explain

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// billingLine begins the first system block of an agent that Anthropic takes
// out before anything else sees it (facts/providers.md 1.9).
var billingLine = []byte("x-anthropic-billing-header:")

// strippedByProvider reports whether a system block is that line: the first
// block, in the list form.
func strippedByProvider(e []byte, index int, kind ruleKind) bool {
	return kind == byMarks && index == 0 && len(e) > 0 && e[0] == '{' && bytes.Contains(e[:min(len(e), 120)], billingLine)
}

// systemChange says where the system slot differs, and what is volatile there.
func (c *call) systemChange(l *line) Verdict {
	v := blame(SystemChanged, ByClient, SectionSystem, "").wasted()
	was, is := c.texts.of(l.system), c.texts.of(c.system)
	switch {
	case c.system == (part{}):
		v.Detail = "the system prompt is gone"
	case l.system == (part{}):
		v.Detail = "a system prompt appeared"
		v = v.offset(c.System.at(0))
	case was == nil || is == nil:
		v.Detail = "the system prompt changed; its earlier text is not kept"
	default:
		return c.systemText(v, was, is)
	}
	return v
}

func (c *call) systemText(v Verdict, was, is []byte) Verdict {
	a, b := elementsOf(was), elementsOf(is)
	for i := range max(len(a), len(b)) {
		name := fmt.Sprintf("system[%d]", i)
		switch {
		case i >= len(b):
			v.Detail = fmt.Sprintf("%s and what follows it is gone", name)
			return v.index(i)
		case i >= len(a):
			v.Detail = name + " was added"
			return v.index(i).offset(c.System.at(b[i].from))
		case strippedByProvider(a[i].of(was), i, c.rules.kind) && strippedByProvider(b[i].of(is), i, c.rules.kind):
			continue
		}
		d, ok := differ(a[i].of(was), b[i].of(is), c.rules.kind)
		if ok {
			v.Detail = d.say(name)
			return v.index(i).offset(c.System.at(b[i].from + d.at))
		}
	}
	v.Detail = "its blocks stand otherwise"
	return v
}

// strippedChange: the billing line differs. Anthropic itself does not mind, but
// a host that reads it caches nothing behind it.
func (c *call) strippedChange(l *line) (Verdict, bool) {
	if c.rules.kind != byMarks || l.system.key == c.system.key {
		return none, false
	}
	was, is := c.texts.of(l.system), c.texts.of(c.system)
	a, b := elementsOf(was), elementsOf(is)
	if len(a) == 0 || len(b) == 0 || !strippedByProvider(a[0].of(was), 0, byMarks) || !strippedByProvider(b[0].of(is), 0, byMarks) {
		return none, false
	}
	d, ok := differ(a[0].of(was), b[0].of(is), byMarks)
	if !ok {
		return none, false
	}
	detail := d.say("system[0]") + "; set CLAUDE_CODE_ATTRIBUTION_HEADER=0 for a host that does not take this line out"
	return blame(SystemChanged, ByClient, SectionSystem, detail).wasted().index(0).offset(c.System.at(b[0].from + d.at)), true
}

// A difference between two texts.
type difference struct {
	at      int    // the byte of the newer one where it begins
	kind    string // of volatile token
	was, is string // the words in which it is
}

// differ compares two elements as the provider sees them.
func differ(was, is []byte, kind ruleKind) (difference, bool) {
	if bytes.Equal(plain(was, kind), plain(is, kind)) {
		return difference{}, false
	}
	p, textual := textIn(was)
	q, too := textIn(is)
	if textual && too {
		at := differAt(p.of(was), q.of(is))
		d := difference{at: q.from + at}
		d.kind, d.was, d.is = volatile(p.of(was), q.of(is), at)
		return d, true
	}
	a, b := withoutMarks(was), withoutMarks(is)
	at := differAt(a.text, b.text)
	d := difference{at: b.at(at)}
	d.kind, d.was, d.is = volatile(a.text, b.text, at)
	return d, true
}

// textIn finds the text of an element that is nothing else: a string, or a block
// of a type and a text, with or without a mark.
func textIn(e []byte) (piece, bool) {
	if len(e) > 0 && e[0] == '"' {
		return piece{0, len(e)}, true
	}
	members := membersOf(e, piece{0, len(e)})
	text, ok := find(members, "text")
	for _, m := range members {
		if m.name != "text" && m.name != "type" && !isMark(m.name) {
			return piece{}, false
		}
	}
	return text, ok
}

func (d difference) say(where string) string {
	switch {
	case d.was == "" && d.is == "":
		return where + " edited"
	case d.kind == "":
		return fmt.Sprintf("%s edited: %s → %s", where, orNone(d.was), orNone(d.is))
	}
	was, is := printable(d.was), printable(d.is)
	if d.kind == "nonce" || d.kind == "UUID" { // it may be a credential
		was, is = glimpse(d.was), glimpse(d.is)
	}
	return fmt.Sprintf("volatile token in %s: a %s, %s → %s; keep it out of what is cached", where, d.kind, was, is)
}

// A tool is one of a list.
type tool struct {
	name string
	text []byte // without marks
	at   piece
}

func toolsOf(b []byte) []tool {
	var out []tool
	for _, e := range elementsOf(b) {
		members := membersOf(b, e)
		if list, ok := find(members, "tools"); ok && b[list.from] == '[' { // Codex's list as an item
			for _, t := range valuesIn(b, list.from+1, list.to-1) {
				out = append(out, toolAt(b, t))
			}
			continue
		}
		out = append(out, toolAt(b, e))
	}
	return out
}

func toolAt(b []byte, p piece) tool {
	t := tool{text: withoutMarks(p.of(b)).text, at: p}
	members := membersOf(b, p)
	if f, ok := find(members, "function"); ok {
		members = append(membersOf(b, f), members...)
	}
	for _, name := range []string{"name", "server_label", "type"} {
		if v, ok := find(members, name); ok {
			t.name = strings.Trim(string(v.of(b)), `"`)
			return t
		}
	}
	return t
}

// toolsChange says which tools were added, removed, edited or moved.
func (c *call) toolsChange(l *line) Verdict {
	v := blame(ToolsChanged, ByClient, SectionTools, "").wasted()
	was, is := c.texts.of(l.tools), c.texts.of(c.tools)
	if was == nil && l.tools != (part{}) || is == nil && c.tools != (part{}) {
		v.Detail = "the tools changed; their earlier text is not kept"
		return v
	}
	a, b := toolsOf(was), toolsOf(is)
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i].text, b[i].text) {
			v = v.index(i).offset(c.Tools.at(b[i].at.from + editedAt(a[i], b[i], is)))
			break
		}
	}
	switch {
	case v.Index >= 0:
	case len(b) > len(a):
		v = v.index(len(a)).offset(c.Tools.at(b[len(a)].at.from))
	case len(b) > 0:
		v = v.index(len(b)).offset(c.Tools.at(b[len(b)-1].at.to))
	}
	v.Detail = describeTools(a, b)
	return v
}

// editedAt is where in a tool the difference to its own earlier self begins; 0
// if another stood there.
func editedAt(a, b tool, is []byte) int {
	if a.name != b.name {
		return 0
	}
	bare := withoutMarks(b.at.of(is))
	return bare.at(differAt(a.text, bare.text))
}

func describeTools(a, b []tool) string {
	var parts []string
	add := func(what string, names []string) {
		if len(names) > 0 {
			parts = append(parts, what+" "+fewNames(names))
		}
	}
	add("added", namesMissing(b, a))
	add("removed", namesMissing(a, b))
	add("edited", editedTools(a, b))
	if len(parts) == 0 {
		return "tools reordered: " + firstMoved(a, b)
	}
	return "tools " + strings.Join(parts, "; ")
}

func firstMoved(a, b []tool) string {
	for i := range min(len(a), len(b)) {
		if a[i].name != b[i].name {
			return fmt.Sprintf("%s stands where %s stood", orNone(b[i].name), orNone(a[i].name))
		}
	}
	return "tools of one name"
}

// namesMissing are the names in list that other has not, or not as often.
func namesMissing(list, other []tool) []string {
	known := make(map[string]int, len(other))
	for _, t := range other {
		known[t.name]++
	}
	var out []string
	for _, t := range list {
		if known[t.name]--; known[t.name] < 0 {
			out = append(out, t.name)
		}
	}
	return out
}

// byName finds the first tool of each name.
func byName(list []tool) map[string]tool {
	m := make(map[string]tool, len(list))
	for _, t := range slices.Backward(list) {
		m[t.name] = t
	}
	return m
}

// editedTools are those of the same name whose text differs.
func editedTools(a, b []tool) []string {
	earlier := byName(a)
	var out []string
	for _, t := range b {
		was, ok := earlier[t.name]
		if !ok || bytes.Equal(was.text, t.text) {
			continue
		}
		out = append(out, t.name+sameOtherwise(was.text, t.text))
	}
	return out
}

// sameOtherwise says how two texts differ that mean the same.
func sameOtherwise(was, is []byte) string {
	switch {
	case !sameMeaning(was, is):
		return ""
	case len(was) == len(is):
		return " (keys in another order)"
	}
	return " (formatted otherwise)"
}

// fewNames lists names, but not many.
func fewNames(names []string) string {
	const most = 4
	var out []string
	for _, n := range names[:min(most, len(names))] {
		out = append(out, orNone(n))
	}
	s := strings.Join(out, ", ")
	if more := len(names) - most; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}
