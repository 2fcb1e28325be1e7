package explain

import (
	"fmt"
	"time"
)

// none is the verdict on a request that nothing is said of.
var none = Verdict{Offset: -1, Index: -1}

// blame is a verdict without numbers.
func blame(cause, owner, section, detail string) Verdict {
	return Verdict{Cause: cause, Owner: owner, Section: section, Detail: detail, Offset: -1, Index: -1}
}

func (v Verdict) wasted() Verdict         { v.Waste = true; return v }
func (v Verdict) index(i int) Verdict     { v.Index = i; return v }
func (v Verdict) offset(at int) Verdict   { v.Offset = at; return v }
func (v Verdict) against(l *line) Verdict { v.Against = l.id; return v }

// missing fills in how many tokens could have been read, and how many were not.
func (v Verdict) missing(expected, read int64) Verdict {
	v.Expected, v.Missed = max(0, expected), max(0, expected-read)
	return v
}

// judge says why c read less than the request before it had left.
func (t *Tracker) judge(th *thread, c *call, m match) Verdict {
	if !c.counted() {
		return none
	}
	if v, ok := c.tooSmall(); ok {
		return v
	}
	switch {
	case m.line == nil && m.late:
		return none
	case m.line == nil:
		return t.first(c)
	case m.full():
		return c.continued(m.line)
	}
	return c.changed(m, th.lines[0])
}

// tooSmall: nothing below the minimum is cached, and nobody says so. Where only
// a part of the prompt is marked, its size is estimated.
func (c *call) tooSmall() (Verdict, bool) {
	size, how := c.input, "has"
	if c.read > 0 || c.written > 0 || size == 0 || c.rules.minimum == 0 {
		return none, false
	}
	if c.rules.kind == byMarks && len(c.Marks) > 0 && c.told {
		if size = c.markedSize(); size < c.input {
			how = "to its last mark has about"
		}
	}
	if size >= c.rules.minimum {
		return none, false
	}
	return blame(BelowMinimum, ByClient, "",
		fmt.Sprintf("%s caches from %d tokens on; the prompt %s %d", printable(c.Model), c.rules.minimum, how, size)), true
}

// continued judges a request that only adds to a line.
func (c *call) continued(l *line) Verdict {
	expected := l.left
	if c.input > 0 && expected > c.input {
		// The count is one of several calls in one (server tools), so it tells
		// nothing but that something was there.
		expected = c.input
		if c.read > 0 {
			return none
		}
	}
	if l.guessed && c.read > 0 {
		return none
	}
	if expected == 0 || c.rules.kind == byMarks && len(c.Marks) == 0 && c.read+c.written == 0 {
		return c.nothingLeft(l)
	}
	missed := expected - c.read
	switch {
	case missed <= 0:
		return none
	case missed < c.rules.step:
		return blame(PartialBlock, ByProvider, "", "reads are rounded down to whole steps").missing(expected, c.read).against(l)
	}
	return c.unchanged(l).missing(expected, c.read).against(l)
}

// nothingLeft judges a request that found nothing, since the one before it left
// nothing or it did not ask for anything itself.
func (c *call) nothingLeft(l *line) Verdict {
	if c.read > 0 {
		return none
	}
	if v, ok := c.unmarked(l); ok {
		return v.missing(max(l.left, min(l.input, c.input)), 0).against(l)
	}
	if v, ok := c.ignoredMarks(); ok {
		return v.against(l)
	}
	return blame(Cold, ByClient, "", "the request before left nothing in the cache").against(l)
}

// unchanged names what can be the cause if the request only adds to what the
// one before had: a clock, a mark, a rule of the provider.
func (c *call) unchanged(l *line) Verdict {
	for _, look := range []func(*line) (Verdict, bool){
		c.concurrent, c.expired, c.unmarked, c.outOfReach, c.compactedWithin, c.imageAdded, c.thinkingLeft, c.hiddenChange,
		c.undocumentedChange, c.strippedChange, c.shapeChange,
	} {
		if v, ok := look(l); ok {
			return v
		}
	}
	if v, ok := c.ignoredMarks(); ok {
		return v
	}
	if c.rules.kind == byMarks && len(c.Marks) == 0 {
		return blame(Provider, ByUpstream, SectionMarks, "no mark was sent, yet something was cached: the upstream sets marks of its own")
	}
	return blame(Provider, ByProvider, "", "nothing on our side changed"+c.editsAtProvider())
}

func (c *call) editsAtProvider() string {
	if edits := c.setting("context_management"); edits != "" && edits != "[]" {
		return "; context_management lets the provider rewrite the history"
	}
	return ""
}

func (c *call) concurrent(l *line) (Verdict, bool) {
	if !before(c.Start, l.begun) || before(c.Start, l.start) {
		return none, false
	}
	return blame(ConcurrentCold, ByClient, "", fmt.Sprintf("sent %s before the answer to %s began",
		roundly(l.begun.Sub(c.Start)), printable(l.id))), true
}

func (c *call) expired(l *line) (Verdict, bool) { return c.gone(l, l.start, l.life) }

// gone reports that more time than an entry lives has passed since it was last
// used. Lifetimes count from start to start.
func (c *call) gone(l *line, used time.Time, life time.Duration) (Verdict, bool) {
	if life == 0 || used.IsZero() || c.Start.IsZero() || c.Start.Sub(used) < life {
		return none, false
	}
	detail := fmt.Sprintf("%s from start to start; the lifetime granted is %s", roundly(c.Start.Sub(used)), roundly(life))
	if l.asked > life {
		detail += fmt.Sprintf(", %s were asked for", roundly(l.asked))
	}
	return blame(Expired, ByClient, "", detail), true
}

// roundly writes a duration for people.
func roundly(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return d.Round(time.Minute).String()
}

// changed judges a request that differs from all lines. What it could have read
// is what the request before left, as far as it is as long.
func (c *call) changed(m match, last *line) Verdict {
	expected := max(m.line.left, last.left)
	if c.input > 0 {
		expected = min(expected, c.input)
	}
	if expected == 0 {
		return c.nothingLeft(m.line)
	}
	if c.read >= expected {
		return none
	}
	if m.level == sameLevel {
		if v, ok := c.forked(m); ok {
			return v
		}
		if v, ok := c.concurrent(m.line); ok {
			return v.missing(expected, c.read).against(m.line)
		}
	}
	if v, ok := c.gone(last, last.start, last.surely(c)); ok {
		return v.missing(expected, c.read).against(m.line)
	}
	return c.difference(m).missing(expected, c.read).against(m.line)
}

// forked judges a request that goes back to an earlier end of its line and on
// from there: what lies behind is not in it, so it is not missed.
func (c *call) forked(m match) (Verdict, bool) {
	if !m.line.forks(c, m.index) {
		return none, false
	}
	s, ok := m.line.stoneAt(m.index)
	if !ok {
		return none, false
	}
	expected := s.left
	if c.input > 0 {
		expected = min(expected, c.input)
	}
	if expected-c.read < c.rules.step {
		return none, true
	}
	return c.historyChange(m).missing(expected, c.read).against(m.line), true
}
