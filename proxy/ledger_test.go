package proxy

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// TestI11_LedgersAgreeInTrouble: over conversations of 40 turns in which clients
// leave in mid-stream, connections break, streams end in errors, and requests are
// refused and tried again, each record has the provider's own count in every
// class that the provider could still report. An answer of which that is not all
// has no cost, is said to have none, and is counted; so what the log sums, and
// what it says to be unreported, are together what the provider charged.
//
// An answer that its client left is charged whole: the provider had made it.
func TestI11_LedgersAgreeInTrouble(t *testing.T) {
	for name, talk := range talks() {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, priced)
			for turn := 1; turn <= 40; turn++ {
				b.trouble(talk, turn)
				if r := b.post(talk.path, talk.body(turn, turn%2 == 0), "x-session-id", "s"); r.StatusCode != 200 {
					t.Fatalf("turn %d: status %d", turn, r.StatusCode)
				}
			}
			b.reconcile(name, talk.model)
		})
	}
}

// troubles are what happens before a turn succeeds, by turns. A client leaves
// after so many events; 0 stays. The provider does not hear of it before, so its
// stream stands still there.
var troubles = []struct {
	fault  string
	stream bool
	leaves int
}{
	{},
	{"status=529", false, 0},
	{"stall@1", true, 1},
	{"stall@3", true, 3},
	{"stall@1000", true, 3}, // all of it was sent
	{"cut=rst@300", true, 0},
	{"cut=rst@300", false, 0},
	{"error@3", true, 0},
	{"no-terminal", true, 0},
	{"reset", false, 0},
	{"status=429,retry-after=1", true, 0},
	{"length=+9", false, 0},
}

// trouble is a try that fails, or is given up.
func (b *bench) trouble(talk talk, turn int) {
	b.t.Helper()
	t := troubles[turn%len(troubles)]
	switch header := []string{"x-session-id", "s", "x-provider-fault", t.fault}; {
	case t.fault == "":
	case t.leaves > 0:
		b.leave(talk.path, talk.body(turn, t.stream), t.leaves, header...)
	default:
		b.try(talk.path, talk.body(turn, t.stream), header...)
	}
}

// leave sends a request and hangs up after some events of its answer.
func (b *bench) leave(path, body string, events int, header ...string) {
	b.t.Helper()
	req, err := http.NewRequest("POST", b.url+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("x-api-key", "sk-test-1")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := b.http.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	var got []byte
	for buf := make([]byte, 512); bytes.Count(got, []byte("\n\n")) < events; {
		n, err := resp.Body.Read(buf)
		if got = append(got, buf[:n]...); err != nil {
			b.t.Fatalf("after %q: %v", got, err)
		}
	}
	resp.Body.Close()
	eventually(b.t, "the proxy is done with the client that left", func() bool { return b.srv.inFlight.Load() == 0 })
}

// A reckoning compares the log with the provider's ledger.
type reckoning struct {
	t          *testing.T
	rate       usage.Rate
	query      usage.Query
	logged     usage.Money     // the log's costs
	charged    usage.Money     // what the ledger's counts come to
	unreported usage.Money     // charged for answers that have no cost in the log
	counts     provider.Tokens // the log's
	missing    provider.Tokens // those of the ledger that no record has
	unpriced   int
}

// reconcile finds each answer in both books.
func (b *bench) reconcile(dialect, model string) {
	t := b.t.(*testing.T)
	t.Helper()
	records := map[string]*logsink.Response{}
	for _, r := range b.responses() {
		records[r.UpstreamID] = r
	}
	q := usage.Query{Model: model, At: time.Now()}
	rate, _ := testPrices(t).Find(q)
	sum := reckoning{t: t, rate: rate, query: q}
	var ledger provider.Tokens
	for _, x := range b.up.Received() {
		ledger = ledger.Plus(x.Tokens)
		r := records[fmt.Sprintf("req_%06d", x.ID)]
		if x.Tokens == (provider.Tokens{}) && (r == nil || r.Cost == nil && r.Unpriced == "") {
			continue // refused, or broken off before any answer
		}
		if r == nil {
			t.Fatalf("exchange %d (%s) has no record", x.ID, x.Fault)
		}
		sum.add(&x, r)
	}
	if got := sum.counts.Plus(sum.missing); got != ledger {
		t.Errorf("the log counts %+v and lacks %+v\nthe provider  %+v", sum.counts, sum.missing, ledger)
	}
	if sum.logged+sum.unreported != sum.charged {
		t.Errorf("the log's costs sum to %v, and %v is unreported; the provider charged %v", sum.logged, sum.unreported, sum.charged)
	}
	if sum.unpriced == 0 || sum.unreported == 0 {
		t.Error("every answer was reported: nobody left in time")
	}
	if want := fmt.Sprintf(`preface_unpriced_total{dialect=%q,reason="not_reported"} %d`, dialect, sum.unpriced); !strings.Contains(b.metrics(), want+"\n") {
		t.Errorf("the metrics lack %s", want)
	}
	t.Logf("charged %v: logged %v, unreported %v in %d answers", sum.charged, sum.logged, sum.unreported, sum.unpriced)
}

// add takes in one answer: what its record counts is what the provider counted,
// and what it does not count has no cost.
func (s *reckoning) add(x *provider.Exchange, r *logsink.Response) {
	u := cmp.Or(r.Usage, &logsink.Usage{})
	for _, c := range []struct {
		name         string
		logged       *int64
		ledger       int64
		got, missing *int64
	}{
		{"fresh", u.Fresh, x.Tokens.Fresh, &s.counts.Fresh, &s.missing.Fresh},
		{"read", u.CacheRead, x.Tokens.CacheRead, &s.counts.CacheRead, &s.missing.CacheRead},
		{"write 5m", u.Write5m, x.Tokens.Write5m, &s.counts.Write5m, &s.missing.Write5m},
		{"write 1h", u.Write1h, x.Tokens.Write1h, &s.counts.Write1h, &s.missing.Write1h},
		{"write 30m", cmp.Or(u.Write30m, u.WriteOther), x.Tokens.Write30m, &s.counts.Write30m, &s.missing.Write30m},
		{"output", u.Output, x.Tokens.Output, &s.counts.Output, &s.missing.Output},
	} {
		if c.logged == nil {
			*c.missing += c.ledger
			continue
		}
		*c.got += *c.logged
		if *c.logged != c.ledger {
			s.t.Errorf("exchange %d (%s): the log has %d %s, the provider %d", x.ID, x.Fault, *c.logged, c.name, c.ledger)
		}
	}
	s.price(x, r)
}

func (s *reckoning) price(x *provider.Exchange, r *logsink.Response) {
	t := x.Tokens
	bill := s.rate.Bill(s.query, usage.Usage{
		Fresh: usage.Of(t.Fresh), CacheRead: usage.Of(t.CacheRead), Write5m: usage.Of(t.Write5m), Write1h: usage.Of(t.Write1h),
		Write30m: usage.Of(t.Write30m), Output: usage.Of(t.Output),
	})
	s.charged += bill.Paid
	switch {
	case r.Cost == nil && r.Unpriced == usage.NotReported:
		s.unreported += bill.Paid
		s.unpriced++
	case r.Cost == nil:
		s.t.Errorf("exchange %d (%s) has no cost, for the reason %q", x.ID, x.Fault, r.Unpriced)
	default:
		s.logged += usage.Money(r.Cost.Paid)
		if usage.Money(r.Cost.Paid) != bill.Paid {
			s.t.Errorf("exchange %d (%s) costs %v in the log, %v in the ledger", x.ID, x.Fault, usage.Money(r.Cost.Paid), bill.Paid)
		}
	}
}
