package cache

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var began = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// A text is a piece of a prompt: what it says, and how many tokens that is.
type text struct {
	says   string
	tokens int64
}

// points are the points after each text.
func points(texts ...text) []Point {
	var out []Point
	so, n := "", int64(0)
	for _, x := range texts {
		so += "\x01" + x.says + "\x02" + strconv.FormatInt(x.tokens, 10)
		n += x.tokens
		out = append(out, Point{n, Scope(so)})
	}
	return out
}

// grains are the points after each text, and those at every multiple of step
// tokens.
func grains(step int64, texts ...text) (ends, steps []Point) {
	var small []text
	var n int64
	last := map[int64]bool{}
	for _, x := range texts {
		for range x.tokens {
			small = append(small, text{x.says, 1})
		}
		n += x.tokens
		last[n] = true
	}
	for _, p := range points(small...) {
		if p.Tokens%step == 0 {
			steps = append(steps, p)
		}
		if last[p.Tokens] {
			ends = append(ends, p)
		}
	}
	return ends, steps
}

// run plans a request and commits it.
func run(c *Prompts, at time.Duration, plan func(Moment) *Plan) Tokens {
	p := plan(c.Arrive(began.Add(at)))
	c.Commit(p)
	return p.Tokens
}

func TestPlanMarks(t *testing.T) {
	c := NewPrompts()
	f := func(what string, at time.Duration, ends []Point, marks []Mark, want Tokens) {
		t.Helper()
		got := run(c, at, func(m Moment) *Plan { return c.PlanMarks(Sum{}, ends, marks, 1024, m) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", what, diff)
		}
	}
	short, long := func(at int) Mark { return Mark{at, Lifetime5m} }, func(at int) Mark { return Mark{at, Lifetime1h} }
	system, q1, a1, q2 := text{"s", 1000}, text{"q1", 500}, text{"a1", 50}, text{"q2", 100}
	f("below the minimum", 0, points(system), []Mark{short(0)}, Tokens{Fresh: 1000})
	f("first", 0, points(system, q1), []Mark{short(1)}, Tokens{Write5m: 1500})
	f("next turn", 0, points(system, q1, a1, q2), []Mark{short(3)}, Tokens{Read: 1500, Write5m: 150})
	f("without marks", 0, points(system, q1, a1, q2), nil, Tokens{Fresh: 1650})
	f("both lifetimes", 0, points(text{"t", 2000}, q1, a1), []Mark{long(0), short(1)}, Tokens{Write1h: 2000, Write5m: 500, Fresh: 50})
	f("just before the end", 5*time.Minute-1, points(system, q1), []Mark{short(1)}, Tokens{Read: 1500})
	f("the other was not used", 5*time.Minute, points(system, q1, a1, q2), []Mark{short(3)}, Tokens{Read: 1500, Write5m: 150})
	f("long ones live", time.Hour-1, points(text{"t", 2000}, q1, a1), []Mark{long(0), short(1)}, Tokens{Read: 2000, Write5m: 500, Fresh: 50})
}

func TestPlanMarksLookBack(t *testing.T) {
	for added, want := range map[int]int64{19: 2000, 20: 0} {
		c := NewPrompts()
		texts := []text{{"a", 2000}}
		run(c, 0, func(m Moment) *Plan { return c.PlanMarks(Sum{}, points(texts...), []Mark{{0, Lifetime5m}}, 512, m) })
		for range added {
			texts = append(texts, text{"b", 10})
		}
		got := run(c, 0, func(m Moment) *Plan {
			return c.PlanMarks(Sum{}, points(texts...), []Mark{{added, Lifetime5m}}, 512, m)
		})
		if got.Read != want {
			t.Errorf("%d blocks behind the last write, %d tokens were read, want %d", added, got.Read, want)
		}
	}
}

// TestUsableOnceTheAnswerBegan: requests that run beside each other both pay.
func TestUsableOnceTheAnswerBegan(t *testing.T) {
	c := NewPrompts()
	plan := func() *Plan {
		return c.PlanMarks(Sum{}, points(text{"s", 2000}), []Mark{{0, Lifetime5m}}, 1024, c.Arrive(began))
	}
	first, second := plan(), plan()
	c.Commit(first)
	late := plan()
	if first.Tokens.Read != 0 || second.Tokens.Read != 0 || late.Tokens.Read != 2000 {
		t.Errorf("read %d, %d and, once the first began, %d; want 0, 0, 2000", first.Tokens.Read, second.Tokens.Read, late.Tokens.Read)
	}
}

// TestLifetimeFromTheStart: a request whose answer takes four minutes to begin
// leaves one minute.
func TestLifetimeFromTheStart(t *testing.T) {
	c := NewPrompts()
	ends, marks := points(text{"s", 2000}), []Mark{{0, Lifetime5m}}
	p := c.PlanMarks(Sum{}, ends, marks, 1024, c.Arrive(began))
	c.Arrive(began.Add(4 * time.Minute))
	c.Commit(p)
	if got := c.PlanMarks(Sum{}, ends, marks, 1024, c.Arrive(began.Add(5*time.Minute))).Tokens.Read; got != 0 {
		t.Errorf("five minutes after the start %d tokens are read, want 0", got)
	}
}

func TestLongAfterShort(t *testing.T) {
	s, l := Mark{0, Lifetime5m}, Mark{0, Lifetime1h}
	for _, test := range []struct {
		marks []Mark
		want  int
	}{{nil, -1}, {[]Mark{l, l, s, s}, -1}, {[]Mark{l, s, l, l}, 2}, {[]Mark{s, l}, 1}} {
		if got := LongAfterShort(test.marks); got != test.want {
			t.Errorf("LongAfterShort(%v) = %d, want %d", test.marks, got, test.want)
		}
	}
}

func TestPlanBoundaries(t *testing.T) {
	c := NewPrompts()
	f := func(what string, at time.Duration, ends []Point, b Boundaries, want Tokens) {
		t.Helper()
		got := run(c, at, func(m Moment) *Plan { return c.PlanBoundaries(Sum{}, ends, b, Lifetime30m, m) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", what, diff)
		}
	}
	dev, q := text{"d", 1000}, func(s string) text { return text{s, 500} }
	implicit := Boundaries{Messages: []int{0, 1}, Developer: 0, Implicit: true}
	f("first", 0, points(dev, q("1")), implicit, Tokens{Write30m: 1500})
	f("next turn", 0, points(dev, q("1"), text{"a", 50}, q("2")), Boundaries{Messages: []int{0, 1, 3}, Developer: 0, Implicit: true}, Tokens{Read: 1500, Write30m: 550})
	f("another session", 0, points(dev, q("x")), implicit, Tokens{Write30m: 1500})
	marked := Boundaries{Explicit: []int{1}, Messages: []int{0, 1, 2}, Developer: 0, Implicit: true}
	f("opener with a breakpoint", 0, points(dev, q("opener"), q("y")), marked, Tokens{Write30m: 2000})
	f("shared opener", 0, points(dev, q("opener"), q("z")), marked, Tokens{Read: 1500, Write30m: 500})
	f("explicit without marks", 0, points(dev, q("1")), Boundaries{Messages: []int{0, 1}, Developer: 0}, Tokens{Fresh: 1500})
	many := points(q("1"), q("2"), q("3"), q("4"), q("5"))
	f("one breakpoint", 0, many, Boundaries{Explicit: []int{4}, Developer: -1}, Tokens{Write30m: 2500})
	f("breakpoints before what is read", 0, many, Boundaries{Explicit: []int{0, 1, 2, 3, 4}, Developer: -1}, Tokens{Read: 2500})
	f("below 1,024", 0, points(text{"short", 1023}), Boundaries{Messages: []int{0}, Developer: -1, Implicit: true}, Tokens{Fresh: 1023})
	f("alive", 30*time.Minute-1, points(dev, q("1")), implicit, Tokens{Read: 1500})
	f("dead", 60*time.Minute, points(dev, q("1")), implicit, Tokens{Write30m: 1500})
}

// TestBoundariesWrites: the implicit boundary takes one of the four writes.
func TestBoundariesWrites(t *testing.T) {
	b := Boundaries{Explicit: []int{0, 1, 2, 3, 4}, Messages: []int{6}, Implicit: true}
	if diff := cmp.Diff([]int{0, 1, 2, 6}, b.writes()); diff != "" {
		t.Errorf("implicit: writes() (-want +got)\n%s", diff)
	}
	b.Implicit = false
	if diff := cmp.Diff([]int{0, 1, 2, 3}, b.writes()); diff != "" {
		t.Errorf("explicit: writes() (-want +got)\n%s", diff)
	}
}

// TestPlanSteps: before GPT-5.6, in steps of 128 and 2,048; and Gemini's minimum.
func TestPlanSteps(t *testing.T) {
	for _, test := range []struct {
		step, minimum, tokens int64
		same, shared          int64 // read of the same prompt, and of one alike for 1,500 tokens
	}{
		{128, 1024, 3000, 2944, 1408},
		{2048, 1024, 3000, 2048, 0},
		{128, 1024, 1000, 0, 0},
		{1, 4096, 3000, 0, 0},
		{1, 2048, 3000, 3000, 0},
		{64, 64, 1600, 1600, 1472},
	} {
		c := NewPrompts()
		read := func(q string) int64 {
			shared := min(1500, test.tokens-10)
			_, steps := grains(test.step, text{"s", shared}, text{q, test.tokens - shared})
			return run(c, 0, func(m Moment) *Plan { return c.PlanSteps(Sum{}, steps, test.tokens, test.minimum, Lifetime24h, m) }).Read
		}
		if first, again, other := read("a"), read("a"), read("b"); first != 0 || again != test.same || other != test.shared {
			t.Errorf("steps of %d from %d: read %d, %d, %d of %d; want 0, %d, %d", test.step, test.minimum, first, again, other, test.tokens, test.same, test.shared)
		}
	}
}

// TestPlanUnits: A+B is read whole by A+B+C; A+C, which shares A with it, misses
// but teaches the cache A, so A+D reads it (facts/providers.md 4).
func TestPlanUnits(t *testing.T) {
	c := NewPrompts()
	a := text{"a", 700} // in 64-token steps: 640
	read := func(texts ...text) int64 {
		ends, steps := grains(unitStep, texts...)
		return run(c, 0, func(m Moment) *Plan { return c.PlanUnits(Sum{}, ends, steps, Lifetime24h, m) }).Read
	}
	if got := read(a, text{"b", 300}); got != 0 {
		t.Errorf("first session: read %d, want 0", got)
	}
	if got := read(a, text{"b", 300}, text{"more", 100}); got != 1000 {
		t.Errorf("next turn: read %d, want 1000", got)
	}
	if got := read(a, text{"c", 300}); got != 0 {
		t.Errorf("second session: read %d, want 0", got)
	}
	if got := read(a, text{"d", 300}); got != 640 {
		t.Errorf("third session: read %d, want 640", got)
	}
	if got := read(text{"tiny", 63}); got != 0 {
		t.Errorf("below a unit: read %d, want 0", got)
	}
}

// TestStore: the unit at the end of an answer is read by the next turn.
func TestStore(t *testing.T) {
	c := NewPrompts()
	q, a := text{"q", 640}, text{"answer", 200}
	ends, steps := grains(unitStep, q)
	m := c.Arrive(began)
	c.Commit(c.PlanUnits(Sum{}, ends, steps, Lifetime24h, m))
	ends, steps = grains(unitStep, q, a, text{"q2", 50})
	c.Store(Sum{}, ends[1].Sum, Lifetime24h, m)
	if got := c.PlanUnits(Sum{}, ends, steps, Lifetime24h, c.Arrive(began)).Tokens.Read; got != 840 {
		t.Errorf("the next turn reads %d tokens, want 840", got)
	}
}

func BenchmarkPlanMarks(b *testing.B) {
	c := NewPrompts()
	ends := points(make([]text, 400)...)
	for i := range ends {
		ends[i].Tokens = int64(i+1) * 300
	}
	marks := []Mark{{10, Lifetime1h}, {20, Lifetime1h}, {380, Lifetime5m}, {399, Lifetime5m}}
	for b.Loop() {
		run(c, 0, func(m Moment) *Plan { return c.PlanMarks(Sum{}, ends, marks, 1024, m) })
	}
}

func BenchmarkPlanUnits(b *testing.B) {
	c := NewPrompts()
	steps := points(make([]text, 1900)...)
	for i := range steps {
		steps[i].Tokens = int64(i+1) * unitStep
	}
	for b.Loop() {
		run(c, 0, func(m Moment) *Plan { return c.PlanUnits(Sum{}, steps, steps, Lifetime24h, m) })
	}
}
