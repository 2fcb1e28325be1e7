package account

import (
	"cmp"
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// TestInvariant1_SumsDoNotWrap: at its end a sum stays, and the report says so.
func TestInvariant1_SumsDoNotWrap(t *testing.T) {
	s := newSample(t)
	s.freeze(key("s-1"), 1, "one", sampleEnd.Add(-time.Hour))
	for range 3 {
		s.put(made{session: "s-1", ago: time.Hour, answer: logsink.Response{
			Usage: plainUsage(1, 0, 0, 1), Cost: &logsink.Cost{Paid: math.MaxInt64 - 1, Uncached: 1},
			Cause: &logsink.Cause{Name: "cold", Missed: math.MaxInt64, Lost: math.MaxInt64},
		}})
	}
	s.write()
	r := s.read(nil)
	if g := r.Total; g.Paid != math.MaxInt64 || g.Saved >= 0 || g.Lost != math.MaxInt64 || g.Missed < 0 || !r.Full {
		t.Errorf("total = %+v, full %v; want sums at their end, and told so", g, r.Full)
	}
}

// TestI11_ImpossibleCounts: what cannot be true is in no sum of tokens.
func TestI11_ImpossibleCounts(t *testing.T) {
	s := newSample(t)
	for _, u := range []*logsink.Usage{plainUsage(-1, 0, 0, 1), plainUsage(math.MaxInt64, math.MaxInt64, 0, 1), plainUsage(1, 2, 3, 4)} {
		s.put(made{session: "s-1", bare: true, ago: time.Hour, answer: logsink.Response{Usage: u, Unpriced: usage.Impossible}})
	}
	s.put(made{session: "s-1", bare: true, ago: time.Hour, answer: logsink.Response{Usage: plainUsage(1, 2, 3, 4), Unpriced: usage.NoPrice}})
	s.write()
	g := s.read(nil).Total
	if g.Impossible != 3 || g.Answers != 4 || g.Tokens.Input != (Class{6, 1}) || g.Told != 1 || g.ToldInput != 6 {
		t.Errorf("total = %+v, want one answer with 6 tokens of input and 3 impossible ones", g.Sums)
	}
}

// TestInvariant4_NamesAreBounded: clients choose names, and beyond a bound they
// are summed in one row; nothing is lost.
func TestInvariant4_NamesAreBounded(t *testing.T) {
	b := newBook()
	const all = namesApart + 100
	for i := range all {
		x := &exchange{
			asked: asked{model: fmt.Sprintf("m-%05d", i)}, unpriced: usage.NoPrice,
			resp: &logsink.Response{Status: 200, End: logsink.EndComplete, Cause: &logsink.Cause{Name: fmt.Sprint(i)}},
		}
		b.add(x, fmt.Sprint(i))
	}
	r := b.close(&Options{})
	for name, table := range map[string]*Table{"models": &r.Models, "prefixes": &r.Prefixes} {
		if len(table.Rows) != rowsShown || table.Others != 0 || table.Rest.Requests != all-rowsShown {
			t.Errorf("%s: %d rows, %d others with %d requests", name, len(table.Rows), table.Others, table.Rest.Requests)
		}
	}
	if len(b.models.rows) > namesApart || len(r.Causes) > namesApart+1 || len(r.Unpriced) > namesApart+1 {
		t.Errorf("%d models, %d causes, %d without a price are told apart", len(b.models.rows), len(r.Causes), len(r.Unpriced))
	}
	var causes, unpriced int64
	for _, c := range r.Causes {
		causes += c.Requests
	}
	for _, u := range r.Unpriced {
		unpriced += u.Requests
	}
	if causes != all || unpriced != all {
		t.Errorf("%d causes and %d without a price are counted, want %d", causes, unpriced, all)
	}
}

// A top has what sorting everything would begin with.
func TestTop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfDistinct(rapid.Int(), rapid.ID).Draw(t, "all")
		top := top[int]{order: func(a, b *int) int { return cmp.Compare(*b, *a) }}
		for _, x := range all {
			top.offer(x)
		}
		if len(top.list) != min(len(all), topLength) {
			t.Fatalf("it has %d of %d", len(top.list), len(all))
		}
		above := 0
		for i, x := range top.list {
			if i > 0 && top.list[i-1] <= x {
				t.Fatalf("%v is not in order", top.list)
			}
		}
		for _, x := range all {
			if len(top.list) > 0 && x > top.list[len(top.list)-1] {
				above++
			}
		}
		if above >= topLength || len(all) > 0 && above != len(top.list)-1 {
			t.Fatalf("%d are above the last of %v", above, top.list)
		}
	})
}

// TestInvariant1_PartsAreTheWhole: what a prefix cost is divided without a rest,
// and by bytes.
func TestInvariant1_PartsAreTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := usage.Money(rapid.Int64Range(-math.MaxInt64, math.MaxInt64).Draw(t, "whole"))
		var parts []logsink.Contribution
		var all int64
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, math.MaxInt32), 1, 8).Draw(t, "bytes") {
			parts, all = append(parts, logsink.Contribution{Bytes: n}), all+int64(n)
		}
		var sum usage.Money
		for i, m := range divide(whole, parts) {
			sum += m
			if parts[i].Bytes == 0 && m != 0 || m < 0 && whole >= 0 {
				t.Fatalf("%d bytes of %d are %d of %d", parts[i].Bytes, all, m, whole)
			}
		}
		if all > 0 && sum != whole {
			t.Fatalf("the parts are %d, the whole %d", sum, whole)
		}
	})
}

func TestDollars(t *testing.T) {
	f := func(m usage.Money, want string) {
		t.Helper()
		if got := dollars(m); got != want {
			t.Errorf("dollars(%d) = %q, want %q", m, got, want)
		}
	}
	f(0, "$0.00")
	f(-1_500_000_000_000, "-$1.50")
	f(1_234_567*dollar+dollar/8, "$1,234,567.13")
	f(10*dollar-1, "$10.00")
	f(9_999_999*dollar/1_000_000, "$9.999999")
	f(999*dollar, "$999.00")
	f(math.MaxInt64, "$9,223,372.04")
	f(-math.MaxInt64, "-$9,223,372.04")
}
