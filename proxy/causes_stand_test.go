package proxy_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/proxy"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/explain"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// A route is a router between Preface and the provider: what it makes of a
// request, and of the usage that comes back.
type route struct {
	request func(c *talk, sent *talk) // changes sent, which is what the provider gets
	usage   func(u *usage.Usage)
}

// A stand is where causes are injected: simulated providers by host, a clock that
// is moved by hand, and a Tracker that is fed as the proxy feeds it.
type stand struct {
	t       *testing.T
	http    *http.Client
	hosts   map[string]*provider.Provider
	tracker *explain.Tracker
	n       int
	answers map[string]string // id of the last answer, by thread

	mu    sync.Mutex
	now   time.Time
	meets *meeting // nil if requests go one by one
}

// An outcome is what became of one request.
type outcome struct {
	body    string // the client's
	verdict explain.Verdict
	alarms  []explain.Alarm
	usage   usage.Usage
	diagnosis
	content []part // what the model said, as its dialect has it in a history
}

// A diagnosis is the provider's own.
type diagnosis struct {
	asked bool   // it was
	word  string // its type, or its reason if it is a miss; empty: no difference
}

func newStand(t *testing.T) *stand {
	transport := &http.Transport{DisableCompression: true}
	s := &stand{
		t: t, http: &http.Client{Transport: transport, Timeout: 30 * time.Second}, hosts: map[string]*provider.Provider{},
		tracker: explain.NewTracker(explain.Options{}), answers: map[string]string{},
		now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
	}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		for _, p := range s.hosts {
			p.Close()
		}
	})
	return s
}

func (s *stand) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// pass lets time go by.
func (s *stand) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// host returns the provider of that name, a new one if there is none.
func (s *stand) host(name string) *provider.Provider {
	if p, ok := s.hosts[name]; ok {
		return p
	}
	p := provider.New(provider.Options{Now: s.clock, OnArrive: s.arrived})
	if err := p.Start("127.0.0.1:0"); err != nil {
		s.t.Fatal(err)
	}
	s.hosts[name] = p
	return p
}

// forgets puts a new provider, with nothing in its cache, in a host's place.
func (s *stand) forgets(name string) {
	s.hosts[name].Close()
	delete(s.hosts, name)
}

// A meeting makes two requests run beside each other: the first to arrive is
// answered when the second has arrived, and the second when the first was.
type meeting struct {
	n                       int
	first, second, answered chan struct{}
}

func (s *stand) arrived(*provider.Exchange) {
	s.mu.Lock()
	m := s.meets
	n := 0
	if m != nil {
		m.n++
		n = m.n
	}
	s.mu.Unlock()
	switch n {
	case 1:
		close(m.first)
		<-m.second
	case 2:
		close(m.second)
		<-m.answered
	}
}

// beside sends b a second after a and before a's answer begins, and returns what
// becomes of b.
func (s *stand) beside(a, b *talk) outcome {
	s.t.Helper()
	m := &meeting{first: make(chan struct{}), second: make(chan struct{}), answered: make(chan struct{})}
	s.meets = m
	s.pass(gap)
	x, y := s.prepare(a), exchange{}
	done := make(chan exchange)
	go func() { done <- s.send(x) }()
	<-m.first
	s.pass(time.Second)
	y = s.prepare(b)
	last := make(chan exchange)
	go func() { last <- s.send(y) }()
	x = <-done
	x.request.FirstByte = y.request.Start.Add(time.Second)
	s.observe(a, x)
	close(m.answered)
	y = <-last
	y.request.FirstByte = x.request.FirstByte.Add(time.Second)
	s.meets = nil
	return s.observe(b, y)
}

// gap is how long an agent takes from one request to the next.
const gap = 20 * time.Second

// ask sends a request after the usual while.
func (s *stand) ask(c *talk) outcome {
	s.t.Helper()
	s.pass(gap)
	x := s.send(s.prepare(c))
	x.request.FirstByte = x.request.Start.Add(time.Second)
	return s.observe(c, x)
}

// An exchange is a request as it is sent, and its answer.
type exchange struct {
	request *explain.Request
	client  string // its body
	url     string
	dialect string // that is sent
	body    string
	header  http.Header
	asked   bool
	answer  []byte
	err     error
}

// prepare does what the proxy does before a request leaves: read it, insert the
// prefix, and ask for the provider's diagnosis.
func (s *stand) prepare(c *talk) exchange {
	s.t.Helper()
	x := exchange{client: c.body("")}
	r, _, err := proxy.ReadBody(c.dialect, []byte(x.client))
	if err != nil {
		s.t.Fatal(err)
	}
	s.n++
	r.ID, r.Host, r.Account, r.Epoch, r.Betas = fmt.Sprintf("r%d", s.n), c.host, c.account, c.epoch, c.betas
	if c.prefix != "" {
		r.Prefix, r.PrefixBytes = c.prefix[:8], len(c.prefix)
	}
	r.Start, r.Complete = s.clock(), true
	sent := c.copy()
	if c.via.request != nil {
		c.via.request(c, sent)
	}
	x.request, x.dialect, x.url = r, sent.dialect, s.host(c.host).URL()+paths[sent.dialect]
	x.body = sent.body(c.prefix)
	x.header = http.Header{"X-Api-Key": {c.account}, "Anthropic-Beta": {c.betas}}
	switch {
	case c.asks != "":
		x.header.Set("anthropic-beta", diagnosisBeta)
	case sent.diagnoses() && c.via.request == nil:
		x.askFor(s.answers[c.thread])
	}
	return x
}

var paths = map[string]string{anthropic: "/v1/messages", chat: "/v1/chat/completions", responses: "/v1/responses"}

// diagnoses reports whether the provider does: on Claude, and in Responses from
// GPT-5.6 on.
func (c *talk) diagnoses() bool {
	return c.dialect == anthropic || c.dialect == responses && !slices.Contains([]string{"gpt-5.2", "gpt-5.4", "gpt-5.5"}, c.model)
}

const diagnosisBeta = "cache-diagnosis-2026-04-07"

// askFor inserts the question for a diagnosis behind the first brace, or into
// the options that are there.
func (x *exchange) askFor(previous string) {
	insert := func(after, text string) {
		at := strings.Index(x.body, after) + len(after)
		x.body = x.body[:at] + text + x.body[at:]
	}
	const options = `"prompt_cache_options":{`
	id := quoted(previous)
	x.asked = previous != ""
	switch {
	case x.dialect == anthropic:
		if !x.asked {
			id = "null"
		}
		x.header.Set("anthropic-beta", strings.Trim(x.header.Get("anthropic-beta")+","+diagnosisBeta, ","))
		insert("{", `"diagnostics":{"previous_message_id":`+id+`},`)
	case !x.asked:
	case strings.Contains(x.body, options):
		insert(options, `"comparison_response_id":`+id+`,`)
	default:
		insert("{", options+`"comparison_response_id":`+id+`},`)
	}
}

func (s *stand) send(x exchange) exchange {
	req, err := http.NewRequest(http.MethodPost, x.url, strings.NewReader(x.body))
	if err != nil {
		x.err = err
		return x
	}
	req.Header = x.header
	resp, err := s.http.Do(req)
	if err != nil {
		x.err = err
		return x
	}
	defer resp.Body.Close()
	if x.answer, x.err = io.ReadAll(resp.Body); x.err == nil && resp.StatusCode != http.StatusOK {
		x.err = fmt.Errorf("status %d: %s", resp.StatusCode, x.answer)
	}
	return x
}

// observe does what the proxy does after an answer: meter it, and explain it.
func (s *stand) observe(c *talk, x exchange) outcome {
	s.t.Helper()
	if x.err != nil {
		s.t.Fatal(x.err)
	}
	d, err := dialect.Get(x.dialect)
	if err != nil {
		s.t.Fatal(err)
	}
	m := d.Meter(dialect.Turn, strings.HasPrefix(string(x.answer), "data:"))
	m.Write(x.answer)
	x.request.Usage = m.Report().Usage
	if c.via.usage != nil {
		c.via.usage(&x.request.Usage)
	}
	o := outcome{body: x.client, usage: x.request.Usage}
	o.read(s.t, x)
	x.request.Verdict = o.word
	o.verdict, o.alarms = s.tracker.Observe(c.thread, x.request)
	s.answers[c.thread] = m.Report().ID
	return o
}

// read takes in what an answer says, and the provider's diagnosis in it.
func (o *outcome) read(t *testing.T, x exchange) {
	t.Helper()
	type miss struct{ Type, Reason string }
	var a struct {
		Content, Output []json.RawMessage
		Diagnostics     *struct {
			Reason miss `json:"cache_miss_reason"`
		}
		Cache miss `json:"prompt_cache_diagnostics"`
	}
	if strings.HasPrefix(string(x.answer), "data:") {
		return
	}
	if err := json.Unmarshal(x.answer, &a); err != nil {
		t.Fatalf("%v in %s", err, x.answer)
	}
	for _, j := range append(a.Content, a.Output...) {
		o.content = append(o.content, raw(string(j)))
	}
	o.asked = x.asked
	switch {
	case a.Diagnostics != nil:
		o.word = a.Diagnostics.Reason.Type
	case a.Cache.Type != "cache_hit":
		o.word = cmp.Or(a.Cache.Reason, a.Cache.Type)
	}
}

// callID is the id of the call that the model made.
func (o *outcome) callID() string {
	for _, p := range o.content {
		var c struct{ Type, ID string }
		if json.Unmarshal([]byte(p.raw), &c) == nil && c.Type == "tool_use" {
			return c.ID
		}
	}
	return ""
}
