package admin

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/telemetry"
)

var noon = time.Date(2026, 12, 1, 12, 0, 30, 0, time.UTC)

func cost(paid int64) *logsink.Cost { return &logsink.Cost{Paid: paid, Uncached: paid} }

func n(i int64) *int64 { return &i }

func exchangeAt(at time.Time, session, id string, u *logsink.Usage, c *logsink.Cost, cause *logsink.Cause) (*logsink.Request, *logsink.Response) {
	k := logsink.Key{Tenant: "t1", Session: session}
	req := &logsink.Request{V: 1, ID: id, Key: k, Epoch: 1, Thread: "main", Attempt: 1, Dialect: "anthropic", Route: "anthropic", Model: "claude-sonnet-5-5", Class: "turn", Decision: "inject", Time: at.Add(-time.Second)}
	resp := &logsink.Response{V: 1, ID: id, Key: k, Epoch: 1, Thread: "main", Status: 200, End: logsink.EndComplete, Usage: u, Cost: c, Cause: cause, Time: at}
	return req, resp
}

func fixed(at time.Time) *Overview { return newOverview(nil, func() time.Time { return at }) }

// I11: each rate divides by what its name says, what was not told is in none,
// and what was lost is shown as such.
func TestI11_RatesByTheirDenominators(t *testing.T) {
	o := fixed(noon)
	o.Observe(exchangeAt(noon, "a", "r1", &logsink.Usage{Fresh: n(10), CacheRead: n(0), Write5m: n(90), Output: n(5)}, &logsink.Cost{Paid: 130, Uncached: 100}, &logsink.Cause{Name: "cold", Owner: "client", Missed: 90, Lost: 7}))
	s := o.Summary()
	if s.Total.Saved != -30 || *s.Total.Rates.OfCost != -0.3 {
		t.Errorf("Saved = %d, of cost %v; want -30 and -0.3", s.Total.Saved, *s.Total.Rates.OfCost)
	}
	o.Observe(exchangeAt(noon, "a", "r2", &logsink.Usage{Fresh: n(10), CacheRead: n(290), Output: n(5)}, &logsink.Cost{Paid: 70, Uncached: 300, Prefix: 9}, nil))
	o.Observe(exchangeAt(noon, "a", "r3", &logsink.Usage{Unsplit: n(1000), Output: n(5)}, nil, nil))
	o.Observe(exchangeAt(noon, "b", "r4", nil, nil, nil))
	count, resp := exchangeAt(noon, "b", "r5", nil, nil, nil)
	count.Class = "count"
	o.Observe(count, resp)
	s = o.Summary()
	for _, g := range []Group{s.Total, s.Hour, s.Day, s.Minutes[len(s.Minutes)-1].Group, s.Hours[len(s.Hours)-1].Group, s.Models[0].Group} {
		want := Rates{OfInputTokens: share(290, 400), OfRequests: share(1, 2), OfCost: share(200, 400)}
		if d := cmp.Diff(want, g.Rates); d != "" {
			t.Errorf("rates differ (-want +got):\n%s", d)
		}
		if g.Requests != 4 || g.Counts != 1 || g.Unsplit != 1000 || g.Unpriced != 1 || g.Priced != 2 || g.Prefix != 9 || g.Lost != 7 || g.Wasted != 0 {
			t.Errorf("sums = %+v", g.Sums)
		}
		if d := cmp.Diff([]Cause{{"cold", 1, 90, 7}}, g.Causes); d != "" {
			t.Errorf("causes differ (-want +got):\n%s", d)
		}
	}
	if s.Active != 2 || s.Known != 2 || s.Recent[0].Session != "b" || s.Recent[1].Requests != 3 {
		t.Errorf("sessions: %d active, %d known, %+v", s.Active, s.Known, s.Recent)
	}
	if empty := fixed(noon).Summary(); empty.Total.Rates != (Rates{}) {
		t.Errorf("rates of nothing = %+v, want none", empty.Total.Rates)
	}
}

func TestRingForgets(t *testing.T) {
	now := noon
	o := newOverview(nil, func() time.Time { return now })
	cost := &logsink.Cost{Paid: 1, Uncached: 1}
	o.Observe(exchangeAt(noon, "a", "r1", nil, cost, nil))
	now = noon.Add(59 * time.Minute)
	if got := o.Summary(); got.Hour.Requests != 1 || got.Minutes[0].Requests != 1 {
		t.Errorf("59 minutes later: %d in the hour", got.Hour.Requests)
	}
	now = noon.Add(time.Hour)
	o.Observe(exchangeAt(now, "a", "r2", nil, cost, nil))
	o.Observe(exchangeAt(noon, "a", "r3", nil, cost, nil)) // late: its minute has another's place
	if got := o.Summary(); got.Hour.Requests != 1 || got.Total.Requests != 3 || got.Day.Requests != 3 {
		t.Errorf("an hour later: %d in the hour, %d in all", got.Hour.Requests, got.Total.Requests)
	}
}

// I10: whatever clients name, an overview stays as large as it is.
func TestI10_OverviewIsBounded(t *testing.T) {
	o := fixed(noon)
	o.sessions.most = 100
	for i := range 1000 {
		name := fmt.Sprint(i)
		req, resp := exchangeAt(noon, name, name, nil, nil, &logsink.Cause{Name: name, Lost: int64(i) + 1})
		req.Model = name
		o.Observe(req, resp)
		o.Alarm(name, "d", req.Key, name)
	}
	s := o.Summary()
	if s.Known != 100 || len(o.sessions.of) != 100 || s.Recent[0].Session != "999" {
		t.Errorf("%d sessions, the last one %q", s.Known, s.Recent[0].Session)
	}
	if len(s.Models) > modelsKept+1 || len(s.Misses) != missesKept || s.Alarms != alarmsKept || len(o.sessions.want) > wantMost {
		t.Errorf("%d models, %d misses, %d alarms", len(s.Models), len(s.Misses), s.Alarms)
	}
	if s.Misses[0].Cause.Lost != 1000 || s.Misses[missesKept-1].Cause.Lost != 1001-missesKept {
		t.Errorf("misses from %d to %d are not the costliest", s.Misses[0].Cause.Lost, s.Misses[missesKept-1].Cause.Lost)
	}
	if d := cmp.Diff([]Cause{{Name: "other", Requests: 1000, Lost: 500500}}, s.Total.Causes); d != "" {
		t.Errorf("causes differ:\n%s", d)
	}
}

func TestAlarmsThatRepeatAreCounted(t *testing.T) {
	o := fixed(noon)
	k := logsink.Key{Tenant: "t", Session: "s"}
	o.Alarm("writes_without_reads", "2 times", k, "r1")
	o.Alarm("prefix_drift", "", k, "")
	o.Alarm("writes_without_reads", "3 times", k, "r2")
	want := []Alarm{{"writes_without_reads", "3 times", k, "r2", noon, 2}, {"prefix_drift", "", k, "", noon, 1}}
	if d := cmp.Diff(want, o.alarms); d != "" {
		t.Errorf("alarms differ (-want +got):\n%s", d)
	}
}

func TestNilOverviewDoesNothing(t *testing.T) {
	var o *Overview
	o.Observe(nil, nil)
	o.Alarm("", "", logsink.Key{}, "")
	o.Close()
}

func TestPlusAddsEverything(t *testing.T) {
	a := Sums{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, [causeCount]causeSum{1: {1, 2, 3}}}
	b := a
	b.plus(&a)
	want := Sums{2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, [causeCount]causeSum{1: {2, 4, 6}}}
	if d := cmp.Diff(want, b, cmp.AllowUnexported(Sums{}, causeSum{}), cmpopts.EquateEmpty()); d != "" {
		t.Errorf("plus differs (-want +got):\n%s", d)
	}
}

func BenchmarkObserve(b *testing.B) {
	o := fixed(noon)
	var reqs []*logsink.Request
	var resps []*logsink.Response
	for i := range 1024 {
		req, resp := exchangeAt(noon, fmt.Sprintf("0193a8d2-5b1c-7aa0-9d7e-%012d", i), fmt.Sprint(i), &logsink.Usage{Fresh: n(10), CacheRead: n(1000), Output: n(5)}, &logsink.Cost{Paid: 1, Uncached: 2}, &logsink.Cause{Name: "expired", Lost: 3})
		reqs, resps = append(reqs, req), append(resps, resp)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		o.Observe(reqs[i%1024], resps[i%1024])
		i++
	}
}

func TestObserveAllocatesNothing(t *testing.T) {
	o := fixed(noon)
	req, resp := exchangeAt(noon, "s", "r", &logsink.Usage{Fresh: n(10), CacheRead: n(1000)}, &logsink.Cost{Paid: 1}, nil)
	o.Observe(req, resp)
	if got := testing.AllocsPerRun(100, func() { o.Observe(req, resp) }); got != 0 {
		t.Errorf("Observe of a known session allocates %v times, want 0", got)
	}
}

// I11: money of what has no price is not $0, on no page.
func TestI11_NoPriceIsNoMoney(t *testing.T) {
	_, r := openLog(t)
	o := newOverview(r, time.Now)
	at := served(t, Deps{Ready: func() bool { return true }, Reload: func() error { return nil }, Metrics: telemetry.New().Handler(), Log: r, Overview: o, Loopback: true})
	o.Observe(exchangeAt(time.Now(), "a", "r1", &logsink.Usage{Fresh: n(10), CacheRead: n(0), Output: n(5)}, nil, &logsink.Cause{Name: "cold", Owner: "client", Missed: 90}))
	for _, page := range []string{"/", "/sessions", "/prefixes"} {
		_, _, body := browse(t, at+page)
		body, _, _ = strings.Cut(body, "Costliest misses")
		if strings.Contains(body, "$0") {
			t.Errorf("%s shows $0, and nothing has a price", page)
		}
	}
	if s := o.Summary(); s.Recent[0].Priced != 0 {
		t.Errorf("%d requests of the session have a price, want none", s.Recent[0].Priced)
	}
	o.Observe(exchangeAt(time.Now(), "a", "r2", nil, cost(3e12), nil))
	if _, _, body := browse(t, at+"/sessions"); o.Summary().Recent[0].Priced != 1 || !strings.Contains(body, "$3.00") {
		t.Errorf("%d requests of the session have a price, want one, and that shown", o.Summary().Recent[0].Priced)
	}
}
