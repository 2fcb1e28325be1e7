package explain

import (
	"bytes"
	"fmt"
)

// Compare says what of a request cannot be read although the request before it
// was sent as well: the first difference that a cache minds. There are no clocks
// and no counts, so nothing is said about them. was and is are the messages of
// both as written; nil if they are not at hand.
func Compare(before, after *Request, was, is Bodies) Verdict {
	store := newTexts(1 << 40)
	a := store.callOf(before, rulesOf(before.Dialect, before.Model))
	c := store.callOf(after, rulesOf(after.Dialect, after.Model))
	l := (&line{}).branch(&a, 0)
	m := match{line: l, level: l.level(&c)}
	if m.level == sameLevel {
		m.index = l.shared(&c)
	}
	if m.full() {
		return c.harmless(l).against(l)
	}
	v := c.difference(m)
	if m.level == sameLevel && m.index < len(was) && m.index < len(is) {
		v = c.inMessage(v, m.index, was[m.index], is[m.index])
	}
	return v.against(l)
}

// harmless judges a request that only adds to the one before.
func (c *call) harmless(l *line) Verdict {
	for _, look := range []func(*line) (Verdict, bool){
		c.unmarked, c.outOfReach, c.compactedWithin, c.imageAdded, c.thinkingLeft, c.hiddenChange, c.undocumentedChange, c.strippedChange, c.shapeChange,
	} {
		if v, ok := look(l); ok {
			return v
		}
	}
	return none
}

// inMessage says where in an edited message the difference begins.
func (c *call) inMessage(v Verdict, i int, was, is []byte) Verdict {
	d, ok := differInContent(was, is, c.rules.kind)
	if !ok {
		d, ok = differ(was, is, c.rules.kind)
	}
	if !ok {
		return v
	}
	v = v.offset(int(c.Messages[i].At) + d.at)
	if v.Cause == HistoryRewritten && d.kind != "" {
		v.Detail = d.say(fmt.Sprintf("messages[%d]", i))
	}
	return v
}

// differInContent compares two messages block by block: whether a text stands as
// a string or as a block is no difference.
func differInContent(was, is []byte, kind ruleKind) (difference, bool) {
	a, b := blocksOf(was), blocksOf(is)
	for i := range min(len(a), len(b)) {
		p, q := a[i].of(was), b[i].of(is)
		if d, ok := differ(p, q, kind); ok && !sameText(p, q) {
			d.at += b[i].from
			return d, true
		}
	}
	return difference{}, false
}

func sameText(a, b []byte) bool {
	p, ok := textIn(a)
	q, too := textIn(b)
	return ok && too && bytes.Equal(p.of(a), q.of(b))
}

// blocksOf are the blocks of a message's content; a string is one.
func blocksOf(message []byte) []piece {
	content, ok := find(membersOf(message, piece{0, len(message)}), "content")
	if !ok {
		return nil
	}
	if message[content.from] == '[' {
		return valuesIn(message, content.from+1, content.to-1)
	}
	return []piece{content}
}
