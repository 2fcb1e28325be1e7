package identity

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestInvariant1_TenantsNeverMeet(t *testing.T) {
	g := newRig(t, Config{})
	for _, tt := range hostile {
		c := call{named: tt.value, messages: opened}
		a, b := c, c
		a.credential, b.credential = "sk-a", "sk-b"
		ia, ib := g.send(a), g.send(b)
		if ia.Tenant == ib.Tenant {
			t.Fatalf("one tenant %s for two credentials", ia.Tenant)
		}
		if !ia.Derived && ia.Known || !ib.Derived && ib.Known {
			t.Errorf("%s: the other tenant's thread is known: %+v, %+v", tt.name, ia, ib)
		}
	}
	// Nor do derived ones, in memory or through the log.
	a := g.answer(call{credential: "sk-a", messages: worked[:1]})
	for range 2 {
		b := g.answer(call{credential: "sk-b", messages: worked[:3]})
		if b.Session == a.Session || b.Tenant == a.Tenant {
			t.Errorf("tenant b continues a's conversation: %+v", b)
		}
		g.restart(Config{})
	}
}

func TestInvariant1_TenantIsAKeyedHash(t *testing.T) {
	r := newRig(t, Config{}).r
	other, err := New(Config{}, bytes.Repeat([]byte{7}, 32), nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, credential := range []string{"", " ", "sk-a", "sk-b", "sk-A", string(make([]byte, 64)), string(make([]byte, 10<<10))} {
		for i, x := range []*Resolver{r, other} {
			id := x.Tenant([]byte(credential))
			who := fmt.Sprintf("key %d, credential of %d bytes", i, len(credential))
			if len(id) != 32 || seen[id] != "" {
				t.Errorf("Tenant of %s = %q, want 32 digits unlike those of %s", who, id, seen[id])
			}
			seen[id] = who
			if again := x.Tenant([]byte(credential)); again != id {
				t.Errorf("Tenant of %s = %q and then %q", who, id, again)
			}
		}
	}
	// Computed elsewhere: the log outlives every build, so must its tenants.
	if got, want := r.Tenant([]byte("sk-a")), "af5dbdc2a6e5bf0c897a92d4b7365980"; got != want {
		t.Errorf("Tenant(sk-a) = %s, want %s", got, want)
	}
	if r.Tenant(nil) != r.Tenant([]byte{}) {
		t.Error("callers without a credential are not one tenant")
	}
	if got, err := r.Resolve(context.Background(), (call{}).input(t)); err != nil || got.Tenant != r.Tenant(nil) {
		t.Errorf("tenant of no credential = %q, %v, want %q", got.Tenant, err, r.Tenant(nil))
	}
}

// TestInvariant1_NoCredentialComesOut puts a canary where credentials are and
// looks at everything that comes back.
func TestInvariant1_NoCredentialComesOut(t *testing.T) {
	const canary = "sk-CANARY-0123456789"
	g := newRig(t, Config{})
	h := headers("authorization: Bearer " + canary + "\nx-api-key: " + canary + "\ncookie: " + canary)
	var out []any
	for _, c := range []call{
		{messages: opened}, {messages: worked[:3]}, {messages: worked}, {named: "s", messages: opened},
		{body: `{"prompt_cache_key":"k"}`, messages: opened}, {messages: opened, peek: true},
	} {
		c.credential, c.header = canary, h
		out = append(out, g.send(c))
	}
	g.log.down = true
	in := call{credential: canary, header: h, messages: []string{"u:1", "a:2", "u:3"}}.input(t)
	id, err := g.r.Resolve(context.Background(), in)
	if err == nil {
		t.Fatal("Resolve with the log down = nil, want an error")
	}
	out = append(out, id, err, g.r.Tenant([]byte(canary)), fmt.Sprintf("%+v", g.r.memory))
	for _, v := range out {
		if text := fmt.Sprintf("%+v", v); bytes.Contains([]byte(text), []byte("CANARY")) {
			t.Errorf("the credential is in %s", text)
		}
	}
}

func TestInvariant3_ExplicitWins(t *testing.T) {
	g := newRig(t, Config{})
	derived := g.answer(call{messages: worked[:1]})
	named := g.answer(call{header: headers("x-session-id: mine"), messages: worked[:3]})
	if named.Session != "mine" || named.Derived {
		t.Errorf("explicit request = %+v, want session mine", named)
	}
	if id := g.answer(call{messages: worked[:3]}); id.Session != derived.Session {
		t.Errorf("derived session after it = %s, want %s", id.Session, derived.Session)
	}
	if n := g.log.questions(); n != 0 {
		t.Errorf("the log was asked %d times for what memory knows", n)
	}
	// A client may name the session that an answer told it.
	if id := g.answer(call{named: derived.Session, messages: append(worked[:3:3], "a:x", "u:y")}); id.Session != derived.Session || !id.Known {
		t.Errorf("named by its derived id = %+v, want session %s, known", id, derived.Session)
	}
}

func TestExplicitNeverAsksTheLog(t *testing.T) {
	g := newRig(t, Config{})
	g.log.down = true
	for i := range len(worked) {
		g.answer(call{named: "s", messages: worked[:i+1]})
		g.answer(call{named: fmt.Sprint("other", i), messages: worked})
	}
	if n := g.log.questions(); n != 0 {
		t.Errorf("the log was asked %d times", n)
	}
}

// TestCaseE1_SubagentsDoNotThrash interleaves a main agent, subagents with and
// without ids, and side requests on one session id.
func TestCaseE1_SubagentsDoNotThrash(t *testing.T) {
	g := newRig(t, Config{})
	agents := []struct {
		name, header string
		messages     []string
	}{
		{"main", "", []string{"u:main"}},
		{"subagent with an id", "x-claude-code-agent-id: a01", []string{"u:main"}},
		{"another with an id", "x-claude-code-agent-id: a02", []string{"u:main"}},
		{"subagent without an id", "", []string{"u:search"}},
		{"title", "", []string{"u:title for main"}},
	}
	threads := map[string]string{}
	for turn := range 5 {
		for i := range agents {
			a := &agents[i]
			h := headers("x-claude-code-session-id: s\n" + a.header)
			id := g.answer(call{header: h, messages: a.messages})
			if id.Session != "s" {
				t.Errorf("%s: session %s", a.name, id.Session)
			}
			if who, ok := threads[id.Thread]; ok && who != a.name {
				t.Errorf("turn %d: %s and %s are one thread %s", turn, who, a.name, id.Thread)
			}
			threads[id.Thread] = a.name
			a.messages = append(a.messages, fmt.Sprint("a:", a.name, turn), "u:go on")
		}
	}
	if len(threads) != len(agents) {
		t.Errorf("%d agents have %d threads: %v", len(agents), len(threads), threads)
	}
}

// TestCaseE2_SessionKeyIsSharedThreadKeyIsNot also holds after a restart, for a
// conversation however old.
func TestCaseE2_SessionKeyIsSharedThreadKeyIsNot(t *testing.T) {
	g := newRig(t, Config{})
	codex := func(thread string, messages ...string) Identity {
		return g.answer(call{
			header: headers("session-id: root\nthread-id: " + thread), messages: messages,
			body: `{"prompt_cache_key":"root"}`,
		})
	}
	main := codex("root", worked...)
	fork := codex("sub", append(worked[:4:4], "u:you are a subagent")...)
	if main.Session != fork.Session || main.Thread == fork.Thread {
		t.Errorf("fork = %s %s beside %s %s, want one session, two threads", fork.Session, fork.Thread, main.Session, main.Thread)
	}
	g.restart(Config{})
	if again := codex("sub", append(worked[:4:4], "u:you are a subagent", "a:yes", "u:go")...); !same(again, fork) {
		t.Errorf("after a restart: %+v, want %+v", again, fork)
	}
}

// TestCaseE5_OneSessionManyConversations puts 39 conversations on one bare
// session id: each has a thread of its own, whichever turn it is at.
func TestCaseE5_OneSessionManyConversations(t *testing.T) {
	g := newRig(t, Config{})
	const n = 39
	threads := map[string]int{}
	for turn := range 3 {
		for i := range n {
			messages := []string{fmt.Sprint("u:", i)}
			for k := range turn {
				messages = append(messages, fmt.Sprint("a:", i, k), "u:go on")
			}
			id := g.answer(call{body: `{"prompt_cache_key":"our app"}`, messages: messages})
			if was, ok := threads[id.Thread]; ok != (turn > 0) || ok && was != i {
				t.Errorf("turn %d of conversation %d has thread %s of conversation %d", turn, i, id.Thread, was)
			}
			threads[id.Thread] = i
		}
	}
}

// TestCaseE8_NothingIsGlobal resolves many requests at once and compares with
// what each alone would have given.
func TestCaseE8_NothingIsGlobal(t *testing.T) {
	g := newRig(t, Config{})
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			named := call{credential: fmt.Sprint("sk-", i), named: fmt.Sprint("s", i), messages: worked}
			own := call{credential: fmt.Sprint("sk-", i%4), messages: []string{fmt.Sprint("u:own ", i)}}
			tenant := g.r.Tenant([]byte(named.credential))
			first := g.answer(own)
			for k := range 50 {
				if id := g.answer(named); id.Session != named.named || id.Tenant != tenant {
					t.Errorf("request of %s = %+v", named.named, id)
				}
				own.messages = append(own.messages, fmt.Sprint("a:", i, k), "u:go on")
				if id := g.answer(own); id.Session != first.Session || id.Tenant != first.Tenant {
					t.Errorf("turn %d of conversation %d = %s, want %s", k, i, id.Session, first.Session)
				}
			}
		})
	}
	wg.Wait()
	g.r.memory.check(t)
}

// TestFirstRequestsRace is clients.md 1.10: the first two requests of a session
// come at the same time.
func TestFirstRequestsRace(t *testing.T) {
	for range 100 {
		g := newRig(t, Config{})
		ids := make([]Identity, 4)
		var wg sync.WaitGroup
		for i := range ids {
			wg.Go(func() {
				ids[i] = g.send(call{named: "s", messages: []string{[]string{"u:main", "u:title"}[i%2]}})
			})
		}
		wg.Wait()
		if ids[0].Thread != ids[2].Thread || ids[1].Thread != ids[3].Thread || ids[0].Thread == ids[1].Thread {
			t.Fatalf("threads of main, title, main, title: %s %s %s %s", ids[0].Thread, ids[1].Thread, ids[2].Thread, ids[3].Thread)
		}
	}
}

func TestRequestWithoutMessages(t *testing.T) {
	g := newRig(t, Config{})
	want := Identity{Session: "s", Source: "path", Thread: "main", ThreadSource: "none"}
	if diff := cmp.Diff(want, g.send(call{named: "s"}), visible); diff != "" {
		t.Errorf("explicit (-want +got):\n%s", diff)
	}
	a, b := g.send(call{}), g.send(call{})
	if a.Session == "" || !same(a, b) || a.Thread != "main" || a.ThreadSource != "none" {
		t.Errorf("derived = %+v and %+v, want one session, thread main", a, b)
	}
}

// visible compares what the caller sees of an Identity, tenant aside.
var visible = cmp.Options{cmpopts.IgnoreUnexported(Identity{}), cmpopts.IgnoreFields(Identity{}, "Tenant")}

func same(a, b Identity) bool {
	return a.Tenant == b.Tenant && a.Session == b.Session && a.Thread == b.Thread
}
