package explain

import "fmt"

// forks reports whether c goes back on a line to message k and says something
// else from there: nothing of what was behind it is said again.
func (l *line) forks(c *call, k int) bool {
	if len(c.Messages) > len(l.history) {
		return false
	}
	behind := contents(l.history[k:])
	for i := k; i < len(c.Messages); i++ {
		if behind[contentOf(&c.Messages[i])] > 0 {
			return false
		}
	}
	return true
}

// contents counts how often each message is in a history.
func contents(steps []step) map[uint64]int {
	m := make(map[uint64]int, len(steps))
	for _, s := range steps {
		m[s.content]++
	}
	return m
}

// A rewrite is how a history was changed.
type rewrite int

const (
	edited rewrite = iota
	inserted
	dropped
	reordered
	compacted
	rewound
)

// historyChange says what became of the history from message m.index on.
func (c *call) historyChange(m match) Verdict {
	l, k := m.line, m.index
	steps := make([]step, len(c.Messages))
	for i := range c.Messages {
		steps[i] = stepOf(&c.Messages[i])
	}
	how, n := rewritten(l.history, steps, k)
	v := c.historyVerdict(l.history, steps, k, how, n).index(k)
	if k < len(c.Messages) {
		v = v.offset(int(c.Messages[k].At))
	}
	if l.epoch != c.Epoch && v.Cause == HistoryRewritten {
		v.Detail = "resumed: " + v.Detail
	}
	return v
}

func (c *call) historyVerdict(a, b []step, k int, how rewrite, n int) Verdict {
	inHistory := func(cause, detail string) Verdict { return blame(cause, ByClient, SectionHistory, detail) }
	switch how {
	case compacted:
		return inHistory(HistoryRewritten, fmt.Sprintf("compacted: %d messages became %d", len(a), len(b)))
	case rewound:
		return inHistory(HistoryRewritten, fmt.Sprintf("rewound to message %d and on from there", k))
	case inserted:
		return inHistory(HistoryRewritten, fmt.Sprintf("%s inserted before message %d", counted(n, "message"), k)).wasted()
	case reordered:
		return inHistory(HistoryRewritten, fmt.Sprintf("messages reordered from %d on", k)).wasted()
	case dropped:
		if a[k].holds(HoldsThinking) && !gainsThinking(a, b, k) {
			return inHistory(ThinkingDropped, fmt.Sprintf("the thinking of message %d was dropped", k)).wasted()
		}
		return inHistory(HistoryRewritten, fmt.Sprintf("%s dropped at %d", counted(n, "message"), k)).wasted()
	}
	return editVerdict(a, b, k)
}

// gainsThinking reports whether the same thinking may stand elsewhere.
func gainsThinking(a, b []step, k int) bool { return contents(b[k:])[a[k].content] > 0 }

// editVerdict judges a message that was replaced by another.
func editVerdict(a, b []step, k int) Verdict {
	was, is := a[k], b[k]
	inMessage := func(cause, what string) Verdict {
		return blame(cause, ByClient, SectionHistory, fmt.Sprintf("message %d: %s", k, what)).wasted()
	}
	switch {
	case was.holds(HoldsThinking) && !is.holds(HoldsThinking):
		return inMessage(ThinkingDropped, "its thinking was dropped")
	case was.holds(HoldsImage) && !is.holds(HoldsImage):
		return inMessage(ImageChanged, "an image was removed")
	case !was.holds(HoldsImage) && is.holds(HoldsImage):
		return inMessage(ImageChanged, "an image was added")
	case was.images != is.images:
		return inMessage(ImageChanged, "an image was replaced")
	case was.holds(HoldsToolResult):
		return inMessage(HistoryRewritten, "edited, a tool result")
	case k == 0 && was.role() == User && len(b) > 1:
		return inMessage(HistoryRewritten, "edited, in the opening; agents move reminders and skill lists there when they resume")
	}
	return inMessage(HistoryRewritten, "edited")
}

// counted is "1 message" or "3 messages".
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// rewritten tells how b came of a, which are the same up to k. n is how many
// messages were inserted or dropped.
func rewritten(a, b []step, k int) (how rewrite, n int) {
	old, now := contents(a[k:]), contents(b[k:])
	kept := overlap(a[k:], now)
	// An agent that compacts begins a new history, which is much shorter.
	shrunk := k == 0 && len(b) > 0 && len(a) >= 6 && 2*len(b) < len(a)
	switch {
	case holdsCompaction(b[k:]) && !holdsCompaction(a[k:]):
		return compacted, 0
	case kept == 0 && shrunk:
		return compacted, 0
	case kept == 0 && len(b) <= len(a):
		return rewound, 0
	case kept == 0:
		return edited, 0
	case keptFirst(a[k:], b[k:], now, kept) && kept < len(a)-k:
		return dropped, len(a) - k - kept
	case shrunk:
		return compacted, 0
	case kept < len(a)-k:
		return edited, 0
	case inOrder(a[k:], b[k:]):
		return inserted, insertedBefore(b[k:], old)
	}
	return reordered, 0
}

func holdsCompaction(steps []step) bool {
	for _, s := range steps {
		if s.holds(HoldsCompaction) {
			return true
		}
	}
	return false
}

// overlap counts the messages that another history has too.
func overlap(steps []step, other map[uint64]int) int {
	left, n := make(map[uint64]int, len(other)), 0
	for _, s := range steps {
		if left[s.content] < other[s.content] {
			left[s.content]++
			n++
		}
	}
	return n
}

// keptFirst reports whether b begins with what is kept of a.
func keptFirst(a, b []step, now map[uint64]int, kept int) bool {
	i := 0
	for _, s := range a {
		if now[s.content] == 0 {
			continue
		}
		if i >= len(b) || b[i].content != s.content {
			return false
		}
		i++
	}
	return i == kept
}

// inOrder reports whether all of a is in b in the same order.
func inOrder(a, b []step) bool {
	i := 0
	for _, s := range b {
		if i < len(a) && a[i].content == s.content {
			i++
		}
	}
	return i == len(a)
}

// insertedBefore counts the new messages before the first old one.
func insertedBefore(b []step, old map[uint64]int) int {
	n := 0
	for n < len(b) && old[b[n].content] == 0 {
		n++
	}
	return n
}

// compactedWithin: the new messages stand for those before them, which the
// provider therefore leaves out (facts/providers.md 1.8).
func (c *call) compactedWithin(l *line) (Verdict, bool) {
	for i := len(l.history); i < len(c.Messages) && !c.Continues; i++ {
		if c.Messages[i].Holds&HoldsCompaction != 0 {
			return blame(HistoryRewritten, ByProvider, SectionHistory, fmt.Sprintf("compacted: message %d stands for those before it", i)).
				index(i).offset(int(c.Messages[i].At)), true
		}
	}
	return none, false
}

// imageAdded: the first image, and any other, takes all messages with it, but
// neither tools nor system (facts/providers.md 1.4).
func (c *call) imageAdded(l *line) (Verdict, bool) {
	if c.rules.kind != byMarks {
		return none, false
	}
	for i := len(l.history); i < len(c.Messages) && !c.Continues; i++ {
		if c.Messages[i].Holds&HoldsImage != 0 {
			return blame(ImageChanged, ByClient, SectionHistory, fmt.Sprintf("message %d brought an image, and images anywhere are part of the messages' key", i)).
				index(i).offset(int(c.Messages[i].At)), true
		}
	}
	return none, false
}

// thinkingLeft: older models drop the thinking of earlier turns as soon as the
// user speaks again (facts/providers.md 1.4).
func (c *call) thinkingLeft(l *line) (Verdict, bool) {
	if !c.rules.dropsThinking || c.Continues {
		return none, false
	}
	spoke, spokeBefore, thought := -1, -1, -1
	for i := range c.Messages {
		s := stepOf(&c.Messages[i])
		if s.role() == User && !s.holds(HoldsToolResult) {
			if spoke = i; i < len(l.history) {
				spokeBefore = i
			}
		}
	}
	for i := spokeBefore + 1; i < len(l.history) && thought < 0; i++ {
		if l.history[i].holds(HoldsThinking) {
			thought = i
		}
	}
	if spoke <= spokeBefore || thought < 0 {
		return none, false
	}
	return blame(ThinkingDropped, ByProvider, SectionHistory,
		fmt.Sprintf("the user spoke in message %d, and %s drops the thinking before that, from message %d on", spoke, printable(c.Model), thought)).
		index(thought).offset(int(c.Messages[thought].At)), true
}

// shapeChange: a message means the same and is written otherwise. It is named
// only if nothing else differs, and not where the provider is known to read
// both alike (facts/providers.md 1.1).
func (c *call) shapeChange(l *line) (Verdict, bool) {
	if c.rules.kind == byMarks && c.Dialect == "anthropic" || c.Continues {
		return none, false
	}
	for i := range min(len(l.history), len(c.Messages)) {
		if l.history[i].raw != stepOf(&c.Messages[i]).raw && !marked(l.marks, i) && !marked(c.Marks, i) {
			return blame(HistoryRewritten, ByClient, SectionHistory, fmt.Sprintf("message %d: shape only; it means the same and is written otherwise", i)).
				index(i).offset(int(c.Messages[i].At)).wasted(), true
		}
	}
	return none, false
}

// marked reports whether a message has a mark, which counts as written.
func marked(marks []Mark, message int) bool {
	for _, m := range marks {
		if m.Section == InMessages && m.Index == message {
			return true
		}
	}
	return false
}
