package proxy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore"
	"github.com/seed-9236c7ca/preface/proxy/explain"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// testPrices are of the models that the tests ask for.
func testPrices(t testing.TB) *usage.Prices {
	p, err := usage.NewPrices([]usage.Entry{
		{Models: []string{"claude-opus-5-5"}, Source: "a test", Date: "2026-10-08", Input: "4", Output: "20", Read: "0.20", Write5m: "5", Write1h: "8"},
		{Models: []string{"gpt-6-sol"}, Source: "a test", Date: "2026-10-08", Input: "2", Output: "10", Read: "0.20", Write30m: "2.50"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A talk is a conversation that grows by a turn each time, in one dialect.
type talk struct {
	path, model string
	body        func(turn int, stream bool) string
}

// talks are long enough for every provider to cache them.
func talks() map[string]talk {
	system := strings.Repeat("Answer in plain words and say what you do not know. ", 300)
	say := func(turn int, user, model string) string {
		var b strings.Builder
		for i := range turn {
			fmt.Fprintf(&b, user, i)
			if i < turn-1 {
				fmt.Fprintf(&b, model, i)
			}
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	return map[string]talk{
		"anthropic": {"/v1/messages", "claude-opus-5-5", func(turn int, stream bool) string {
			return fmt.Sprintf(`{"model":"claude-opus-5-5","max_tokens":500,"stream":%t,"cache_control":{"type":"ephemeral"},"system":%q,"messages":[%s]}`, stream, system,
				say(turn, `{"role":"user","content":"question %d"},`, `{"role":"assistant","content":"answer %d"},`))
		}},
		"openai-chat": {"/v1/chat/completions", "gpt-6-sol", func(turn int, stream bool) string {
			return fmt.Sprintf(`{"model":"gpt-6-sol","stream":%t,"messages":[{"role":"system","content":%q},%s]}`, stream, system,
				say(turn, `{"role":"user","content":"question %d"},`, `{"role":"assistant","content":"answer %d"},`))
		}},
		"openai-responses": {"/v1/responses", "gpt-6-sol", func(turn int, stream bool) string {
			return fmt.Sprintf(`{"model":"gpt-6-sol","stream":%t,"store":false,"instructions":%q,"input":[%s]}`, stream, system,
				say(turn, `{"role":"user","content":"question %d"},`, `{"role":"assistant","content":"answer %d"},`))
		}},
	}
}

func priced(_ *bench, s *Setup, _ *Deps, _ *prefixstore.Options) { s.Prices = testPrices(nil) }

// TestI11_LedgersAgree: over conversations of 40 turns, streamed and not by
// turns, with refusals between, the log has the provider's counts of tokens, and
// the sum of its costs is what they cost.
func TestI11_LedgersAgree(t *testing.T) {
	for name, talk := range talks() {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, priced)
			for turn := 1; turn <= 40; turn++ {
				if turn%7 == 0 { // the client tries again
					b.try(talk.path, talk.body(turn, false), "x-session-id", "s", "x-provider-fault", "status=529")
				}
				if r := b.post(talk.path, talk.body(turn, turn%2 == 0), "x-session-id", "s"); r.StatusCode != 200 {
					t.Fatalf("turn %d: status %d", turn, r.StatusCode)
				}
			}
			var paid int64
			var got usage.Usage
			for _, r := range b.responses() {
				if r.Cost != nil {
					paid += r.Cost.Paid
					got = plus(got, r.Usage)
				}
			}
			want := b.ledger()
			if got != want {
				t.Errorf("the log counts %+v\nthe provider      %+v", got, want)
			}
			rate, _ := testPrices(t).Find(usage.Query{Model: talk.model, At: time.Now()})
			if bill := rate.Bill(usage.Query{Model: talk.model}, want); bill.Unpriced != "" || int64(bill.Paid) != paid {
				t.Errorf("the log's costs sum to %v, the provider's counts to %v %s", usage.Money(paid), bill.Paid, bill.Unpriced)
			}
		})
	}
}

// ledger sums what the provider charged for.
func (b *bench) ledger() usage.Usage {
	var t provider.Tokens
	for _, x := range b.up.Received() {
		t = t.Plus(x.Tokens)
	}
	return usage.Usage{
		Fresh: usage.Of(t.Fresh), CacheRead: usage.Of(t.CacheRead), Write5m: usage.Of(t.Write5m), Write1h: usage.Of(t.Write1h),
		WriteOther: usage.Of(t.Write30m), Output: usage.Of(t.Output),
	}
}

// plus adds a recorded usage; what was not reported adds nothing.
func plus(u usage.Usage, r *logsink.Usage) usage.Usage {
	for _, c := range []struct {
		to *usage.Count
		n  *int64
	}{{&u.Fresh, r.Fresh}, {&u.CacheRead, r.CacheRead}, {&u.Write5m, r.Write5m}, {&u.Write1h, r.Write1h}, {&u.WriteOther, r.WriteOther}, {&u.Output, r.Output}} {
		c.to.Known = true
		if c.n != nil {
			c.to.N += *c.n
		}
	}
	return u
}

// TestCauseInTheLog: a tool that is added in mid-session is named in the response
// record, with its price; the turn before it is a hit.
func TestCauseInTheLog(t *testing.T) {
	b := newBench(t, priced)
	talk := talks()["anthropic"]
	tool := `"tools":[{"name":"late","description":"comes late","input_schema":{"type":"object"}}],"messages"`
	b.post(talk.path, talk.body(1, false), "x-session-id", "s")
	b.post(talk.path, talk.body(2, false), "x-session-id", "s")
	b.post(talk.path, strings.Replace(talk.body(3, false), `"messages"`, tool, 1), "x-session-id", "s")
	resps := b.responses()
	if c := resps[0].Cause; c == nil || c.Name != explain.Cold || c.Waste {
		t.Errorf("the first turn's cause is %+v, want cold", c)
	}
	if c := resps[1].Cause; c != nil {
		t.Errorf("the second turn's cause is %+v, want none", c)
	}
	c := resps[2].Cause
	if c == nil || c.Name != explain.ToolsChanged || c.Owner != explain.ByClient || c.Missed == 0 || c.Lost <= 0 || c.Against != resps[1].ID {
		t.Errorf("the third turn's cause is %+v, want tools_changed against %s with its price", c, resps[1].ID)
	}
	metrics := b.metrics()
	for _, want := range []string{`preface_cache_shortfalls_total{cause="tools_changed",dialect="anthropic",owner="client"} 1`, `preface_cost_usd_total{dialect="anthropic",kind="paid"} 0.`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %s:\n%s", want, metrics)
		}
	}
	for i, r := range resps {
		if r.Cost == nil || r.Cost.Prefix <= 0 || r.Cost.Prefix >= r.Cost.Paid || !r.Cost.Estimated {
			t.Errorf("turn %d cost %+v, want a part for the prefix", i+1, r.Cost)
		}
	}
}

// TestUnpricedModel: a model that the table does not have is said to have no price.
func TestUnpricedModel(t *testing.T) {
	b := newBench(t, priced)
	b.post("/v1/messages", anthropicTurn, "x-session-id", "s")
	if r := b.responses()[0]; r.Cost != nil || r.Unpriced != usage.NoPrice {
		t.Errorf("the answer of a model without a price has cost %+v, unpriced %q", r.Cost, r.Unpriced)
	}
}

// TestUncharged: an error and a count of tokens cost nothing, so they are neither
// priced nor counted as without a price.
func TestUncharged(t *testing.T) {
	b := newBench(t, priced)
	talk := talks()["anthropic"]
	b.try(talk.path, talk.body(1, false), "x-session-id", "s", "x-provider-fault", "status=529")
	b.post(talk.path, talk.body(1, false), "x-session-id", "s")
	if r := b.post("/v1/messages/count_tokens", talk.body(1, false), "x-session-id", "s"); r.StatusCode != 200 {
		t.Fatalf("counting: status %d", r.StatusCode)
	}
	resps := b.responses()
	if len(resps) != 3 || resps[1].Cost == nil {
		t.Fatalf("%d response records, want 3, the second priced", len(resps))
	}
	for _, i := range []int{0, 2} {
		if r := resps[i]; r.Cost != nil || r.Unpriced != "" || r.Cause != nil {
			t.Errorf("answer %d (status %d) has cost %+v, unpriced %q, cause %+v, want none of them", i, r.Status, r.Cost, r.Unpriced, r.Cause)
		}
	}
}

// TestAccountOff: without it a record has neither.
func TestAccountOff(t *testing.T) {
	b := newBench(t, priced, func(_ *bench, s *Setup, _ *Deps, _ *prefixstore.Options) { s.Config.Usage.Account = Off })
	talk := talks()["anthropic"]
	b.post(talk.path, talk.body(1, false), "x-session-id", "s")
	if r := b.responses()[0]; r.Cost != nil || r.Cause != nil || r.Unpriced != "" || r.Usage == nil {
		t.Errorf("with usage.account off the record is %+v", r)
	}
}

// TestI10_AccountantIsBounded: answers that there is no room for are recorded as
// they are, and counted. A panic costs one record its cost and cause.
func TestI10_AccountantIsBounded(t *testing.T) {
	b := newBench(t)
	a := b.srv.accountant
	a.mu.Lock()
	a.waiting = maxAnswers
	a.mu.Unlock()
	b.post("/v1/messages", anthropicTurn, "x-session-id", "s")
	eventually(t, "the answer is passed over", func() bool { return a.passedOver() == 1 })
	a.mu.Lock()
	a.waiting = 0
	a.mu.Unlock()
	if n := len(b.responses()); n != 1 {
		t.Errorf("%d response records, want the one that was passed over", n)
	}
	a.account(&answer{usage: usage.Usage{CacheRead: usage.Of(1)}, resp: &logsink.Response{ID: "no request", Status: 200}, call: new(explain.Request)})
	if !strings.Contains(b.out.String(), "BUG: panic in accounting") {
		t.Error("a panic in accounting was not logged")
	}
}

// TestReadBody reads what a request on its way reads.
func TestReadBody(t *testing.T) {
	talk := talks()["anthropic"]
	body := []byte(talk.body(3, true))
	r, bodies, err := ReadBody("anthropic", body)
	if err != nil || len(r.Messages) != 5 || len(bodies) != 5 || r.Model != talk.model || len(r.System.Bytes) == 0 {
		t.Fatalf("ReadBody = %+v, %d bodies, %v", r, len(bodies), err)
	}
	for i := range bodies {
		if !json.Valid(bodies[i]) {
			t.Errorf("message %d is %s", i, bodies[i])
		}
	}
	chained := `{"model":"gpt-6-sol","previous_response_id":"resp_1","input":"go on"}`
	if r, _, err := ReadBody("openai-responses", []byte(chained)); err != nil || !r.Continues {
		t.Errorf("ReadBody(%s) = %+v, %v, want one that continues", chained, r, err)
	}
	for name, bad := range map[string]string{"anthropic": `{"messages":1}`, "openai-chat": `{`, "no dialect": `{}`} {
		if _, _, err := ReadBody(name, []byte(bad)); err == nil {
			t.Errorf("ReadBody(%s, %s) takes it", name, bad)
		}
	}
}

// TestI6_CausesStayApart: what is said of one tenant's miss neither rests on
// another's requests nor names one, though both have the same session's name and
// say the same.
func TestI6_CausesStayApart(t *testing.T) {
	b := newBench(t, priced)
	talk := talks()["anthropic"]
	for _, key := range []string{"sk-ant-one", "sk-ant-two"} {
		for turn := 1; turn <= 2; turn++ {
			b.post(talk.path, talk.body(turn, false), "x-session-id", "s", "x-api-key", key)
		}
	}
	resps := b.responses()
	for i, r := range resps {
		if first := i%2 == 0; first != (r.Cause != nil) {
			t.Errorf("answer %d of its tenant has the cause %+v", i%2+1, r.Cause)
		}
		if c := r.Cause; c != nil && (c.Name != explain.Cold || c.Against != "" || c.Missed != 0) {
			t.Errorf("the first answer of a tenant is explained by another's request: %+v", c)
		}
	}
	if resps[0].Tenant == resps[2].Tenant {
		t.Fatal("both callers are one tenant; this shows nothing")
	}
}

// TestI10_WaitingHoldsNoTexts: while an answer is waited for, what is kept of the
// request to explain it has no system prompt and no tools in it; their text is
// there all the same when a change of it is explained.
func TestI10_WaitingHoldsNoTexts(t *testing.T) {
	b := newBench(t, priced)
	talk := talks()["anthropic"]
	body := talk.body(1, false)
	ctx := fakeRequest(t, b, "", "waits")
	ctx.Request.SetBodyStream(strings.NewReader(body), len(body))
	x := b.srv.begin(ctx)
	defer x.finish()
	if err := x.prepare(); err != nil {
		t.Fatal(err)
	}
	call := x.sent.call
	if call.System.Bytes != nil || call.Tools.Bytes != nil || call.Parameters.Bytes != nil || len(call.System.Spans) == 0 {
		t.Errorf("the call that waits for its answer holds %d bytes of system", len(call.System.Bytes))
	}
	b.post(talk.path, body, "x-session-id", "s")
	b.post(talk.path, strings.Replace(talk.body(2, false), "plain words", "2026-12-01 words", 1), "x-session-id", "s")
	c := b.responses()[1].Cause
	if c == nil || c.Name != explain.SystemChanged || !strings.Contains(c.Detail, "2026-12-01") || c.Offset == nil {
		t.Errorf("a date in the system prompt is explained as %+v, want its place and kind", c)
	}
}
