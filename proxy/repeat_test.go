package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/valyala/fasthttp"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore"
	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// chat is a conversation as its agent sends it: any part may change from one
// request to the next, most often by a turn that is added.
type chat struct {
	rng                 *rand.Rand
	system, tail, input string
	messages            []string
}

func (c *chat) body(dialect string) string {
	switch dialect {
	case "anthropic":
		return fmt.Sprintf(`{"model":"m","messages":[%s],"system":%q,"max_tokens":%s}`, strings.Join(c.messages, ","), c.system, c.tail)
	case "openai-chat":
		return fmt.Sprintf(`{"model":"m","stream":true,"messages":[{"role":"system","content":%q},%s],"n":%s}`, c.system, strings.Join(c.messages, ","), c.tail)
	}
	if c.input != "" {
		return fmt.Sprintf(`{"model":"m","input":%q,"n":%s}`, c.input, c.tail)
	}
	return fmt.Sprintf(`{"model":"m","instructions":%q,"input":[%s],"n":%s}`, c.system, strings.Join(c.messages, ","), c.tail)
}

// step makes the next request's state.
func (c *chat) step() {
	text := strings.Repeat("some words that go on ", c.rng.IntN(1000))
	switch c.rng.IntN(10) {
	case 0: // sent again as it was
	case 1:
		c.system = strings.Repeat(text, 4)
	case 2:
		c.tail = fmt.Sprint(c.rng.IntN(1000))
	case 3:
		c.messages = c.messages[:1+c.rng.IntN(len(c.messages))] // compacted
	case 4:
		at := c.rng.IntN(len(c.messages))
		c.messages[at] = fmt.Sprintf(`{"role":"user","content":"%s"}`, text)
	case 5:
		c.input = text
	default:
		c.input = ""
		c.messages = append(c.messages,
			fmt.Sprintf(`{"role":"assistant","content":"%s"}`, text),
			fmt.Sprintf(`{"role":"user","content":"%d"}`, c.rng.IntN(100)))
	}
}

// TestI4_RepeatedBodies: whatever a request has in common with the one before,
// what is read in it is what a whole scan reads, and the digest on record is
// that of what is sent. What is kept stays as it was.
func TestI4_RepeatedBodies(t *testing.T) {
	b := newBench(t, func(_ *bench, _ *Setup, d *Deps, _ *prefixstore.Options) { d.Log = forgetful{d.Log} })
	for name, path := range map[string]string{"anthropic": "/v1/messages", "openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses"} {
		t.Run(name, func(t *testing.T) {
			c := &chat{rng: rand.New(rand.NewPCG(1, 2)), system: "be kind", tail: "1", messages: []string{`{"role":"user","content":"hello"}`}}
			ctx := fakeRequest(t, b, "", "s")
			ctx.Request.Header.SetRequestURI(path)
			saved, marked := 0, 0
			for range 150 {
				saves, marks := sendRepeat(t, b, ctx, c.body(name))
				saved, marked = saved+saves, marked+marks
				c.step()
			}
			if saved < 40 || marked < 15 {
				t.Errorf("%d of 150 requests repeated a message or more, and %d were hashed from a mark: want most", saved, marked)
			}
		})
	}
}

// TestI4_MarkAtTheSlot: where the last message is the first, the prefix goes in
// front of it, right where the hash is kept.
func TestI4_MarkAtTheSlot(t *testing.T) {
	b := newBench(t)
	ctx := fakeRequest(t, b, "", "s")
	ctx.Request.Header.SetRequestURI("/v1/chat/completions")
	c := &chat{system: strings.Repeat("long ", 20_000), messages: []string{`{"role":"user","content":"hello"}`}}
	for c.tail = range strings.SplitSeq("1 2 2 3", " ") {
		if _, marked := sendRepeat(t, b, ctx, c.body("openai-chat")); c.tail == "3" && marked == 0 {
			t.Error("a body of 100 KB has no mark")
		}
	}
}

// sendRepeat sends one request as far as the provider, and checks it. It tells
// whether anything was repeated in it, and whether its hash began at a mark.
func sendRepeat(t *testing.T, b *bench, ctx *fasthttp.RequestCtx, body string) (saved, marked int) {
	t.Helper()
	ctx.Request.SetBodyStream(strings.NewReader(body), len(body))
	last := newest(b.srv.repeats)
	x := b.srv.begin(ctx)
	defer x.finish()
	if err := x.prepare(); err != nil {
		t.Errorf("prepare(%.200q) = %v", body, err)
		return 0, 0
	}
	var doc jsonspan.Doc
	want := dialect.Request{Outlined: x.facts.Outlined}
	if err := errors.Join(doc.Scan([]byte(body), x.gen.depths[x.dialect.Name()]), x.dialect.Read(&doc, x.endpoint, &want)); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(want, x.facts, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(want, want.Question)); diff != "" {
		t.Errorf("facts of a body that repeats %d bytes (-scanned whole +repeated):\n%s", x.same, diff)
	}
	sent := bytes.Join(x.outgoing(nil), nil)
	if r := x.sent.request; r.Body != logsink.Sum(sent) || r.Size != len(sent) {
		t.Errorf("the record has digest %v of %d bytes, sent were %v of %d", r.Body, r.Size, logsink.Sum(sent), len(sent))
	}
	if !x.unchanged(x.outgoing(nil)) {
		t.Error("client's bytes are sent from elsewhere than the body")
	}
	if r := x.kept; r != nil {
		if got := logsink.Sum(sentOf(r)); got != r.digest {
			t.Errorf("a kept body has digest %v, want that of what was sent, %v", got, r.digest)
		}
	}
	if x.same > 100 {
		saved = 1
	}
	if last != nil && last.mark != nil && last.mark.at <= x.same {
		marked = 1
	}
	return saved, marked
}

// newest is the body that was kept last.
func newest(rs *repeats) *repeat {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	var newest *repeat
	for _, r := range rs.lru.Values() {
		newest = r
	}
	return newest
}

// sentOf is what was sent of a repeat.
func sentOf(r *repeat) (sent []byte) {
	at := 0
	for _, s := range r.splices {
		sent = append(append(sent, r.body[at:s.At]...), s.Bytes...)
		at = s.At
	}
	return append(sent, r.body[at:]...)
}

// TestI3_RepeatsInUse: the buffer of a body that is no longer kept is used again,
// but not while a request compares with it, or is sent from it.
func TestI3_RepeatsInUse(t *testing.T) {
	b := newBench(t)
	body := agentBody(60_000)
	start := func(body string) *exchange {
		ctx := fakeRequest(t, b, body, "s")
		ctx.Request.SetBodyStream(strings.NewReader(body), len(body))
		x := b.srv.begin(ctx)
		if err := x.prepare(); err != nil {
			t.Fatal(err)
		}
		return x
	}
	scribble := func() {
		var all [][]byte
		for range 50 {
			buf := acquireBody(len(body))
			clear(buf)
			all = append(all, buf)
		}
		for _, buf := range all {
			releaseBody(buf)
		}
	}
	first := start(body)
	of1 := first.kept
	second := start(strings.Replace(body, `],"system"`, `,{"role":"user","content":"more"}],"system"`, 1))
	of2 := second.kept
	if second.same < 30_000 || of1.users != 1 || !of1.forgotten {
		t.Fatal("a body that is to be sent is not in use")
	}
	scribble()
	if string(of1.body) != body || string(first.body) != body {
		t.Fatal("a buffer was used again while a request was sent from it")
	}
	first.finish()
	second.finish()
	if of1.users != 0 || of2.users != 0 || of2.forgotten {
		t.Errorf("the ended requests' bodies have %d and %d users, and the newest is forgotten: %v", of1.users, of2.users, of2.forgotten)
	}
	compared, _ := b.srv.repeats.get(b.srv.repeats.lru.Keys()[0], 0, 1<<30, time.Now())
	b.srv.repeats.purge()
	scribble()
	if compared != of2 || logsink.Sum(sentOf(of2)) != of2.digest {
		t.Fatal("a buffer was used again while a request compared with it")
	}
	b.srv.repeats.done(of2)
	if of2.users != 0 || b.srv.repeats.size != 0 {
		t.Errorf("a purged body has %d users; %d bytes are counted", of2.users, b.srv.repeats.size)
	}
}

// TestI4_RepeatsAtOnce: requests of one thread that come at the same time have
// each the digest of their own bytes.
func TestI4_RepeatsAtOnce(t *testing.T) {
	b := newBench(t, func(_ *bench, _ *Setup, d *Deps, _ *prefixstore.Options) { d.Log = forgetful{d.Log} })
	bodies := conversation(agentBody(60_000), 8)
	var wg sync.WaitGroup
	for i := range 4 {
		ctx := fakeRequest(t, b, "", "s")
		wg.Go(func() {
			for k := range 40 {
				sendRepeat(t, b, ctx, bodies[(k*(i+1))%len(bodies)])
			}
		})
	}
	wg.Wait()
}

// TestI6_RepeatsOfOneTenant: a body that another tenant sent is not recognised,
// be all else the same; so it cannot be noticed by how fast it is answered.
func TestI6_RepeatsOfOneTenant(t *testing.T) {
	b := newBench(t)
	body := agentBody(2000)
	repeats := func(key string) bool {
		ctx := fakeRequest(t, b, body, "s", "x-api-key", key)
		ctx.Request.SetBodyStream(strings.NewReader(body), len(body))
		x := b.srv.begin(ctx)
		defer x.finish()
		if err := x.prepare(); err != nil {
			t.Fatal(err)
		}
		return x.same == len(body)
	}
	if repeats("a") || !repeats("a") {
		t.Error("a tenant's second request is not recognised, or its first is")
	}
	if repeats("b") {
		t.Error("another tenant's request is recognised")
	}
}

// TestRepeatsOff: with -1 nothing is kept.
func TestRepeatsOff(t *testing.T) {
	b := newBench(t, func(_ *bench, s *Setup, _ *Deps, _ *prefixstore.Options) { s.Config.Limits.KeptBodies = -1 })
	ctx := fakeRequest(t, b, "", "s")
	for range 3 {
		sendRepeat(t, b, ctx, agentBody(2000))
	}
	if n := b.srv.repeats.lru.Len(); n != 0 {
		t.Errorf("%d bodies are kept, want none", n)
	}
}

// TestRepeatsAfterReload: an index is of no use to a configuration that may look
// deeper.
func TestRepeatsAfterReload(t *testing.T) {
	var setup Setup
	b := newBench(t, func(_ *bench, s *Setup, _ *Deps, _ *prefixstore.Options) { setup = *s })
	ctx := fakeRequest(t, b, "", "s")
	body := agentBody(2000)
	sendRepeat(t, b, ctx, body)
	if err := b.srv.Reload(setup); err != nil {
		t.Fatal(err)
	}
	if n := b.srv.repeats.bytes(); n != 0 {
		t.Errorf("after a reload %d bytes are kept that are of no use", n)
	}
	ctx.Request.SetBodyStream(strings.NewReader(body), len(body))
	x := b.srv.begin(ctx)
	defer x.finish()
	if err := x.prepare(); err != nil || x.same != 0 {
		t.Errorf("after a reload, prepare = %v and %d bytes are the same, want none", err, x.same)
	}
}

// TestI10_RepeatsAreBounded: what is kept takes no more than the limit, and less
// the more requests are under way; what serves is not pushed out by what comes.
func TestI10_RepeatsAreBounded(t *testing.T) {
	const limit = 1 << 20
	var open atomic.Int64
	rs := newRepeats(&open)
	now := time.Now()
	size := func() (n int64) {
		for _, r := range rs.lru.Values() {
			n += r.bytes()
		}
		return n
	}
	put := func(hint uint64, n int) bool {
		return rs.put(hint, &repeat{body: make([]byte, n)}, limit, now)
	}
	for hint := range uint64(100) {
		put(hint, 100<<10)
		if got := size(); got > limit || got != rs.size {
			t.Fatalf("%d bytes are kept and %d counted of a limit of %d", got, rs.size, limit)
		}
	}
	if !rs.lru.Contains(0) || rs.lru.Contains(99) {
		t.Error("the first bodies were pushed out by those that came after them")
	}
	if !put(0, 101<<10) || rs.size != size() || rs.lru.Len() != 10 {
		t.Error("a body is not put in place of its thread's last one")
	}
	if now = now.Add(2 * keptAwhile); !put(200, 100<<10) || rs.lru.Contains(1) {
		t.Error("what was of no use for a while is not pushed out")
	}
	if put(201, limit) {
		t.Error("a body that takes all the room is kept")
	}
	open.Store(limit / openBytes / 2)
	if rs.get(0, 0, limit, now); size() > limit/2 {
		t.Errorf("%d bytes are kept while requests take half of %d", size(), limit)
	}
	open.Store(2 * limit / openBytes)
	if _, admit := rs.get(0, 1, limit, now); admit || rs.size != 0 {
		t.Errorf("%d bytes are kept, or more would be, while requests take all", rs.size)
	}
}

// TestI10_RepeatsCountAll: the prefix that a kept body holds on to counts, and a
// body whose index is large is not kept.
func TestI10_RepeatsCountAll(t *testing.T) {
	prefix := contrib.Config{Kind: "text", Text: strings.Repeat("long ", 40_000)}
	b := newBench(t, contributors(prefix), func(_ *bench, s *Setup, _ *Deps, _ *prefixstore.Options) { s.Config.Limits.KeptBodies = 4 << 20 })
	sendRepeat(t, b, fakeRequest(t, b, "", "a"), agentBody(2000))
	if n := b.srv.repeats.bytes(); n < 200_000 {
		t.Errorf("a body with a prefix of 200 KB counts as %d bytes", n)
	}
	dense := `{"messages":[{"role":"user","content":[` + strings.Repeat(`{},`, 100_000) + `{}]}]}`
	sendRepeat(t, b, fakeRequest(t, b, "", "dense"), dense)
	if n := b.srv.repeats.lru.Len(); n != 1 {
		t.Errorf("%d bodies are kept, want the small one alone", n)
	}
}

func TestCommon(t *testing.T) {
	a := bytes.Repeat([]byte("abc"), 2000)
	for _, n := range []int{0, 1, 1023, 1024, 1025, 2048, 5999, 6000} {
		other := append(bytes.Clone(a[:n]), '!')
		if got := common(a, other); got != n {
			t.Errorf("common = %d, want %d", got, n)
		}
		if got := common(other, a[:n]); got != n {
			t.Errorf("common = %d, want %d", got, n)
		}
	}
}
