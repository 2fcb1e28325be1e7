package usage

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// table is a small price table; the built-in one is tested where it is loaded.
func table(t rapid.TB) *Prices {
	p, err := NewPrices([]Entry{
		{Models: []string{"claude-a-1"}, Source: "a test", Date: "2026-10-08", Input: "3", Output: "15", Read: "0.30", Write5m: "3.75", Write1h: "6", Tiers: map[string]string{"batch": "0.5"}, Regions: map[string]string{"us": "1.1"}},
		{Models: []string{"gpt-b"}, Source: "a test", Date: "2026-10-08", From: "2026-10-01", Until: "2026-11-30", Input: "2", Output: "10", Read: "0.10", Write30m: "2.50", Write12h: "5", Over: Over{272_000, "2", "1.5"}},
		{Models: []string{"gpt-b"}, Source: "a test", Date: "2026-10-08", From: "2026-12-01", Input: "4", Output: "20", Read: "0.20", Write30m: "5"},
		{Models: []string{"night"}, Source: "a test", Date: "2026-10-08", Input: "0.15", Output: "0.60", Read: "0.003", Peaks: []Peak{{1, 4, true, "2"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var noon = time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)

func bill(t *testing.T, q Query, u Usage) Bill {
	t.Helper()
	r, ok := table(t).Find(q)
	if !ok {
		t.Fatalf("Find(%+v) finds no price", q)
	}
	return r.Bill(q, u)
}

// TestCaseD1: written tokens are charged once. input 3, write 12,304, output
// 550 at Sonnet's prices is 0.0544, not 0.0913.
func TestCaseD1(t *testing.T) {
	b := bill(t, Query{Model: "claude-a-1", At: noon}, Usage{Fresh: Of(3), Write5m: Of(12_304), Output: Of(550)})
	if got := b.Paid.String(); got != "$0.054399" {
		t.Errorf("D1 costs %s, want $0.054399", got)
	}
}

// TestCaseD2: cached tokens are not charged at the input's rate too.
func TestCaseD2(t *testing.T) {
	b := bill(t, Query{Model: "claude-a-1", At: noon}, Usage{Fresh: Of(0), CacheRead: Of(1_000_000), Output: Of(0)})
	if b.Paid.String() != "$0.30" || b.Uncached.String() != "$3.00" {
		t.Errorf("a million tokens read cost %v, and %v uncached, want $0.30 and $3.00", b.Paid, b.Uncached)
	}
}

// TestCaseD12: what was written for an hour costs twice the input, not 1.25 times.
func TestCaseD12(t *testing.T) {
	five := bill(t, Query{Model: "claude-a-1", At: noon}, Usage{Fresh: Of(0), Write5m: Of(1_000_000), Output: Of(0)})
	hour := bill(t, Query{Model: "claude-a-1", At: noon}, Usage{Fresh: Of(0), Write1h: Of(1_000_000), Output: Of(0)})
	if five.Paid.String() != "$3.75" || hour.Paid.String() != "$6.00" {
		t.Errorf("a million tokens written cost %v for 5m and %v for 1h, want $3.75 and $6.00", five.Paid, hour.Paid)
	}
	if five.Uncached >= five.Paid {
		t.Errorf("writing that nobody reads cost %v and uncached %v, want a negative saving", five.Paid, five.Uncached)
	}
}

func TestFindByNameAndDay(t *testing.T) {
	p := table(t)
	end := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		model string
		at    time.Time
		want  string
	}{
		{"claude-a-1", noon, "claude-a-1 of 2026-10-08"}, {"claude-a-1-20251001", noon, "claude-a-1 of 2026-10-08"}, {"claude-a-1@20251001", noon, "claude-a-1 of 2026-10-08"},
		{"claude-a-1-latest", noon, "claude-a-1 of 2026-10-08"}, {"anthropic/claude-a-1", noon, "claude-a-1 of 2026-10-08"}, {"CLAUDE-A-1", noon, "claude-a-1 of 2026-10-08"},
		{"claude-a-12", noon, ""}, {"claude-a", noon, ""}, {"claude-a-1-mini", noon, ""}, {"claude-a-1-20251399", noon, ""}, {"", noon, ""},
		{"gpt-b", end.Add(-time.Nanosecond), "gpt-b of 2026-10-08, from 2026-10-01"}, {"gpt-b", end, "gpt-b of 2026-10-08, from 2026-12-01"},
		{"gpt-b-2026-11-01", end, "gpt-b of 2026-10-08, from 2026-12-01"}, {"gpt-b", time.Date(2026, 9, 30, 23, 59, 59, 0, time.UTC), ""},
	} {
		r, ok := p.Find(Query{Model: c.model, At: c.at})
		if got := r.Label(); ok != (c.want != "") || ok && got != c.want {
			t.Errorf("Find(%q at %v) = %q, %v, want %q", c.model, c.at, got, ok, c.want)
		}
	}
	if _, ok := (*Prices)(nil).Find(Query{Model: "gpt-b", At: noon}); ok {
		t.Error("no table has a price")
	}
}

// TestI11_Unpriced: what has no price is said to have none, and is never 0.
func TestI11_Unpriced(t *testing.T) {
	claude, gpt := Query{Model: "claude-a-1", At: noon}, Query{Model: "gpt-b", At: noon}
	for _, c := range []struct {
		q    Query
		u    Usage
		want string
	}{
		{claude, Usage{}, NotReported},
		{claude, Usage{Fresh: Of(1)}, NotReported},
		{claude, Usage{Unsplit: Of(1), Output: Of(1)}, NotSplit},
		{claude, Usage{Fresh: Of(-1), Output: Of(1)}, Impossible},
		{claude, Usage{Fresh: Of(1), CacheRead: Of(math.MaxInt64), Output: Of(1)}, Impossible},
		{claude, Usage{Fresh: Of(1), Output: Of(1), Reasoning: Of(2)}, Impossible},
		{claude, Usage{Fresh: Of(1), Output: Of(1), Write30m: Of(2)}, UnknownWrites},
		{gpt, Usage{Fresh: Of(1), Output: Of(1), Write1h: Of(2)}, UnknownWrites},
		{Query{Model: "night", At: noon}, Usage{Fresh: Of(1), Output: Of(1), WriteOther: Of(2)}, UnknownWrites},
		{Query{Model: "claude-a-1", At: noon, Tier: "priority"}, Usage{Fresh: Of(1), Output: Of(1)}, UnknownTier},
		{Query{Model: "claude-a-1", At: noon, Region: "eu"}, Usage{Fresh: Of(1), Output: Of(1)}, UnknownTier},
	} {
		if b := bill(t, c.q, c.u); b.Unpriced != c.want || b.Paid != 0 {
			t.Errorf("Bill(%+v, %+v) = %+v, want unpriced %q", c.q, c.u, b, c.want)
		}
	}
}

func TestTerms(t *testing.T) {
	million := Usage{Fresh: Of(1_000_000), Output: Of(1_000_000)}
	for _, c := range []struct {
		q    Query
		u    Usage
		want string
	}{
		{Query{Model: "claude-a-1", At: noon, Tier: "standard", Region: "global"}, million, "$18.00"},
		{Query{Model: "claude-a-1", At: noon, Tier: "batch"}, million, "$9.00"},
		{Query{Model: "claude-a-1", At: noon, Region: "us"}, million, "$19.80"},
		{Query{Model: "gpt-b", At: noon}, Usage{Fresh: Of(272_000), Output: Of(1000)}, "$0.554"},
		{Query{Model: "gpt-b", At: noon}, Usage{Fresh: Of(272_001), Output: Of(1000)}, "$1.103004"},
		{Query{Model: "gpt-b", At: noon}, Usage{Fresh: Of(1), CacheRead: Of(272_000), Output: Of(0)}, "$0.054404"},
		{Query{Model: "gpt-b", At: noon}, Usage{Fresh: Of(0), WriteOther: Of(100_000), Output: Of(0)}, "$0.25"},
		{Query{Model: "gpt-b", At: noon, Lifetime: "12h"}, Usage{Fresh: Of(0), WriteOther: Of(100_000), Output: Of(0)}, "$0.50"},
		{Query{Model: "night", At: time.Date(2026, 11, 3, 0, 59, 59, 0, time.UTC)}, million, "$0.75"},
		{Query{Model: "night", At: time.Date(2026, 11, 3, 1, 0, 0, 0, time.UTC)}, million, "$1.50"},
		{Query{Model: "night", At: time.Date(2026, 11, 3, 4, 0, 0, 0, time.UTC)}, million, "$0.75"},
		{Query{Model: "night", At: time.Date(2026, 11, 1, 1, 0, 0, 0, time.UTC)}, million, "$0.75"}, // a Sunday
	} {
		if b := bill(t, c.q, c.u); b.Unpriced != "" || b.Paid.String() != c.want {
			t.Errorf("Bill(%+v, %+v) = %v %q, want %s", c.q, c.u, b.Paid, b.Unpriced, c.want)
		}
	}
}

// TestI11_ClassesAreDisjoint: a bill is the sum of the bills of its classes.
func TestI11_ClassesAreDisjoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := func(name string) Count { return Of(rapid.Int64Range(0, 20_000).Draw(t, name)) }
		u := Usage{Fresh: n("fresh"), CacheRead: n("read"), Write5m: n("5m"), Write1h: n("1h"), Output: n("output")}
		q := Query{Model: "claude-a-1", At: noon}
		r, _ := table(t).Find(q)
		none := Usage{Fresh: Of(0), Output: Of(0)}
		parts := [5]Usage{none, none, none, none, none}
		parts[0].Fresh, parts[1].CacheRead, parts[2].Write5m, parts[3].Write1h, parts[4].Output = u.Fresh, u.CacheRead, u.Write5m, u.Write1h, u.Output
		var paid, uncached Money
		for _, p := range parts {
			b := r.Bill(q, p)
			paid += b.Paid
			uncached += b.Uncached
		}
		if b := r.Bill(q, u); b.Paid != paid || b.Uncached != uncached {
			t.Errorf("Bill(%+v) = %+v, its classes cost %d and %d", u, b, paid, uncached)
		}
	})
}

// TestPrefixPart: wherever the prompt is cut in three, the parts' costs are that
// of the whole input.
func TestPrefixPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := func(name string) int64 { return rapid.Int64Range(0, 20_000).Draw(t, name) }
		u := Usage{Fresh: Of(n("fresh")), CacheRead: Of(n("read")), Write5m: Of(n("5m")), Write1h: Of(n("1h")), Output: Of(0)}
		q := Query{Model: "claude-a-1", At: noon}
		r, _ := table(t).Find(q)
		input := u.Input().N
		before := rapid.Int64Range(0, input).Draw(t, "before")
		prefix := rapid.Int64Range(0, input-before).Draw(t, "prefix")
		sum := r.Prefix(q, u, 0, before) + r.Prefix(q, u, before, prefix) + r.Prefix(q, u, before+prefix, input)
		if paid := r.Bill(q, u).Paid; sum != paid {
			t.Errorf("the parts of %+v cut at %d and %d cost %d, the whole %d", u, before, before+prefix, sum, paid)
		}
	})
}

func TestLost(t *testing.T) {
	q := Query{Model: "claude-a-1", At: noon}
	r, _ := table(t).Find(q)
	for _, c := range []struct {
		u    Usage
		want string
	}{
		{Usage{Fresh: Of(100_000), Output: Of(1)}, "$0.27"},
		{Usage{Fresh: Of(5), Write5m: Of(100_000), Output: Of(1)}, "$0.345"},
		{Usage{Fresh: Of(5), Write1h: Of(100_000), Write5m: Of(3), Output: Of(1)}, "$0.57"},
		{Usage{}, "$0.00"},
	} {
		if got := r.Lost(q, c.u, 100_000).String(); got != c.want {
			t.Errorf("Lost(100000) of %+v = %s, want %s", c.u, got, c.want)
		}
	}
	for _, missed := range []int64{0, -1, maxPriced + 1} {
		if got := r.Lost(q, Usage{Fresh: Of(100_000), Output: Of(1)}, missed); got != 0 {
			t.Errorf("Lost(%d) = %v, want 0", missed, got)
		}
	}
	unread, _ := NewPrices([]Entry{{Models: []string{"m"}, Source: "s", Date: "2026-10", Input: "1", Output: "2"}})
	r, _ = unread.Find(Query{Model: "m", At: noon})
	if got := r.Lost(Query{Model: "m", At: noon}, Usage{Fresh: Of(100_000), Output: Of(1)}, 100_000); got != 0 {
		t.Errorf("Lost(100000) of a model that has no reads = %v, want 0", got)
	}
}

func TestWrongEntries(t *testing.T) {
	good := Entry{Models: []string{"m"}, Source: "s", Date: "2026-10-08", Input: "1", Output: "2"}
	for name, spoil := range map[string]func(*Entry){
		"no model": func(e *Entry) { e.Models = nil }, "empty model": func(e *Entry) { e.Models = []string{""} },
		"no source": func(e *Entry) { e.Source = "" }, "no date": func(e *Entry) { e.Date = "" }, "bad date": func(e *Entry) { e.Date = "2026-13" }, "no input": func(e *Entry) { e.Input = "" }, "no output": func(e *Entry) { e.Output = "" },
		"negative": func(e *Entry) { e.Read = "-1" }, "no number": func(e *Entry) { e.Read = "cheap" }, "too fine": func(e *Entry) { e.Read = "0.0000001" },
		"huge": func(e *Entry) { e.Input = "12345678901" }, "bad day": func(e *Entry) { e.From = "2026-13-01" },
		"backwards":   func(e *Entry) { e.From, e.Until = "2026-10-08", "2026-10-07" },
		"threshold":   func(e *Entry) { e.Over = Over{-1, "2", "2"} },
		"factor 0":    func(e *Entry) { e.Over = Over{1, "0", "2"} },
		"peak":        func(e *Entry) { e.Peaks = []Peak{{4, 1, false, "2"}} },
		"tier factor": func(e *Entry) { e.Tiers = map[string]string{"batch": "half"} },
	} {
		e := good
		spoil(&e)
		if _, err := NewPrices([]Entry{e}); err == nil {
			t.Errorf("%s: NewPrices takes %+v, want an error", name, e)
		}
	}
	whole := good
	whole.Peaks = []Peak{{0, 24, false, "2"}}
	for _, e := range []Entry{good, whole} {
		if _, err := NewPrices([]Entry{e}); err != nil {
			t.Errorf("NewPrices of %+v = %v, want no error", e, err)
		}
	}
	later := good
	later.From, good.Until = "2026-01-01", "2026-01-01"
	if _, err := NewPrices([]Entry{good, later}); err == nil {
		t.Error("NewPrices takes two prices for one day, want an error")
	}
	good.Until = "2025-12-31"
	if _, err := NewPrices([]Entry{good, later}); err != nil {
		t.Errorf("NewPrices of prices that follow each other = %v, want no error", err)
	}
}

func TestMoneyAsText(t *testing.T) {
	for m, want := range map[Money]string{
		0: "$0.00", 1: "$0.00", perDollar: "$1.00", -perDollar * 3 / 2: "-$1.50", 12_300_000_000: "$0.0123", 499_999: "$0.00", 500_000: "$0.000001",
		-1: "$0.00", 305_300_000_000_000: "$305.30", math.MaxInt64: "$9223372.036855",
	} {
		if got := m.String(); got != want {
			t.Errorf("Money(%d) = %q, want %q", int64(m), got, want)
		}
	}
}
