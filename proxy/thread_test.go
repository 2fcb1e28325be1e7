package proxy

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/seed-9236c7ca/preface/logsink"
)

// TestI2_SideRequestLeavesTheConversationAlone: a request for a title comes
// first and has the conversation's first message. It goes bare, as does what
// goes on from it; the conversation has its prefix, also after a restart.
func TestI2_SideRequestLeavesTheConversationAlone(t *testing.T) {
	const (
		opening = `{"role":"user","content":"fix the build"}`
		more    = opening + `,{"role":"assistant","content":"done"},{"role":"user","content":"thanks"}`
	)
	b := newBench(t, policy(Enforced))
	send := func(session, limit, messages string) string {
		t.Helper()
		body := `{"model":"claude-sonnet-4-5","max_tokens":` + limit + `,"messages":[` + messages + `]}`
		r := b.post("/v1/messages", body, "x-preface-session", session)
		if r.StatusCode != 200 {
			t.Fatalf("status %d: %s", r.StatusCode, r.body)
		}
		return r.Header.Get("x-preface-prefix")
	}
	bare := func(session, limit, messages string) {
		t.Helper()
		if got := send(session, limit, messages); got != "bare; side_request" {
			t.Errorf("session %s, max_tokens %s, %s: prefix %q, want bare; side_request", session, limit, messages, got)
		}
	}
	carries := func(session, limit, messages string) {
		t.Helper()
		if got := send(session, limit, messages); !strings.HasPrefix(got, "sha256:") {
			t.Errorf("session %s, max_tokens %s, %s: prefix %q, want the session's", session, limit, messages, got)
		}
	}
	bare("a", "20", opening)
	carries("a", "1000", opening)
	carries("a", "1000", more)
	bare("goes on", "20", opening)
	bare("goes on", "1000", more)
	bare("over a restart", "20", opening)
	b.flush()
	b.stop()
	b.start(policy(Enforced))
	carries("over a restart", "1000", opening)
	carries("a", "1000", more)
	b.verify()
}

// TestI2_SideRequestElsewhere: the request for a title went to one process, the
// conversation's first turn to another on the same log, and the second to the
// first again: it has the prefix, as the first had. What does go on from a side
// request stays bare.
func TestI2_SideRequestElsewhere(t *testing.T) {
	const (
		opening = `{"role":"user","content":"fix the build"}`
		more    = opening + `,{"role":"assistant","content":"done"},{"role":"user","content":"thanks"}`
	)
	here := newBench(t, policy(Enforced))
	there := &bench{t: t, up: here.up, out: &lockedBuffer{}, path: here.path}
	there.start(policy(Enforced))
	t.Cleanup(func() { there.stop() })
	send := func(b *bench, session, limit, messages, want string) {
		t.Helper()
		r := b.post("/v1/messages", `{"model":"claude-sonnet-4-5","max_tokens":`+limit+`,"messages":[`+messages+`]}`, "x-preface-session", session)
		if got := r.Header.Get("x-preface-prefix"); r.StatusCode != 200 || !strings.HasPrefix(got, want) {
			t.Errorf("session %s, max_tokens %s, %s: status %d, prefix %q, want %s…", session, limit, messages, r.StatusCode, got, want)
		}
		b.flush()
	}
	send(here, "a", "20", opening, "bare; side_request")
	send(there, "a", "1000", opening, "sha256:")
	send(here, "a", "1000", more, "sha256:")
	send(here, "b", "20", opening, "bare; side_request")
	send(there, "b", "20", opening, "bare; side_request")
	send(here, "b", "1000", more, "bare; side_request")
}

// TestFragmentsElsewhere: a count of a fragment is one wherever the same was
// counted before.
func TestFragmentsElsewhere(t *testing.T) {
	here := newBench(t)
	const fragment = `{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"fragment"}]}`
	count := func() string {
		t.Helper()
		r := here.post("/v1/messages/count_tokens", fragment, "x-preface-session", "s")
		if r.StatusCode != 200 {
			t.Fatalf("status %d: %s", r.StatusCode, r.body)
		}
		return r.Header.Get("x-preface-prefix")
	}
	if r := here.post("/v1/messages", anthropicTurn, "x-preface-session", "s"); r.StatusCode != 200 {
		t.Fatalf("status %d: %s", r.StatusCode, r.body)
	}
	first := count()
	here.flush()
	here.stop()
	here.start()
	if again := count(); again != first || !strings.HasPrefix(first, "bare; ") {
		t.Errorf("a fragment counted as %q, and after a restart as %q; want it bare both times", first, again)
	}
}

// TestEnforcedPathsInOtherWords: what a provider could take for a model call
// does not get around an enforced prefix. Where none is enforced, or a path is
// no model call's in any words, it passes as it is.
func TestEnforcedPathsInOtherWords(t *testing.T) {
	f := func(p, path string, want int) {
		t.Helper()
		b := newBench(t, policy(p))
		r := b.post(path, anthropicTurn)
		if r.StatusCode != want {
			t.Errorf("%s: POST %s = %d %s, want %d", p, path, r.StatusCode, r.body, want)
		}
		if sent := len(b.received()); want == 400 && sent != 0 {
			t.Errorf("%s: POST %s was sent", p, path)
		}
	}
	for _, path := range []string{"/v1/%6dessages", "/v1//messages", "//v1/messages", "/v1/messages/", "/anthropic/v1/x/../messages"} {
		f(Enforced, path, 400)
	}
	f(Enforced, "/v1/messages", 200)
	f(Enforced, "/v1/messages/batches", 404) // the provider's own
	f(BestEffort, "/v1/%6dessages", 200)
}

// TestI4_HeadersOfRequestsAtOnce: where requests of one thread come at the same
// time and their header changes, each refers to a header record that says what it
// was sent with, and that is in the log before it.
func TestI4_HeadersOfRequestsAtOnce(t *testing.T) {
	b := newBench(t)
	long := strings.Repeat("long ", 20_000)
	var mu sync.Mutex
	system := map[string]logsink.Digest{} // by request
	for i := range 60 {
		text := fmt.Sprintf(`"%d %s"`, i, long)
		var wg sync.WaitGroup
		for range 3 {
			body := `{"model":"m","system":` + text + `,"messages":[{"role":"user","content":"hello"}],"max_tokens":1000}`
			ctx := fakeRequest(t, b, body, "s")
			ctx.Request.SetBodyStream(strings.NewReader(body), len(body))
			wg.Go(func() {
				x := b.srv.begin(ctx)
				defer x.finish()
				if err := x.prepare(); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				system[x.id] = logsink.Sum([]byte(text))
			})
		}
		wg.Wait()
	}
	b.flush()
	seen := map[string]logsink.Digest{}
	for _, r := range b.records() {
		switch {
		case r.Header != nil:
			seen[r.Header.ID] = partOf(r.Header.Parts, "system")
		case r.Request != nil && seen[r.Request.Header] != system[r.Request.ID]:
			t.Fatalf("request %d refers to a header with another system text than was sent, or to one that is not before it", r.Request.Number)
		}
	}
	b.verify()
}
