package explain

import "fmt"

// Names of alarms.
const (
	// AlarmWritesUnread: the cache was written and not read, twice running.
	AlarmWritesUnread = "writes_unread"
	// AlarmPrefixDrift: the inserted prefix is another, in one epoch. It breaks I2.
	AlarmPrefixDrift = "prefix_drift"
	// AlarmUsageMissing: usage was asked for and not reported.
	AlarmUsageMissing = "usage_missing"
	// AlarmMarksNotGranted: a lifetime or a mark was asked for and not granted.
	AlarmMarksNotGranted = "marks_not_granted"
	// AlarmMarksNotAsked: something was written that no mark asked for.
	AlarmMarksNotAsked = "marks_not_asked"
)

// An Alarm is something that an operator should look at.
type Alarm struct {
	Name, Detail    string
	Thread, Request string
}

// alert is what a thread's alarms remember.
type alert struct {
	unread  int // requests running that wrote and did not read
	missing int // requests running without usage
	denied  int // requests running whose marks were not granted
	unasked int // requests running with writes that nobody asked for
	prefix  string
	epoch   int
	seen    bool // prefix and epoch are
}

// alarms are raised at the first request that gives reason, and then each time
// the run of such requests has doubled: an alarm for each of ten thousand
// requests says no more than a dozen.
func (th *thread) alarms(c *call, v *Verdict) []Alarm {
	var out []Alarm
	raise := func(name, detail string) {
		out = append(out, Alarm{name, detail, th.name, c.ID})
	}
	a := &th.alert
	if a.drifted(c) {
		raise(AlarmPrefixDrift, fmt.Sprintf("the prefix was %s and is %s in epoch %d", orNone(a.prefix), orNone(c.Prefix), c.Epoch))
	}
	a.prefix, a.epoch, a.seen = c.Prefix, c.Epoch, true
	if run(&a.missing, c.Complete && c.WantsUsage && !c.Usage.Reported(), 1) {
		raise(AlarmUsageMissing, "usage was asked for and not reported")
	}
	if !c.counted() {
		return out
	}
	if run(&a.unread, c.wroteUnread(v), 2) {
		raise(AlarmWritesUnread, fmt.Sprintf("%d requests running wrote to the cache and read nothing", a.unread))
	}
	if detail := c.denied(); run(&a.denied, detail != "", 1) {
		raise(AlarmMarksNotGranted, detail)
	}
	if run(&a.unasked, c.rules.kind == byMarks && len(c.Marks) == 0 && c.written > 0, 1) {
		raise(AlarmMarksNotAsked, fmt.Sprintf("no mark was sent, yet %d tokens were written: the upstream sets marks of its own", c.written))
	}
	return out
}

// run counts how often something was true running, and reports whether that is
// from, or from doubled.
func run(n *int, is bool, from int) bool {
	if !is {
		*n = 0
		return false
	}
	*n++
	for ; from < *n; from *= 2 {
	}
	return *n == from
}

func (a *alert) drifted(c *call) bool {
	return a.seen && a.epoch == c.Epoch && a.prefix != c.Prefix
}

// wroteUnread: requests that ran beside each other, and those after a pause,
// cannot read.
func (c *call) wroteUnread(v *Verdict) bool {
	return c.read == 0 && c.written > 0 && v.Cause != ConcurrentCold && v.Cause != Expired
}

// denied says what was asked for and not granted. A server tool writes for five
// minutes by itself (facts/providers.md 1.3), so then nothing is known.
func (c *call) denied() string {
	if c.rules.kind != byMarks || len(c.Marks) == 0 || !c.told {
		return ""
	}
	if _, ok := c.tooSmall(); ok {
		return ""
	}
	if c.read+c.written == 0 && c.input > 0 {
		return fmt.Sprintf("%s for %d tokens of %s, and nothing was written", counted(len(c.Marks), "mark"), c.input, printable(c.Model))
	}
	if c.Usage.Write5m.N == 0 || c.Usage.Write1h.N > 0 {
		return ""
	}
	for _, m := range c.Marks {
		if m.TTL != "1h" {
			return ""
		}
	}
	if c.serverTools() {
		return ""
	}
	return fmt.Sprintf("a lifetime of 1h was asked for, and %d tokens were written for 5m", c.Usage.Write5m.N)
}

// serverTools reports whether a tool may run at the provider: its type says so,
// or what the tools are is not known.
func (c *call) serverTools() bool {
	if c.tools == (part{}) {
		return false
	}
	b := c.texts.of(c.tools)
	for _, e := range elementsOf(b) {
		kind, ok := find(membersOf(b, e), "type")
		if ok && string(kind.of(b)) != `"custom"` && string(kind.of(b)) != `"function"` {
			return true
		}
	}
	return b == nil
}
