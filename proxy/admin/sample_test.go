package admin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
)

// A sample is a log in which there is something to see: made up, and the same
// each time but for the clock.
type sample struct {
	t    testing.TB
	log  logsink.Log
	rand *rand.Rand
	now  time.Time
	recs []logsink.Record
	blob []logsink.Blob
	n    int // ids that were given
}

const sampleTenant = "3f2c9a7b5d1e4f608c7a9b3d2e1f4a5b"

// openLog opens a log in a folder of the test.
func openLog(t testing.TB) (logsink.Log, logsink.Reader) {
	t.Helper()
	c := logsink.DefaultConfig()
	c.Path = filepath.Join(t.TempDir(), "preface.db")
	l, err := logsink.Open(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := logsink.OpenReader(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l, r
}

// heroSession has everything in it that a session can have.
const heroSession = "nightly-refactor-42"

// fillSample writes the sample and returns an overview that has read it.
func fillSample(t testing.TB) (*Overview, logsink.Reader) {
	l, r := openLog(t)
	s := &sample{t: t, log: l, rand: rand.New(rand.NewPCG(1, 2)), now: time.Now().UTC()}
	s.hero()
	for i := range 46 {
		s.plain(i)
	}
	s.flush()
	o := newOverview(r, time.Now)
	o.began = o.began.Add(time.Second) // all of the sample is before
	o.past.Began = o.began
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	recent, err := o.list(ctx)
	if err == nil {
		for _, k := range recent {
			if err = o.readSession(ctx, k); err != nil {
				break
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	o.past.Of, o.past.Done = len(recent), true
	k := logsink.Key{Tenant: sampleTenant, Session: heroSession}
	o.Alarm("writes_without_reads", "4 requests running wrote 18,240 tokens and read none", k, "req-hero-0041")
	o.Alarm("lifetime_not_granted", "1h was asked for, 5m was written", logsink.Key{Tenant: sampleTenant, Session: "review-bot-7"}, "")
	return o, r
}

var sampleTexts = []string{
	"# House rules\n\n- Run the tests before you say that something works.\n- Never touch the billing tables.\n- Write commit messages in the imperative.\n",
	"# House rules\n\n- Run the tests and the linter before you say that something works.\n- Never touch the billing tables.\n- Write commit messages in the imperative.\n- Ask before you add a dependency.\n",
	"# House rules\n\n- Run the tests and the linter before you say that something works.\n- Never touch the billing or the ledger tables.\n- Write commit messages in the imperative.\n- Ask before you add a dependency.\n",
}

var sampleSkills = "- deploy: Ship a service to staging or production.\n- migrate: Change a table without downtime.\n- oncall: Who to wake, and when.\n"

func (s *sample) anchor(k logsink.Key, epoch, version int, at time.Time) *logsink.Anchor {
	rules, skills := sampleTexts[version], sampleSkills
	ms := []logsink.Message{{Role: "user", Text: "<system-reminder>\n" + rules + "</system-reminder>"}, {Role: "user", Text: skills}}
	a := &logsink.Anchor{
		V: logsink.Version, Key: k, Epoch: epoch, Reason: logsink.ReasonInitial, Decision: logsink.Inject, Prefix: logsink.PrefixHash(ms), Messages: ms,
		Renderings: []logsink.Rendering{logsink.NewRendering("anthropic.messages", fmt.Appendf(nil, `{"role":"user","content":%q},{"role":"user","content":%q}`, ms[0].Text, ms[1].Text))},
		Contributors: []logsink.Contribution{
			{Name: "rules", Kind: "file", SHA256: sha(rules), Bytes: len(rules), Messages: 1, Took: 840 * time.Microsecond, Outcome: "ok"},
			{Name: "skills", Kind: "skills", SHA256: sha(skills), Bytes: len(skills), Messages: 1, Took: 3 * time.Millisecond, Outcome: "ok"},
			{Name: "workspace", Kind: "http", Took: 212 * time.Millisecond, Outcome: "skipped: deadline passed"},
		},
		Route: "anthropic", Source: "header x-claude-code-session-id", Config: "c0ffee5eed9236c7ca", Preface: "v0.4.0", Time: at,
	}
	if epoch > 1 {
		a.Reason = logsink.ReasonResume
	}
	got, err := s.log.Freeze(context.Background(), a)
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func (s *sample) header(k logsink.Key, thread, id, reason string, epoch int, at time.Time, parts map[string]string, changed ...string) {
	h := &logsink.Header{V: 1, ID: id, Key: k, Epoch: epoch, Thread: thread, Reason: reason, Changed: changed, Model: "claude-sonnet-5-5", Time: at}
	for _, name := range headerParts {
		if text := parts[name]; text != "" {
			h.Parts = append(h.Parts, logsink.Part{Name: name, Digest: logsink.Sum([]byte(text)), Size: len(text), Stored: true})
			s.blob = append(s.blob, logsink.Blob{Digest: logsink.Sum([]byte(text)), Bytes: []byte(text)})
		}
	}
	s.recs = append(s.recs, logsink.Record{Header: h})
}

// call writes a request with its answer. fill changes the answer.
func (s *sample) call(k logsink.Key, thread, header, id string, a *logsink.Anchor, at time.Time, history int, fill func(*logsink.Request, *logsink.Response)) {
	s.n++
	base := 2200 + 900*history
	req := &logsink.Request{
		V: 1, ID: id, Key: k, Epoch: 1, Thread: thread, Number: int64(history), Attempt: 1, Header: header, Dialect: "anthropic", Route: "anthropic", Path: "/v1/messages",
		Model: "claude-sonnet-5-5", Class: "turn", Stream: true, Decision: logsink.Bare, Why: "empty", Messages: 2*history - 1, Body: logsink.Sum([]byte(id)), Size: 4 * base, Marks: 3, Time: at,
	}
	if a != nil {
		req.Epoch, req.Decision, req.Why = a.Epoch, a.Decision, ""
		n := len(a.Renderings[0].Bytes)
		req.Size += n + 1
		req.Splices = []logsink.Splice{{Offset: min(6200, req.Size/3), Length: n + 1, Kind: "prefix", Rendering: "anthropic.messages"}}
	}
	read, write, fresh, output := int64(base-900), int64(880), int64(20), int64(300+s.rand.IntN(900))
	resp := &logsink.Response{V: 1, ID: id, Key: k, Epoch: req.Epoch, Thread: thread, Status: 200, End: logsink.EndComplete, FirstByte: 800 * time.Millisecond, Total: 6 * time.Second, Bytes: 5120,
		UpstreamID: "req_011CUvT4", Usage: &logsink.Usage{Fresh: &fresh, CacheRead: &read, Write5m: &write, Output: &output}, StopReason: "tool_use", Time: at.Add(6 * time.Second)}
	if fill != nil {
		fill(req, resp)
	}
	price(resp)
	s.recs = append(s.recs, logsink.Record{Request: req}, logsink.Record{Response: resp})
	if len(s.recs) > 400 {
		s.flush()
	}
}

// price gives an answer the price of $2 for a million fresh tokens.
func price(resp *logsink.Response) {
	u := resp.Usage
	if u == nil || u.CacheRead == nil {
		return
	}
	const fresh = 2_000_000 // picodollars a token
	in := tokens(u.Fresh) + written(u) + *u.CacheRead
	resp.Cost = &logsink.Cost{
		Paid:     tokens(u.Fresh)*fresh + written(u)*fresh*5/4 + *u.CacheRead*fresh/20 + tokens(u.Output)*5*fresh,
		Uncached: in*fresh + tokens(u.Output)*5*fresh, Estimated: true, Price: "claude-sonnet-5-5 of 2026-11, from 2026-10-07",
	}
	resp.Cost.Prefix = resp.Cost.Paid / 17
}

func (s *sample) flush() {
	if len(s.recs) == 0 {
		return
	}
	if err := s.log.Append(context.Background(), s.recs, s.blob); err != nil {
		s.t.Fatal(err)
	}
	s.recs, s.blob = nil, nil
}

// missed makes an answer one that had to write what it could have read.
func missed(name, owner, section, detail, against string, waste bool) func(*logsink.Request, *logsink.Response) {
	return func(_ *logsink.Request, r *logsink.Response) {
		u := r.Usage
		lost := *u.CacheRead
		*u.Write5m += lost
		*u.CacheRead = 0
		r.Cause = &logsink.Cause{Name: name, Owner: owner, Section: section, Detail: detail, Expected: lost + 400, Missed: lost, Lost: lost * 2_400_000, Waste: waste, Against: against}
	}
}

// hero writes the session that has everything.
func (s *sample) hero() {
	k := logsink.Key{Tenant: sampleTenant, Session: heroSession}
	start := s.now.Add(-55 * time.Minute)
	id := func(i int) string { return fmt.Sprintf("req-hero-%04d", i) }
	tools := `{"name":"read_file","description":"Reads a file.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}},{"name":"run","description":"Runs a command in the sandbox.","input_schema":{"type":"object"}}`
	system := `{"type":"text","text":"You are a careful engineer.\nToday is 2026-12-01.\nWork in small steps."}`
	parameters := `"max_tokens":32000,"temperature":1`
	a := s.anchor(k, 1, 0, start)
	s.header(k, "main", "h1", logsink.ReasonInitial, 1, start, map[string]string{"system": system, "tools": tools, "parameters": parameters})
	header := "h1"
	for i := 1; i <= 52; i++ {
		at := start.Add(time.Duration(i) * time.Minute)
		var fill func(*logsink.Request, *logsink.Response)
		switch i {
		case 1:
			fill = missed("cold", "provider", "", "first request of its thread", "", false)
		case 14:
			tools = strings.Replace(tools, "Runs a command in the sandbox.", "Runs a command in the sandbox, with a limit of 10 minutes.", 1)
			header = "h2"
			s.header(k, "main", header, logsink.ReasonChange, 1, at, map[string]string{"system": system, "tools": tools, "parameters": parameters}, "tools")
			fill = advised(missed("tools_changed", "client", "tools", "tool run edited: description", id(13), true))
		case 21:
			fill = missed("expired", "client", "", "12m after the request before, granted were 5m", id(20), false)
		case 30:
			a = s.anchor(k, 2, 1, at)
			header = "h3"
			system = strings.Replace(system, "2026-12-01", "2026-12-02", 1)
			s.header(k, "main", header, logsink.ReasonResume, 2, at, map[string]string{"system": system, "tools": tools, "parameters": parameters}, "system")
			fill = missed("system_changed", "client", "system", "a date at byte 58 differs: 2026-12-01 is now 2026-12-02", id(29), true)
		case 33:
			fill = func(_ *logsink.Request, r *logsink.Response) {
				r.Status, r.End, r.Usage, r.Detail = 529, logsink.EndComplete, nil, "overloaded_error"
			}
		case 40:
			fill = func(_ *logsink.Request, r *logsink.Response) {
				r.End, r.Usage = logsink.EndClientGone, nil
			}
		case 45:
			fill = missed("history_rewritten", "client", "history", "message 31 edited", id(44), true)
		}
		if f := fill; i == 45 {
			fill = func(q *logsink.Request, r *logsink.Response) {
				f(q, r)
				index, offset := 31, 48211
				r.Cause.Index, r.Cause.Offset, r.Cause.Provider = &index, &offset, "messages_changed"
			}
		}
		s.call(k, "main", header, id(i), a, at, i, fill)
		if i%9 == 0 {
			s.call(k, "sub-"+fmt.Sprint(i), header, fmt.Sprintf("req-sub-%d", i), a, at.Add(10*time.Second), 2, nil)
		}
	}
	s.call(k, "title", header, "req-title", nil, start.Add(2*time.Minute), 1, func(q *logsink.Request, r *logsink.Response) {
		q.Class, q.Why = "side", "side_request"
		*r.Usage.CacheRead, *r.Usage.Write5m, *r.Usage.Fresh = 0, 0, 210
	})
}

// advised has an answer ask another model in between.
func advised(fill func(*logsink.Request, *logsink.Response)) func(*logsink.Request, *logsink.Response) {
	return func(q *logsink.Request, r *logsink.Response) {
		fill(q, r)
		own, more := *r.Usage, logsink.Usage{Fresh: ptr(820), CacheRead: ptr(0), Output: ptr(1600)}
		r.Iterations = []logsink.Iteration{{Usage: &own}, {Model: "claude-opus-5-5", Usage: &more}}
		sum := own
		sum.Fresh, sum.Output = ptr(*own.Fresh+*more.Fresh), ptr(*own.Output+*more.Output)
		r.Usage = &sum
	}
}

// plain writes one of many sessions.
func (s *sample) plain(i int) {
	names := []string{"review-bot", "nightly", "fix-flaky-tests", "docs", "0193a8d2-5b1c-7aa0-9d7e-4b1f6a2c88d1", "release", "triage"}
	k := logsink.Key{Tenant: sampleTenant, Session: fmt.Sprintf("%s-%d", names[i%len(names)], i)}
	start := s.now.Add(-time.Duration(5+s.rand.IntN(70*60)/(1+i%3*8)) * time.Minute)
	if i%3 != 0 {
		start = s.now.Add(-time.Duration(1+s.rand.IntN(56)) * time.Minute)
	}
	var a *logsink.Anchor
	if i%8 == 7 {
		bare := &logsink.Anchor{V: 1, Key: k, Epoch: 1, Reason: logsink.ReasonInitial, Decision: logsink.Bare, Why: "foreign_history", Route: "anthropic", Time: start}
		if _, err := s.log.Freeze(context.Background(), bare); err != nil {
			s.t.Fatal(err)
		}
	} else {
		a = s.anchor(k, 1, min(2, i/12), start)
	}
	causes := []struct {
		name, owner, section string
		waste                bool
	}{
		{"expired", "client", "", false}, {"tools_changed", "client", "tools", true}, {"history_rewritten", "client", "history", true},
		{"system_changed", "client", "system", true}, {"provider", "provider", "", false}, {"concurrent_cold", "client", "", false},
		{"model_changed", "client", "model", true}, {"parameter_changed", "client", "parameters", true}, {"no_mark", "client", "marks", true},
	}
	for n := 1; n <= 3+s.rand.IntN(24); n++ {
		at := start.Add(time.Duration(n*20+s.rand.IntN(30)) * time.Second)
		if at.After(s.now.Add(-7 * time.Second)) {
			break
		}
		var fill func(*logsink.Request, *logsink.Response)
		if n == 1 {
			fill = missed("cold", "provider", "", "first request of its thread", "", false)
		} else if s.rand.IntN(7) == 0 {
			c := causes[s.rand.IntN(1+s.rand.IntN(len(causes)))]
			fill = missed(c.name, c.owner, c.section, "", fmt.Sprintf("r-%d-%d", i, n-1), c.waste)
		}
		s.call(k, "main", "", fmt.Sprintf("r-%d-%d", i, n), a, at, n, fill)
	}
}
