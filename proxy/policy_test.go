package proxy

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore"
	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
)

// failing is a log that can be made to fail.
type failing struct {
	logsink.Log
	down atomic.Bool
}

func (l *failing) Freeze(ctx context.Context, a *logsink.Anchor) (*logsink.Anchor, error) {
	if l.down.Load() {
		return nil, fmt.Errorf("test: %w", logsink.ErrUnavailable)
	}
	return l.Log.Freeze(ctx, a)
}

func (l *failing) Current(ctx context.Context, k logsink.Key) (*logsink.Anchor, error) {
	if l.down.Load() {
		return nil, fmt.Errorf("test: %w", logsink.ErrUnavailable)
	}
	return l.Log.Current(ctx, k)
}

// TestPolicyWhenTheLogIsDown: DESIGN.md 4.9, line by line.
func TestPolicyWhenTheLogIsDown(t *testing.T) {
	history := strings.Replace(anthropicTurn, `"content":"hello \u00e9"}`, `"content":"hello"},{"role":"assistant","content":"hi"},{"role":"user","content":"more"}`, 1)
	start := func(p string) (*bench, *failing) {
		var l *failing
		b := newBench(t, policy(p), func(_ *bench, _ *Setup, d *Deps, _ *prefixstore.Options) {
			l = &failing{Log: d.Log}
			d.Log = l
		})
		if r := b.post("/v1/messages", anthropicTurn, "x-claude-code-session-id", "known"); r.StatusCode != 200 {
			t.Fatalf("before the fault: %d %s", r.StatusCode, r.body)
		}
		l.down.Store(true)
		return b, l
	}
	for _, p := range []string{BestEffort, Enforced} {
		t.Run(p, func(t *testing.T) {
			b, l := start(p)
			sent := len(b.received())
			// What cannot be the first request of its session, which this process
			// does not know: a history, and a subagent's beginning.
			begun := func(what, body string, header ...string) {
				t.Helper()
				r := b.post("/v1/messages", body, header...)
				if r.StatusCode != 503 || r.Header.Get("retry-after") == "" || r.Header.Get("x-should-retry") != "true" {
					t.Errorf("%s: %d %v %s", what, r.StatusCode, r.Header, r.body)
				}
			}
			begun("unknown history", history, "x-claude-code-session-id", "unknown")
			begun("unknown subagent", anthropicTurn, "x-claude-code-session-id", "unknown", "x-claude-code-agent-id", "a1")
			begun("unknown fork", anthropicTurn, "session-id", "unknown", "thread-id", "t1")
			if n := len(b.received()); n != sent {
				t.Errorf("TestI1: the provider got a request while the log was down")
			}
			// An opening request. Codex names its main thread like the session.
			r := b.post("/v1/messages", anthropicTurn, "session-id", "new", "thread-id", "new")
			if p == Enforced {
				if r.StatusCode != 503 || len(b.received()) != sent {
					t.Errorf("opening request, enforced: %d %s", r.StatusCode, r.body)
				}
				return
			}
			if r.StatusCode != 200 || string(b.last().Body) != anthropicTurn || r.Header.Get("x-preface-prefix") != "bare; log_down" {
				t.Errorf("opening request, best effort: %d %q", r.StatusCode, r.Header.Get("x-preface-prefix"))
			}
			// Its history stays bare, also when the log is back.
			l.down.Store(false)
			r = b.post("/v1/messages", history, "session-id", "new", "thread-id", "new")
			if r.StatusCode != 200 || string(b.last().Body) != history {
				t.Errorf("the bare session went on with %d and %s", r.StatusCode, b.last().Body)
			}
		})
	}
}

// TestPolicyWhenContributorsFail.
func TestPolicyWhenContributorsFail(t *testing.T) {
	bad := contrib.Config{Kind: "file", Name: "gone", Paths: []string{"no-such-file.md"}, Root: t.TempDir()}
	b := newBench(t, policy(Enforced), contributors(bad))
	if r := b.post("/v1/messages", anthropicTurn); r.StatusCode != 503 || len(b.received()) != 0 {
		t.Errorf("enforced: %d %s, %d requests sent", r.StatusCode, r.body, len(b.received()))
	}
	b = newBench(t, contributors(bad))
	r := b.post("/v1/messages", anthropicTurn, "x-claude-code-session-id", "s")
	if r.StatusCode != 200 || r.Header.Get("x-preface-prefix") != "bare; compose_failed" || string(b.last().Body) != anthropicTurn {
		t.Errorf("best effort: %d %q", r.StatusCode, r.Header.Get("x-preface-prefix"))
	}
}

// TestPolicyWhenContributorsFailAtAResume: the new epoch is bare; asking again
// and again for one that cannot be composed was an endless loop.
func TestPolicyWhenContributorsFailAtAResume(t *testing.T) {
	root := t.TempDir()
	name := filepath.Join(root, "AGENTS.md")
	if err := os.WriteFile(name, []byte("rules"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, contributors(contrib.Config{Kind: "file", Paths: []string{"AGENTS.md"}, Root: root, Deadline: patience}))
	expect := func(resume, prefix string) {
		t.Helper()
		r := b.post("/v1/messages", anthropicTurn, "x-claude-code-session-id", "s", "x-preface-resume", resume)
		if r.StatusCode != 200 || !strings.HasPrefix(r.Header.Get("x-preface-prefix"), prefix) {
			t.Errorf("resume %q: %d %q, want %q", resume, r.StatusCode, r.Header.Get("x-preface-prefix"), prefix)
		}
	}
	expect("", "sha256:")
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	expect("1", "bare; compose_failed")
	expect("", "bare; compose_failed")
	b.verify()
}

// TestPolicyForUnreadableBodies: refused when enforced, else the very bytes.
func TestPolicyForUnreadableBodies(t *testing.T) {
	best, enforced := newBench(t), newBench(t, policy(Enforced))
	f := func(body string) {
		t.Helper()
		if r := best.post("/v1/messages", body); string(best.last().Body) != body {
			t.Errorf("best effort: %.60q arrived as %.60q (%d)", body, best.last().Body, r.StatusCode)
		}
		sent := len(enforced.received())
		if r := enforced.post("/v1/messages", body); r.StatusCode != 400 || len(enforced.received()) != sent || !bytes.Contains(r.body, []byte("preface: ")) {
			t.Errorf("enforced: %.60q = %d %s", body, r.StatusCode, r.body)
		}
	}
	f(`{"model":"a","messages":[{"role":"user","content":"x"}],"messages":[]}`)
	f(`{"model":"a","messages":[{"role":"user","role":"assistant","content":"x"}]}`)
	f("\xef\xbb\xbf" + anthropicTurn)
	f(anthropicTurn + "x")
	f(`{"model":"a","messages":[{"role":"user","content":"` + "\xff" + `"}]}`)
	f(`{"model":"a","messages":7}`)
	f(`[]`)
	f(`{"model":"a","messages":[` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `]}`)
	f(``)
}
