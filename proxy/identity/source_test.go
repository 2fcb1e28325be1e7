package identity

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// hostile values that a header or a body string may hold, and whether they can
// be an id (reliability.md, fault 36).
var hostile = []struct {
	name, value string
	usable      bool
}{
	{"plain", "s-1", true},
	{"path", "../../etc/passwd", true},
	{"glob", "*", true},
	{"redis hash tag", "{a}:b", true},
	{"percent", "%00%2e%2e", true},
	{"quote", `a"b\c'd`, true},
	{"spaces inside", "a b", true},
	{"spaces outside", " a ", true},
	{"Latin a", "a", true},
	{"Cyrillic a", "\u0430", true},
	{"full-width a", "\uff41", true},
	{"composed", "\u00e9", true},
	{"decomposed", "e\u0301", true},
	{"zero width inside", "a\u200bb", true},
	{"upper case", "S-1", true},
	{"longest", strings.Repeat("x", 512), true},
	{"one too long", strings.Repeat("x", 513), false},
	{"10 KiB", strings.Repeat("x", 10<<10), false},
	{"1 MiB", strings.Repeat("x", 1<<20), false},
	{"empty", "", false},
	{"blank", "  ", false},
	{"no-break space", "\u00a0\u2003", false},
	{"NUL", "a\x00b", false},
	{"newline", "a\nb", false},
	{"tab", "a\tb", false},
	{"DEL", "a\x7f", false},
	{"C1 control", "a\u0085b", false},
	{"invalid UTF-8", "a\xff", false},
	{"cut UTF-8", "a\xc3", false},
	{"encoded surrogate", "\xed\xa0\x80", false},
	{"replacement character", "a\ufffd", false},
}

// bodyWith is a body that holds a value, as a JSON string, under a name.
func bodyWith(t testing.TB, name, value string) string {
	t.Helper()
	b, err := json.Marshal(map[string]string{name: value})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestInvariant2_BlankOrOversizedIsNoID(t *testing.T) {
	check := func(t *testing.T, c call, value, source string, usable bool) {
		t.Helper()
		id := newRig(t, Config{}).send(c)
		if usable && (id.Session != value || id.Source != source) {
			t.Errorf("Resolve = %q from %q, want %q from %q", id.Session, id.Source, value, source)
		}
		// An unusable value is passed over for the next source.
		if !usable && id.Session != "next" {
			t.Errorf("Resolve = %q from %q, want %q", id.Session, id.Source, "next")
		}
	}
	for _, tt := range hostile {
		t.Run(tt.name, func(t *testing.T) {
			next := `{"prompt_cache_key":"next"}`
			check(t, call{header: map[string]string{"X-Session-Id": tt.value}, body: next}, tt.value, "header x-session-id", tt.usable)
			check(t, call{named: tt.value, body: next}, tt.value, "path", tt.usable)
			if strings.ContainsAny(tt.value, "\xff\xc3\xed") && !tt.usable {
				return // no JSON can hold it
			}
			body := `{"metadata":` + bodyWith(t, "user_id", bodyWith(t, "session_id", tt.value)) + `,"prompt_cache_key":"next"}`
			check(t, call{body: body}, tt.value, "body metadata.user_id", tt.usable)
		})
	}
}

func TestInvariant5_AnyByteMakesADifferentSession(t *testing.T) {
	seen := map[string]string{}
	for _, tt := range hostile {
		if !tt.usable {
			continue
		}
		id := newRig(t, Config{}).send(call{header: map[string]string{"x-session-id": tt.value}})
		if other, ok := seen[id.Session]; ok {
			t.Errorf("%q and %q are one session %q", tt.value, other, id.Session)
		}
		seen[id.Session] = tt.value
	}
	// Halves of surrogate pairs all decode to U+FFFD: they are no ids, or they
	// would meet.
	for _, body := range []string{`{"prompt_cache_key":"k\ud800"}`, `{"prompt_cache_key":"k\udc00"}`} {
		if id := newRig(t, Config{}).send(call{body: body, messages: opened}); !id.Derived {
			t.Errorf("Resolve(%s) = %q from %q, want a derived session", body, id.Session, id.Source)
		}
	}
	// An escape is another spelling of the same value.
	if id := newRig(t, Config{}).send(call{body: `{"prompt_cache_\u006bey":"\u0061b"}`}); id.Session != "ab" {
		t.Errorf("session of an escaped value = %q, want %q", id.Session, "ab")
	}
}

// TestOrder gives a request every default source and takes them away one by one.
func TestOrder(t *testing.T) {
	h := headers("x-preface-session: 1\nx-claude-code-session-id: 2\nsession-id: 4\nsession_id: 5\nx-session-id: 6\nx-session-affinity: 7\n" +
		"x-client-request-id: never\nx-stainless-retry-count: 0\nuser-agent: never\nx-api-key: never")
	c := call{
		named: "0", header: h, messages: opened,
		body: `{"metadata":{"user_id":"{\"session_id\":\"3\"}"},"prompt_cache_key":"8"}`,
	}
	take := func(want string) {
		t.Helper()
		if id := newRig(t, Config{}).send(c); id.Source != want {
			t.Errorf("Resolve = %q from %q, want from %q", id.Session, id.Source, want)
		}
	}
	take("path")
	c.named = ""
	for _, name := range []string{"x-preface-session", "x-claude-code-session-id"} {
		take("header " + name)
		delete(h, name)
	}
	take("body metadata.user_id")
	c.body = `{"metadata":{"user_id":"user_0_account__session_3"},"prompt_cache_key":"8"}`
	take("body metadata.user_id")
	c.body = `{"metadata":{"user_id":"some user"},"prompt_cache_key":"8"}`
	for _, name := range []string{"session-id", "session_id", "x-session-id", "x-session-affinity"} {
		take("header " + name)
		delete(h, name)
	}
	take("body prompt_cache_key")
	c.body = `{"metadata":{"user_id":17},"prompt_cache_key":null}`
	take("opening")
}

// TestSources is about sources of one's own.
func TestSources(t *testing.T) {
	f := func(source Source, c call, want string) {
		t.Helper()
		c.messages = opened
		id := newRig(t, Config{Session: []Source{source}}).send(c)
		if got := id.Session; got != want && !(want == "" && id.Derived) {
			t.Errorf("session of %+v by %+v = %q, want %q", c, source, got, want)
		}
	}
	turn := call{header: map[string]string{"X-Codex-Turn-Metadata": `{"a":[1],"session_id":"s","n":1}`}}
	f(Source{Header: "x-codex-turn-metadata", Field: "session_id"}, turn, "s")
	f(Source{Header: "x-codex-turn-metadata", Field: "n"}, turn, "")
	f(Source{Header: "x-codex-turn-metadata", Field: "none"}, turn, "")
	f(Source{Header: "x-codex-turn-metadata"}, turn, `{"a":[1],"session_id":"s","n":1}`)
	f(Source{Body: "a.b.c"}, call{body: `{"a":{"b":{"c":"deep"}}}`}, "deep")
	f(Source{Body: "a.b.c"}, call{body: `{"a":{"b":"shallow"}}`}, "")
	f(Source{Body: "a"}, call{body: `{"a":["x"]}`}, "")
	f(Source{Body: "a"}, call{}, "")
	f(Source{Body: "user", Pattern: `^team-(\d+)-`}, call{body: `{"user":"team-42-x"}`}, "42")
	f(Source{Body: "user", Pattern: `^team-(\d+)?-`}, call{body: `{"user":"team--x"}`}, "")
	f(Source{Body: "user", Field: "id", Pattern: `^(.)`}, call{body: `{"user":"{\"id\":\"xyz\"}"}`}, "x")
	f(Source{Body: "user", Field: "id"}, call{body: `{"user":"{\"id\":\"xyz\",\"id\":\"abc\"}"}`}, "")
	f(Source{Body: "user", Pattern: "(x)$"}, call{body: bodyWith(t, "user", strings.Repeat("y", maxCarrier-1)+"x")}, "x")
	f(Source{Body: "user", Pattern: "(x)$"}, call{body: bodyWith(t, "user", strings.Repeat("y", maxCarrier)+"x")}, "")
	f(Source{Header: "h", Pattern: "(x)$"}, call{header: map[string]string{"h": strings.Repeat("y", maxCarrier) + "x"}}, "")
}

func TestResumeIsPassedOn(t *testing.T) {
	g := newRig(t, Config{})
	f := func(c call, want string) {
		t.Helper()
		if id := g.send(c); id.Resume != want {
			t.Errorf("Resolve(%+v).Resume = %q, want %q", c, id.Resume, want)
		}
	}
	f(call{named: "s"}, "")
	f(call{named: "s", header: headers("X-Preface-Resume: 1")}, "1")
	f(call{named: "s", header: headers("X-Preface-Resume:  ")}, "")
	f(call{messages: opened, header: headers("X-Preface-Resume: token 7")}, "token 7")
}

func TestConfigErrors(t *testing.T) {
	f := func(cfg Config, key []byte, want string) {
		t.Helper()
		if _, err := New(cfg, key, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New(%+v) = %v, want an error with %q", cfg, err, want)
		}
	}
	f(Config{}, testKey[:15], "tenant key of 15 bytes")
	f(Config{MaxID: -1}, testKey, "max_id -1")
	f(Config{Live: -1}, testKey, "live -1")
	f(Config{Session: []Source{{Header: "a"}, {}}}, testKey, "session[1]: want one of header and body")
	f(Config{Thread: []Source{{Header: "a", Body: "b"}}}, testKey, `thread[0]: want one of header and body, not header "a" with body "b"`)
	f(Config{Parent: []Source{{Body: "a", Pattern: "("}}}, testKey, `parent[0]: pattern "("`)
	f(Config{Resume: []Source{{Body: "a", Pattern: "a"}}}, testKey, `resume[0]: pattern "a" has 0 groups`)
}

func TestEmptyListReadsNothing(t *testing.T) {
	g := newRig(t, Config{Session: []Source{}, Thread: []Source{}})
	id := g.send(call{header: headers("x-session-id: s\nthread-id: t"), messages: opened})
	if !id.Derived || id.ThreadSource != "opening" {
		t.Errorf("Resolve without sources = %q from %q, thread from %q, want derived ones", id.Session, id.Source, id.ThreadSource)
	}
}

func TestDepth(t *testing.T) {
	r, err := New(Config{Thread: []Source{{Body: "client_metadata.a.thread"}, {Body: "client_metadata.b"}}}, testKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"metadata": 1, "prompt_cache_key": 0, "client_metadata": 2, "messages": 0} {
		if got := r.Depth([]byte(name)); got != want {
			t.Errorf("Depth(%q) = %d, want %d", name, got, want)
		}
	}
}

// FuzzSources reads ids from arbitrary headers and bodies.
func FuzzSources(f *testing.F) {
	for _, tt := range hostile {
		if len(tt.value) < 1000 {
			f.Add([]byte(tt.value), []byte(`{"metadata":{"user_id":"x"}}`), tt.value)
		}
	}
	f.Add([]byte(nil), []byte(`{"metadata":{"user_id":"{\"session_id\":\"s\"}"},"prompt_cache_key":"k"}`), "")
	f.Add([]byte(nil), []byte(`{"metadata":{"user_id":"user_a_session_\ud800"}}`), "")
	r, err := New(Config{}, testKey, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, value, body []byte, named string) {
		in := &Input{Header: func(name string) []byte { return value }, Named: named, Doc: new(jsonspan.Doc)}
		if in.Doc.Scan(body, r.Depth) != nil {
			in.Doc = nil
		}
		before := bytes.Clone(body)
		for range 2 { // with headers, and without
			id, err := r.Resolve(context.Background(), in)
			if err != nil {
				t.Fatalf("Resolve = %v", err)
			}
			for _, v := range []string{id.Session, strings.TrimPrefix(id.Thread, "agent:")} {
				if !usable(v) || len(v) > 512 {
					t.Errorf("Resolve = %+v: %q is no id", id, v)
				}
			}
			if !id.Derived && id.Source == "header x-preface-session" && id.Session != string(value) {
				t.Errorf("session %q of header %q", id.Session, value)
			}
			if id.Source == "path" && id.Session != named {
				t.Errorf("session %q of path %q", id.Session, named)
			}
			in.Header, in.Named = nil, ""
		}
		if !bytes.Equal(before, body) {
			t.Errorf("the body was changed")
		}
	})
}
