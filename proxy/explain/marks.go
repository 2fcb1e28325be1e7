package explain

import "fmt"

// A place in a prompt, in the order of the wire: section, then element or
// message, then block.
type place struct {
	section      Place
	index, block int
}

func (p place) after(q place) bool {
	switch {
	case p.section != q.section:
		return p.section > q.section
	case p.index != q.index:
		return p.index > q.index
	}
	return p.block > q.block
}

// placeOf is where a mark stands in a history of so many messages; one at the
// top level is at the end.
func placeOf(m Mark, messages []Message) place {
	if m.Section != AtTop {
		return place{m.Section, m.Index, m.Block}
	}
	if len(messages) == 0 {
		return place{InMessages, 0, 0}
	}
	last := len(messages) - 1
	return place{InMessages, last, max(0, int(messages[last].Blocks)-1)}
}

// lastPlace is the last of the marks.
func lastPlace(marks []Mark, messages []Message) (place, bool) {
	var last place
	for i, m := range marks {
		if p := placeOf(m, messages); i == 0 || p.after(last) {
			last = p
		}
	}
	return last, len(marks) > 0
}

// unmarked: a provider that caches by marks got none. It is not the marks if
// something was written all the same.
func (c *call) unmarked(l *line) (Verdict, bool) {
	explicit := c.rules.kind == byBoundaries && c.setting("prompt_cache_options.mode") == "explicit"
	if len(c.Marks) > 0 || c.written > 0 || c.rules.kind != byMarks && !explicit {
		return none, false
	}
	if c.rules.kind == byMarks && len(l.marks) == 0 && l.left > 0 {
		return none, false // the upstream marks
	}
	detail := "no breakpoint, for a provider that needs one"
	if n := len(l.marks); n > 0 {
		detail += "; the request before had " + counted(n, "mark")
	}
	return blame(NoMark, ByClient, SectionMarks, detail).wasted(), true
}

// ignoredMarks: marks were sent for a prompt that is large enough, and nothing
// was read or written.
func (c *call) ignoredMarks() (Verdict, bool) {
	if c.rules.kind != byMarks || len(c.Marks) == 0 || !c.told || c.read+c.written > 0 || c.input == 0 {
		return none, false
	}
	return blame(Provider, ByUpstream, SectionMarks, fmt.Sprintf("%s for %d tokens, and nothing was written: "+
		"%s may not cache, or the upstream takes marks out", counted(len(c.Marks), "mark"), c.input, printable(c.Model))), true
}

// outOfReach: what the line left is where no mark of c looks.
func (c *call) outOfReach(l *line) (Verdict, bool) {
	if c.Continues {
		return none, false
	}
	switch c.rules.kind {
	case byMarks:
		return c.beyondMarks(l)
	case byBoundaries:
		return c.beyondBoundaries(l)
	}
	return none, false
}

// beyondMarks: each mark is looked back from over 20 blocks, itself included
// (facts/providers.md 1.3).
func (c *call) beyondMarks(l *line) (Verdict, bool) {
	end := min(len(l.history), len(c.Messages))
	wrote, ok := lastPlace(l.marks, c.Messages[:end])
	if !ok {
		return none, false
	}
	nearest, behind := -1, false
	for _, m := range c.Marks {
		p := placeOf(m, c.Messages)
		if wrote.after(p) {
			continue
		}
		if d := c.blocksBetween(wrote, p); !behind || d < nearest {
			nearest, behind = d, true
		}
	}
	v := blame("", ByClient, SectionMarks, "").wasted()
	if wrote.section == InMessages {
		v = v.index(wrote.index)
	}
	switch {
	case !behind:
		v.Cause, v.Detail = MarkMoved, "no mark stands at or behind "+c.describe(wrote)+", where the request before left off"
	case nearest >= lookBack:
		v.Cause = LookbackExceeded
		v.Detail = fmt.Sprintf("%d blocks lie between %s, where the request before left off, and the next mark; %d are looked at", nearest, c.describe(wrote), lookBack)
	default:
		return none, false
	}
	return v, true
}

func (c *call) describe(p place) string {
	switch p.section {
	case InTools:
		return fmt.Sprintf("tool %d", p.index)
	case InSystem:
		return fmt.Sprintf("system[%d]", p.index)
	}
	return fmt.Sprintf("block %d of message %d", p.block, p.index)
}

// blocksBetween is how many blocks after p the later place q is. How many the
// header has is not known: it counts as none behind p.
func (c *call) blocksBetween(p, q place) int {
	if p.section != InMessages {
		if q.section != InMessages {
			return max(0, q.index-p.index)
		}
		return c.blocksBefore(q) + 1
	}
	return c.blocksBefore(q) - c.blocksBefore(p)
}

func (c *call) blocksBefore(p place) int {
	n := p.block
	for i := 0; i < p.index && i < len(c.Messages); i++ {
		n += int(c.Messages[i].Blocks)
	}
	return n
}

// beyondBoundaries: an entry is looked for at boundaries of this request only:
// explicit ones, and the latest endings of messages (facts/providers.md 2.4).
func (c *call) beyondBoundaries(l *line) (Verdict, bool) {
	v := blame(MarkMoved, ByClient, SectionMarks, "").wasted()
	if c.setting("prompt_cache_options.mode") == "explicit" {
		wrote, ok := lastPlace(l.marks, c.Messages)
		if !ok || hasMarkAt(c.Marks, wrote, c.Messages) {
			return none, false
		}
		v.Detail = "no breakpoint at " + c.describe(wrote) + ", where the request before left one"
		return v, true
	}
	end := lastEnding(c.Messages[:min(len(l.history), len(c.Messages))])
	if end < 0 {
		return none, false
	}
	if c.Messages[end].Role == Tool && end+1 < len(c.Messages) && c.Messages[end+1].Role == Tool {
		v.Detail = fmt.Sprintf("message %d was the last of a group of tool results, and now is not: it ends at no boundary", end)
		return v.index(end), true
	}
	if n := endings(c.Messages[end+1:]); n > endingsBack {
		v.Cause = LookbackExceeded
		v.Detail = fmt.Sprintf("%d messages that end at a boundary were added in one request; %d are looked at", n, endingsBack)
		return v.index(end), true
	}
	return none, false
}

func hasMarkAt(marks []Mark, p place, messages []Message) bool {
	for _, m := range marks {
		if placeOf(m, messages) == p {
			return true
		}
	}
	return false
}

// ends reports whether a message ends at a boundary: the user's, and the last
// of a group of tool results.
func ends(messages []Message, i int) bool {
	switch messages[i].Role {
	case User:
		return true
	case Tool:
		return i+1 == len(messages) || messages[i+1].Role != Tool
	}
	return false
}

func endings(messages []Message) int {
	n := 0
	for i := range messages {
		if ends(messages, i) {
			n++
		}
	}
	return n
}

func lastEnding(messages []Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if ends(messages, i) {
			return i
		}
	}
	return -1
}

// markedSize estimates how many tokens end at the last mark, by bytes.
func (c *call) markedSize() int64 {
	last, ok := lastPlace(c.Marks, c.Messages)
	if !ok {
		return 0
	}
	tools, known := c.sizeOf(&c.Tools, c.tools)
	system, too := c.sizeOf(&c.System, c.system)
	if !known || !too {
		return c.input
	}
	before, all := tools, tools+system+c.PrefixBytes
	if last.section == InSystem {
		before += system
	}
	if last.section == InMessages {
		before = all
	}
	for i, m := range c.Messages {
		all += int(m.Size)
		if last.section == InMessages && i <= last.index {
			before += int(m.Size)
		}
	}
	if all == 0 {
		return c.input
	}
	return int64(float64(c.input) * float64(before) / float64(all))
}

// sizeOf is the size of a section in bytes, if it is known.
func (c *call) sizeOf(s *Section, p part) (int, bool) {
	if s.Bytes != nil || p == (part{}) {
		return len(s.Bytes), true
	}
	b := c.texts.of(p)
	return len(b), b != nil
}
