package proxy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/valyala/fasthttp"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/internal/wire"
)

// TestI3_RandomBodies: ten thousand bodies of all dialects, written as oddly as
// JSON allows, go the live way from a request read to the parts that are handed
// to the kernel. Without the inserted ranges they are the client's bytes; and a
// parser that knows nothing of ranges sees the prefix in its place, and nothing
// else changed.
func TestI3_RandomBodies(t *testing.T) {
	bodies := 10_000
	if testing.Short() {
		bodies = 1000
	}
	b := newBench(t, asksVerdicts, func(_ *bench, _ *Setup, d *Deps, _ *prefixstore.Options) { d.Log = forgetful{d.Log} })
	const parts = 4
	for part := range parts {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			ctx := propertyRequests(t, b)
			injected := 0
			for i := part; i < bodies && !t.Failed(); i += parts {
				if tryProperty(t, b, ctx[i%len(ctx)], i) {
					injected++
				}
			}
			if injected < bodies/parts/2 {
				t.Errorf("%d of %d bodies carried the prefix, want most", injected, bodies/parts)
			}
		})
	}
}

// tryProperty draws, writes, sends and checks one body.
func tryProperty(t *testing.T, b *bench, ctx *fasthttp.RequestCtx, i int) (injected bool) {
	d := propertyDialects[i%len(propertyDialects)]
	w := &scribe{rng: rand.New(rand.NewPCG(3, uint64(i)))}
	want := d.draw(w)
	client := w.write(want.tree)
	return want.check(t, i, client, sendProperty(t, b, ctx, i, client))
}

// A forgetful log keeps anchors only: the disk is not what is tested here.
type forgetful struct{ logsink.Log }

func (forgetful) Append(context.Context, []logsink.Record, []logsink.Blob) error { return nil }

// propertyDialects are where bodies are sent, and how they are drawn.
var propertyDialects = []struct {
	path, header string
	draw         func(*scribe) drawn
}{
	{"/v1/messages?beta=true", "x-claude-code-session-id", drawAnthropic},
	{"/v1/chat/completions", "x-session-id", drawChat},
	{"/v1/responses", "session-id", drawResponses},
}

// propertyRequests are the heads of requests: for each dialect the same session
// again and again, so that the disk is not what is measured.
func propertyRequests(t *testing.T, b *bench) []*fasthttp.RequestCtx {
	var list []*fasthttp.RequestCtx
	for _, d := range propertyDialects {
		left, right := net.Pipe()
		t.Cleanup(func() { left.Close(); right.Close() })
		conn, err := wire.NewConn(left, b.srv.watch, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		ctx := &fasthttp.RequestCtx{}
		ctx.Init2(conn, nil, false)
		head := rawPost(d.path, "", d.header, "property "+t.Name())
		if err := ctx.Request.Header.Read(bufio.NewReader(strings.NewReader(head))); err != nil {
			t.Fatal(err)
		}
		list = append(list, ctx)
	}
	for i := range list { // opens the sessions
		sendProperty(t, b, list[i], 0, []byte(turns[i].body))
	}
	return list
}

// A propertyResult is what the live path made of a body.
type propertyResult struct {
	sent     []byte
	cut      []byte // sent without the ranges that are recorded as inserted
	injected bool
	why      string
	askUsage bool
	question string // for the provider's verdict, as inserted
	prefix   []byte // the frozen bytes
}

func sendProperty(t *testing.T, b *bench, ctx *fasthttp.RequestCtx, i int, client []byte) (r propertyResult) {
	t.Helper()
	ctx.Request.Header.SetContentLength(len(client))
	ctx.Request.SetBodyStream(bytes.NewReader(client), len(client))
	x := b.srv.begin(ctx)
	defer x.finish()
	if err := x.prepare(); err != nil {
		t.Fatalf("%v: %s", err, client)
	}
	parts := x.outgoing(nil)
	if !x.unchanged(parts) {
		t.Errorf("I3: the parts of %s are not the client's", client)
	}
	r = propertyResult{injected: x.plan.inject, why: x.plan.why, askUsage: x.plan.askUsage, sent: bytes.Join(parts, nil)}
	r.cut = cut(r.sent, x.plan.recordSplices(nil))
	for _, s := range x.plan.splices {
		if s.Kind == dialect.KindVerdict {
			r.question = string(s.Bytes)
		}
	}
	if x.thread != nil && i%3 > 0 { // some have no answer before them
		x.thread.answeredBy(answered{"msg_1", "r", x.route.upstream.base.Host, x.account(), x.start})
	}
	if x.epoch != nil {
		r.prefix = bytes.Clone(x.epoch.Rendering(x.facts.Rendering))
	}
	return r
}

// drawn is a body to be, with what should become of it.
type drawn struct {
	tree object
	list string // the member that holds the history
	lead int    // messages of the system slot at its head
	bare bool   // nothing may be inserted
	odd  bool   // a name is escaped: it may pass untouched
}

// check compares the live path's result with what a parser says it should be.
func (d drawn) check(t *testing.T, i int, client []byte, got propertyResult) (injected bool) {
	t.Helper()
	if !bytes.Equal(got.cut, client) {
		t.Errorf("I3: body %d without the inserted ranges:\n%s\nwant\n%s", i, got.cut, client)
	}
	if got.injected == d.bare && !d.odd {
		t.Errorf("body %d: injected %v (%s), want %v:\n%s", i, got.injected, got.why, !d.bare, client)
	}
	want, sent := decoded(t, client), decoded(t, got.sent)
	if got.injected {
		d.insert(t, want, got.prefix)
	}
	if got.askUsage {
		options, _ := want["stream_options"].(map[string]any)
		if options == nil {
			options = map[string]any{}
		}
		options["include_usage"] = true
		want["stream_options"] = options
	}
	addQuestion(t, want, got.question)
	if !reflect.DeepEqual(want, sent) {
		t.Errorf("body %d, -want +sent:\n%s\nclient: %s", i, cmp.Diff(want, sent), client)
	}
	return got.injected
}

// addQuestion adds the question for a verdict, by the meaning of the body alone.
func addQuestion(t *testing.T, body map[string]any, question string) {
	t.Helper()
	if question == "" {
		return
	}
	for name, value := range decoded(t, []byte("{"+strings.TrimSuffix(question, ",")+"}")) {
		if name == "comparison_response_id" {
			body["prompt_cache_options"].(map[string]any)[name] = value
			continue
		}
		if _, there := body[name]; there {
			t.Errorf("%s is asked beside the client's own", question)
		}
		body[name] = value
	}
}

// insert puts the prefix where it belongs, by the meaning of the body alone.
func (d drawn) insert(t *testing.T, body map[string]any, prefix []byte) {
	t.Helper()
	var messages []any
	if err := json.Unmarshal(append(append([]byte("["), prefix...), ']'), &messages); err != nil {
		t.Fatalf("the prefix is no list of messages: %s", prefix)
	}
	history, isList := body[d.list].([]any)
	if !isList {
		history = []any{map[string]any{"role": "user", "content": body[d.list]}}
	}
	all := append(append([]any{}, history[:d.lead]...), messages...)
	body[d.list] = append(all, history[d.lead:]...)
}

func decoded(t *testing.T, b []byte) (m map[string]any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	if err := dec.Decode(&m); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return m
}

// An object is a JSON object whose members have an order; values are objects,
// lists, strings, literals, or nil.
type (
	object  []member
	member  struct{ name, value any }
	list    []any
	literal string // as it is written
)

// A scribe draws values, and writes them in one of the many ways there are.
type scribe struct {
	rng     *rand.Rand
	escapes int // percent of the characters that need none and have one
	b       []byte
}

func (w *scribe) write(o object) []byte {
	w.escapes = pick(w.rng, 0, 0, 0, 1, 10, 50)
	w.space()
	w.value(o)
	w.space()
	return w.b
}

func (w *scribe) space() {
	if w.rng.IntN(4) == 0 {
		w.b = append(w.b, pick(w.rng, " ", "\n", "\t", "\r\n", "  \n\t ")...)
	}
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

func (w *scribe) value(v any) {
	switch v := v.(type) {
	case object:
		w.object(v)
	case list:
		w.b = append(w.b, '[')
		for i, e := range v {
			w.element(i, e)
		}
		w.space()
		w.b = append(w.b, ']')
	case string:
		w.text(v, w.escapes)
	case literal:
		w.b = append(w.b, v...)
	default:
		w.b = append(w.b, "null"...)
	}
}

func (w *scribe) element(i int, v any) {
	if i > 0 {
		w.space()
		w.b = append(w.b, ',')
	}
	w.space()
	w.value(v)
}

func (w *scribe) object(o object) {
	w.b = append(w.b, '{')
	for i, m := range o {
		if i > 0 {
			w.space()
			w.b = append(w.b, ',')
		}
		w.space()
		if odd, ok := m.name.(oddName); ok {
			w.text(string(odd), 100)
		} else {
			w.b = append(append(append(w.b, '"'), m.name.(string)...), '"')
		}
		w.space()
		w.b = append(w.b, ':')
		w.space()
		w.value(m.value)
	}
	w.space()
	w.b = append(w.b, '}')
}

// An oddName is written with escapes.
type oddName string

// text writes a string with escapes where it needs them, and at random.
func (w *scribe) text(s string, percent int) {
	w.b = append(w.b, '"')
	for _, r := range s {
		switch escape := percent > 0 && w.rng.IntN(100) < percent; {
		case escape && r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			w.b = fmt.Appendf(w.b, `\u%04x\u%04X`, hi, lo)
		case r < ' ' || escape:
			w.b = fmt.Appendf(w.b, pick(w.rng, `\u%04x`, `\u%04X`), r)
		case r == '/' && w.rng.IntN(2) == 0:
			w.b = append(w.b, `\/`...)
		case r == '"' || r == '\\':
			w.b = append(w.b, '\\', byte(r))
		default:
			w.b = append(w.b, string(r)...)
		}
	}
	w.b = append(w.b, '"')
}
