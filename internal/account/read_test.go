package account

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// fill writes a log with one of each: in session s-1 with two prefixes, in s-2
// without one.
func fill(s *sample) (first, second string) {
	first = s.freeze(key("s-1"), 1, "one", sampleEnd.Add(-50*time.Hour))
	second = s.freeze(key("s-1"), 2, "two", sampleEnd.Add(-10*time.Hour))
	opus := "claude-opus-5-5"
	// A write that costs more than it saves, a read that saves, and one that fell short.
	s.put(made{session: "s-1", ago: 49 * time.Hour, model: opus, answer: logsink.Response{
		Usage: plainUsage(10, 0, 1000, 50), Cost: &logsink.Cost{Paid: 30 * dollar, Uncached: 25 * dollar, Prefix: 8 * dollar, Estimated: true},
		Cause: &logsink.Cause{Name: "cold", Owner: "client"},
	}})
	s.put(made{session: "s-1", ago: 48 * time.Hour, model: opus, answer: logsink.Response{
		Usage: plainUsage(20, 1000, 100, 60), Cost: &logsink.Cost{Paid: 10 * dollar, Uncached: 60 * dollar, Prefix: 2 * dollar, Estimated: true},
	}})
	s.put(made{session: "s-1", epoch: 2, ago: 9 * time.Hour, model: opus, answer: logsink.Response{
		Usage: plainUsage(30, 200, 900, 70), Cost: &logsink.Cost{Paid: 40 * dollar, Uncached: 50 * dollar, Prefix: 4*dollar + 1, Estimated: true},
		Cause: &logsink.Cause{Name: "tools_changed", Owner: "client", Section: "tools", Offset: at(77), Index: at(2), Expected: 1100, Missed: 900, Lost: 7 * dollar, Waste: true, Detail: "tools added fetch"},
	}})
	// Without a price: no table entry, nothing reported, recorded before prices.
	s.put(made{session: "s-2", bare: true, ago: 8 * time.Hour, model: "who-knows", answer: logsink.Response{
		Usage: plainUsage(5, 0, 0, 5), Unpriced: usage.NoPrice, Cause: &logsink.Cause{Name: "expired", Owner: "client", Expected: 60, Missed: 50},
	}})
	s.put(made{session: "s-2", bare: true, ago: 8 * time.Hour, model: opus, answer: logsink.Response{Unpriced: usage.NotReported}})
	s.put(made{session: "s-2", bare: true, ago: 8 * time.Hour, model: opus, answer: logsink.Response{Usage: &logsink.Usage{Unsplit: n(1_000_000), Output: n(0)}}})
	s.put(made{session: "s-2", bare: true, ago: 8 * time.Hour, model: opus, answer: logsink.Response{Usage: &logsink.Usage{Fresh: n(1_000_000), Output: n(1_000_000)}}})
	// What is charged nothing, what is no model call, and what has no answer or no request.
	s.put(made{session: "s-2", bare: true, ago: 7 * time.Hour, model: opus, answer: logsink.Response{Status: 529}})
	s.put(made{session: "s-2", bare: true, ago: 7 * time.Hour, model: opus, class: "count"})
	s.put(made{session: "s-2", bare: true, ago: 7 * time.Hour, model: opus, lone: true})
	s.put(made{session: "s-2", bare: true, orphan: true, ago: 7 * time.Hour, answer: logsink.Response{Usage: plainUsage(1, 1, 0, 1), Cost: &logsink.Cost{Paid: dollar, Uncached: dollar}}})
	// Outside of the span.
	s.put(made{session: "s-1", ago: 8 * 24 * time.Hour, model: opus, answer: logsink.Response{Usage: plainUsage(9, 9, 9, 9), Cost: &logsink.Cost{Paid: 99 * dollar, Uncached: dollar}}})
	s.put(made{session: "s-1", ago: -time.Hour, model: opus, answer: logsink.Response{Usage: plainUsage(9, 9, 9, 9), Cost: &logsink.Cost{Paid: 99 * dollar, Uncached: dollar}}})
	s.write()
	return first, second
}

func TestSums(t *testing.T) {
	s := newSample(t)
	fill(s)
	got := s.read(nil).Total.Sums
	want := Sums{
		Requests: 10, Failed: 1, Unanswered: 1, Counts: 1, Answers: 8, Told: 5, Hits: 3, ToldInput: 1010 + 1120 + 1130 + 5 + 2,
		Priced: 4, Unpriced: 4, Paid: 81 * dollar, Uncached: 136 * dollar,
		Prefixed: 3, PrefixTold: 3, Estimated: 3, Prefix: 14*dollar + 1,
		Shortfalls: 3, Missed: 950, Lost: 7 * dollar, Avoidable: 7 * dollar, LostUntold: 1,
		Tokens: Tokens{
			Input: Class{1010 + 1120 + 1130 + 5 + 1_000_000 + 1_000_000 + 2, 7}, Fresh: Class{66 + 1_000_000, 6}, Read: Class{1201, 5}, Write5m: Class{2000, 5},
			Unsplit: Class{1_000_000, 1}, Output: Class{186 + 1_000_000, 7},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("sums differ (-want +got):\n%s", d)
	}
}

// Each table sums the same requests.
func TestTablesAgree(t *testing.T) {
	s := newSample(t)
	first, second := fill(s)
	r := s.read(nil)
	for name, table := range map[string]*Table{"days": &r.Days, "models": &r.Models, "routes": &r.Routes, "prefixes": &r.Prefixes} {
		var sum Sums
		for i := range table.Rows {
			sum.plus(&table.Rows[i].Sums)
		}
		if d := cmp.Diff(r.Total.Sums, sum); d != "" {
			t.Errorf("%s do not add up to the total (-total +sum):\n%s", name, d)
		}
	}
	names := func(t *Table) (list []string) {
		for _, g := range t.Rows {
			list = append(list, fmt.Sprintf("%s %d", g.Name, g.Requests))
		}
		return list
	}
	for _, c := range []struct {
		table *Table
		want  []string
	}{
		{&r.Days, []string{"2026-11-28 2", "2026-11-30 8"}},
		{&r.Models, []string{"claude-opus-5-5 8", " 1", "who-knows 1"}},
		{&r.Routes, []string{"anthropic 9", " 1"}},
		{&r.Prefixes, []string{first + " 2", second + " 1", " 7"}},
	} {
		if d := cmp.Diff(c.want, names(c.table)); d != "" {
			t.Errorf("rows differ (-want +got):\n%s", d)
		}
	}
}

// The second contributor wrote three quarters of both prefixes.
func TestContributorsShareTheCost(t *testing.T) {
	s := newSample(t)
	fill(s)
	want := []Contributor{
		{Name: "workspace", Kind: "http", Versions: 2, Requests: 3, Bytes: 300, Cost: 7*dollar + dollar/2 + 3*dollar + 1},
		{Name: "policy", Kind: "text", Versions: 1, Requests: 3, Bytes: 100, Cost: 2*dollar + dollar/2 + dollar},
	}
	if d := cmp.Diff(want, s.read(nil).Contributors); d != "" {
		t.Errorf("contributors differ (-want +got):\n%s", d)
	}
}

// TestContributorsAreAllOfThePrefix: one whose kind was changed is another, in
// any order of the walk, and what nobody is known to have written is told apart.
func TestContributorsAreAllOfThePrefix(t *testing.T) {
	b := newBook()
	for i, kind := range []string{"text", "file", "http", "skills"} {
		prefix := "p-" + kind
		b.contributors[prefix] = []logsink.Contribution{{Name: "rules", Kind: kind, Bytes: 10 * (i + 1), SHA256: kind}, {Name: "late", Kind: "http", Outcome: "skipped"}}
		b.prefixes.at(prefix).plus(&Sums{Prefixed: 1, Prefix: dollar})
	}
	b.prefixes.at(UnknownPrefix).plus(&Sums{Prefixed: 1, Prefix: 3 * dollar})
	b.prefixes.rest.plus(&Sums{Prefixed: 1, Prefix: 2 * dollar})
	want := []Contributor{
		{Name: "rules", Kind: "file", Versions: 1, Requests: 1, Bytes: 20, Cost: dollar}, {Name: "rules", Kind: "http", Versions: 1, Requests: 1, Bytes: 30, Cost: dollar},
		{Name: "rules", Kind: "skills", Versions: 1, Requests: 1, Bytes: 40, Cost: dollar}, {Name: "rules", Kind: "text", Versions: 1, Requests: 1, Bytes: 10, Cost: dollar},
	}
	r := b.close(&Options{})
	if d := cmp.Diff(want, r.Contributors); d != "" || r.Undivided != 5*dollar {
		t.Errorf("$%v could not be divided, want $5; contributors differ (-want +got):\n%s", r.Undivided.USD(), d)
	}
	if text := written(t, r.WriteMarkdown); !strings.Contains(text, "$5.00 could not be divided") {
		t.Errorf("the report does not say what could not be divided:\n%s", text)
	}
}

// Nothing is told where there is nothing to tell of, neither as 0.
func TestI11_NoPriceIsNoMoney(t *testing.T) {
	s := newSample(t)
	s.put(made{session: "s-1", bare: true, ago: time.Hour, answer: logsink.Response{
		Usage: plainUsage(1, 2, 3, 4), Unpriced: usage.NoPrice, Cause: &logsink.Cause{Name: "tools_changed", Owner: "client", Missed: 7, Waste: true},
	}})
	s.write()
	head, _, _ := strings.Cut(written(t, s.read(nil).WriteMarkdown), "## Tokens")
	_, head, _ = strings.Cut(head, "## What did the opener cost?")
	want := `

**–**

- no request carried one

## What did caching save?

**–**

- no answer has a price
- hit rates: 33.3% of input tokens, 100.0% of requests

## What did misses lose, and why?

**–**

- 1 read fell short by 7 tokens; none of them has a price

`
	if d := cmp.Diff(want, head); d != "" {
		t.Errorf("answers differ (-want +got):\n%s", d)
	}
}

func TestCausesAndMisses(t *testing.T) {
	s := newSample(t)
	fill(s)
	r := s.read(nil)
	want := []Cause{
		{Name: "tools_changed", Owner: "client", Avoidable: true, Requests: 1, Expected: 1100, Missed: 900, Lost: 7 * dollar},
		{Name: "expired", Owner: "client", Requests: 1, Expected: 60, Missed: 50, LostUntold: 1},
		{Name: "cold", Owner: "client", Requests: 1},
	}
	if d := cmp.Diff(want, r.Causes); d != "" {
		t.Errorf("causes differ (-want +got):\n%s", d)
	}
	if len(r.DearestMisses) != 2 {
		t.Fatalf("%d misses, want 2: a cold read misses nothing", len(r.DearestMisses))
	}
	m := r.DearestMisses[0]
	if m.Request != "r000003" || m.Session != "s-1" || m.Epoch != 2 || *m.Cause.Offset != 77 || !m.LostTold || m.Command != "proxy explain s-1" {
		t.Errorf("dearest miss = %+v", m)
	}
	if r.DearestMisses[1].LostTold {
		t.Error("what a miss without a price lost is told as 0")
	}
	d := r.DearestSessions[0]
	if d.Session != "s-1" || d.Paid != 80*dollar || d.Group.Saved != 55*dollar || d.Epochs != 2 || d.Cause != "tools_changed" {
		t.Errorf("dearest session = %+v", d)
	}
}

// TestI11_UnpricedIsNotZero: what has no price is counted by reason and model.
func TestI11_UnpricedIsNotZero(t *testing.T) {
	s := newSample(t)
	fill(s)
	want := []Unpriced{
		{Reason: BeforePrices, Model: "claude-opus-5-5", Requests: 2},
		{Reason: usage.NoPrice, Model: "who-knows", Requests: 1},
		{Reason: usage.NotReported, Model: "claude-opus-5-5", Requests: 1},
	}
	if d := cmp.Diff(want, s.read(nil).Unpriced); d != "" {
		t.Errorf("unpriced differ (-want +got):\n%s", d)
	}
	var b strings.Builder
	r := s.read(nil)
	if err := r.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	for _, g := range r.Models.Rows {
		if g.Name == "who-knows" && (g.Priced != 0 || g.Rates.OfCost != nil) {
			t.Errorf("a model without a price has rates of cost: %+v", g)
		}
	}
	if !strings.Contains(b.String(), "| who-knows | – | – | – | – | – | – | – | 0.0% | 0.0% | 5 | 0 | 0 | 5 | 1 | 0 | 1 |") {
		t.Errorf("a model without a price has money:\n%s", b.String())
	}
}

// What was recorded before prices can be priced now, and is marked so; what can
// not be priced stays without.
func TestPricedNow(t *testing.T) {
	s := newSample(t)
	fill(s)
	prices, err := usage.NewPrices([]usage.Entry{{Models: []string{"claude-opus-5-5"}, Source: "test", Date: "2026-10-08", Input: "5", Output: "25", Read: "0.5", Write5m: "6.25"}})
	if err != nil {
		t.Fatal(err)
	}
	r := s.read(func(o *Options) { o.Prices = prices })
	want := []Unpriced{
		{Reason: usage.NoPrice, Model: "who-knows", Requests: 1},
		{Reason: usage.NotReported, Model: "claude-opus-5-5", Requests: 1},
		{Reason: usage.NotSplit, Model: "claude-opus-5-5", Requests: 1},
	}
	if d := cmp.Diff(want, r.Unpriced); d != "" {
		t.Errorf("unpriced differ (-want +got):\n%s", d)
	}
	if g := r.Total; g.Priced != 5 || g.PricedNow != 1 || g.Paid != 81*dollar+30*dollar || g.Prefix != 14*dollar+1 {
		t.Errorf("total = %+v, want 30 dollars more in one answer priced now", g.Sums)
	}
	var b strings.Builder
	if err := r.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "5 of 8 answers that are charged, 1 of them for this report, by the table that it was given; 3 answers without a price in no sum of money") {
		t.Errorf("what was priced now is not marked:\n%s", b.String()[:1000])
	}
}

// I11: an answer made of several runs of models is priced by each of them.
func TestI11_IterationsArePricedNow(t *testing.T) {
	s := newSample(t)
	s.freeze(key("s-1"), 1, "one", sampleEnd.Add(-time.Hour))
	prices, err := usage.NewPrices([]usage.Entry{
		{Models: []string{"m"}, Source: "test", Date: "2026-10-08", Input: "5", Output: "25", Read: "0.5"},
		{Models: []string{"adviser"}, Source: "test", Date: "2026-10-08", Input: "10", Output: "50"},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.put(made{session: "s-1", ago: time.Hour, model: "m", answer: logsink.Response{
		Usage:      plainUsage(3_000_000, 0, 0, 3_000_000),
		Iterations: []logsink.Iteration{{Usage: plainUsage(1_000_000, 0, 0, 1_000_000)}, {Model: "adviser", Usage: plainUsage(2_000_000, 0, 0, 2_000_000)}},
	}})
	s.write()
	g := s.read(func(o *Options) { o.Prices = prices }).Total
	if g.PricedNow != 1 || g.Paid != (5+25+2*10+2*50)*dollar {
		t.Errorf("total = %+v, want $150 for it", g.Sums)
	}
}

// I11: the prefix's part of what is priced now is not known, and so not 0; what
// was to be expected is no part of what was avoidable.
func TestI11_PartsThatAreNotKnown(t *testing.T) {
	s := newSample(t)
	s.freeze(key("s-1"), 1, "one", sampleEnd.Add(-time.Hour))
	prices, err := usage.NewPrices([]usage.Entry{{Models: []string{"m"}, Source: "test", Date: "2026-10-08", Input: "5", Output: "25"}})
	if err != nil {
		t.Fatal(err)
	}
	s.put(made{session: "s-1", ago: time.Hour, model: "m", answer: logsink.Response{Usage: plainUsage(1, 0, 0, 1), Unpriced: usage.NoPrice}})
	for i, waste := range []bool{true, false} {
		s.put(made{session: "s-1", ago: time.Hour, model: "m", answer: logsink.Response{
			Usage: plainUsage(1, 0, 0, 1), Cost: &logsink.Cost{Paid: 9 * dollar, Uncached: 9 * dollar, Prefix: dollar, Estimated: true},
			Cause: &logsink.Cause{Name: "cold", Owner: "client", Missed: 5, Lost: int64(i+1) * dollar, Waste: waste},
		}})
	}
	s.write()
	g := s.read(func(o *Options) { o.Prices = prices }).Total
	if g.PricedNow != 1 || g.Prefixed != 3 || g.PrefixTold != 2 || g.Prefix != 2*dollar {
		t.Errorf("total = %+v, want two of three prefixes to have a cost that is known", g.Sums)
	}
	if g.Lost != 3*dollar || g.Avoidable != dollar {
		t.Errorf("%v lost, %v of it avoidable; want $3 and $1", g.Lost, g.Avoidable)
	}
}

func TestTenantSelects(t *testing.T) {
	s := newSample(t)
	fill(s)
	for _, tenant := range []string{sampleTenant[:6], sampleTenant} {
		if got := s.read(func(o *Options) { o.Tenant = tenant }).Total.Requests; got != 10 {
			t.Errorf("tenant %s has %d requests, want 10", tenant, got)
		}
	}
	r := s.read(func(o *Options) { o.Tenant = "beef" })
	if r.Total.Requests != 0 || r.Sessions != 0 || len(r.DearestSessions) != 0 {
		t.Errorf("another tenant has %d requests", r.Total.Requests)
	}
}

// A retried request is one; its answers beyond the first are counted by
// themselves, since the log holds one for each request.
func TestAttemptsAreOneRequest(t *testing.T) {
	s := newSample(t)
	s.freeze(key("s-1"), 1, "one", sampleEnd.Add(-time.Hour))
	s.put(made{session: "s-1", ago: time.Hour, lone: true})
	again := *s.recs[0].Request
	again.Attempt = 2
	s.recs = append(s.recs, logsink.Record{Request: &again})
	s.write()
	if g := s.read(nil).Total; g.Requests != 1 || g.Unanswered != 1 {
		t.Errorf("total = %+v, want one request", g.Sums)
	}
}

// Requests that wait for an answer are bounded, and none is lost or counted
// twice for it.
func TestOpenRequestsAreBounded(t *testing.T) {
	w := &walk{ctx: context.Background(), o: &Options{Until: sampleEnd}, book: newBook()}
	s := &sitting{walk: w, info: &logsink.SessionInfo{}, open: map[string]asked{}, causes: causes{}, epochs: map[int]struct{}{}}
	const all = 3 * maxOpen
	for i := range all {
		if err := s.take(logsink.Record{Request: &logsink.Request{ID: fmt.Sprint(i), Time: sampleEnd.Add(-time.Hour)}}); err != nil {
			t.Fatal(err)
		}
		if len(s.open) > maxOpen || len(s.order) > maxOpen {
			t.Fatalf("%d requests are open, %d in order", len(s.open), len(s.order))
		}
		if i%2 == 0 {
			if err := s.take(logsink.Record{Response: &logsink.Response{ID: fmt.Sprint(i)}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
	if g := w.book.total; g.Requests != all || g.Unanswered != all/2 {
		t.Errorf("%d requests, %d without an answer; want %d and %d", g.Requests, g.Unanswered, all, all/2)
	}
}

// A session that is resumed while the log is walked through moves to its
// beginning, which the walk has behind it. Those that are in use and were read
// are not read again.
func TestResumedDuringTheWalk(t *testing.T) {
	s := newSample(t)
	now := time.Now()
	for i := range 3 {
		name := fmt.Sprintf("s-%d", i)
		s.freeze(key(name), 1, "one", now.Add(time.Duration(i-10)*time.Minute))
		s.put(made{session: name, ago: sampleEnd.Sub(now)})
	}
	s.write()
	s.reader = &resuming{s.reader, func() { s.freeze(key("s-0"), 2, "two", now) }}
	r := s.read(func(o *Options) { o.Since, o.Until = now.Add(-time.Hour), now.Add(time.Hour) })
	if r.Sessions != 3 || r.Total.Requests != 3 {
		t.Errorf("%d requests in %d sessions, want 3 in 3", r.Total.Requests, r.Sessions)
	}
}

// resuming is a log in which the last session is resumed when all others were
// read.
type resuming struct {
	logsink.Reader
	resume func()
}

func (r *resuming) Sessions(ctx context.Context, tenant, prefix string, f func(logsink.SessionInfo) bool) error {
	if r.resume == nil {
		return r.Reader.Sessions(ctx, tenant, prefix, f)
	}
	var list []logsink.SessionInfo
	err := r.Reader.Sessions(ctx, tenant, prefix, func(i logsink.SessionInfo) bool { list = append(list, i); return true })
	for _, i := range list[:len(list)-1] {
		f(i)
	}
	r.resume()
	r.resume = nil
	return err
}

func TestReadEndsWithItsContext(t *testing.T) {
	s := newSample(t)
	fill(s)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := Read(ctx, s.reader, Options{Until: sampleEnd}); err == nil {
		t.Errorf("Read of a log with a cancelled context = %+v, want an error", r)
	}
}

// TestSameLogSameBytes holds invariant 3.
func TestSameLogSameBytes(t *testing.T) {
	s := newSample(t)
	fill(s)
	var before string
	for i := range 5 {
		var b strings.Builder
		r := s.read(nil)
		for _, write := range []error{r.WriteMarkdown(&b), r.WriteJSON(&b), r.WriteHTML(&b)} {
			if write != nil {
				t.Fatal(write)
			}
		}
		if i > 0 && b.String() != before {
			t.Fatal("two reports of one log differ")
		}
		before = b.String()
	}
}
