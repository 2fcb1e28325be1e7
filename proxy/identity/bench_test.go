package identity

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/seed-9236c7ca/preface/proxy/internal/lineage"
)

// request is what a benchmark resolves: headers as the server would give them,
// by name, without allocation.
func request(credential, session string, messages int) *Input {
	h := map[string][]byte{"x-claude-code-session-id": []byte(session), "user-agent": []byte("claude-cli")}
	in := &Input{Family: "anthropic", Credential: []byte(credential), Header: func(name string) []byte { return h[name] }}
	in.History, in.Answered = longHistory(session, messages), true
	in.FirstPrompt = in.History[0]
	return in
}

func longHistory(seed string, messages int) []lineage.Point {
	p := lineage.Of([]byte(seed))
	history := []lineage.Point{p}
	for range messages - 1 {
		p = p.Next(p)
		history = append(history, p)
	}
	return history
}

// filled returns a Resolver that remembers n sessions.
func filled(tb testing.TB, n int, session func(i int) *Input) *Resolver {
	tb.Helper()
	r, err := New(Config{Live: n + 10}, testKey, nil)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range n {
		if _, err := r.Resolve(context.Background(), session(i)); err != nil {
			tb.Fatal(err)
		}
	}
	runtime.GC() // or a benchmark pays for what filling left
	return r
}

const credential = "sk-ant-api03-0123456789012345678901234567890123456789012345678901234567890123456789"

func explicit(i int) *Input {
	return request(credential, fmt.Sprintf("0d5e2a4c-8b1f-4c0e-9a53-%012d", i), 1)
}

// codex is a request whose thread, too, has an id.
func codex() *Input {
	in := explicit(0)
	h := map[string][]byte{"session-id": []byte("0193-root"), "thread-id": []byte("0193-root")}
	in.Header = func(name string) []byte { return h[name] }
	return in
}

func BenchmarkExplicit(b *testing.B) {
	for _, n := range []int{1, 10_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := filled(b, n, explicit)
			// Other sessions each time, as many as do not fit the processor's cache.
			inputs := make([]*Input, min(n, 4096))
			for i := range inputs {
				inputs[i] = explicit(i * (n / len(inputs)))
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if id, err := r.Resolve(context.Background(), inputs[i%len(inputs)]); err != nil || !id.Known {
					b.Fatalf("Resolve = %+v, %v", id, err)
				}
			}
		})
	}
}

func BenchmarkExplicitParallel(b *testing.B) {
	r := filled(b, 10_000, explicit)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		in := explicit(7)
		for pb.Next() {
			if id, err := r.Resolve(context.Background(), in); err != nil || !id.Known {
				b.Fatalf("Resolve = %+v, %v", id, err)
			}
		}
	})
}

func BenchmarkAgentID(b *testing.B) {
	r := filled(b, 1, explicit)
	in := codex()
	b.ReportAllocs()
	for b.Loop() {
		if id, err := r.Resolve(context.Background(), in); err != nil || id.Thread != "agent:0193-root" {
			b.Fatalf("Resolve = %+v, %v", id, err)
		}
	}
}

// BenchmarkBody reads the id where Claude Code repeats it.
func BenchmarkBody(b *testing.B) {
	r := filled(b, 1, explicit)
	in := call{messages: worked, body: clients[1].body}.input(b)
	b.ReportAllocs()
	for b.Loop() {
		if id, err := r.Resolve(context.Background(), in); err != nil || id.Source != "body metadata.user_id" {
			b.Fatalf("Resolve = %+v, %v", id, err)
		}
	}
}

// derived is a conversation that names nothing. Its opening differs by i.
func derived(i, messages int) *Input {
	in := request(credential, fmt.Sprint("conversation ", i), messages)
	in.Header = func(string) []byte { return nil }
	return in
}

// BenchmarkDerived resolves the 50 turns of conversations that grow by two
// messages a turn to 100, so 50 on average, and tells how they ended.
func BenchmarkDerived(b *testing.B) {
	for _, n := range []int{1, 10_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := filled(b, n, func(i int) *Input { return derived(i, 1) })
			inputs := make([]*Input, min(n, 256))
			for i := range inputs {
				inputs[i] = derived(i*(n/len(inputs)), 100)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				in := *inputs[i/50%len(inputs)]
				in.History = in.History[:2+i%50*2]
				id, err := r.Resolve(context.Background(), &in)
				if err != nil || id.Session == "" {
					b.Fatalf("Resolve = %+v, %v", id, err)
				}
				r.Done(id, in.History, true)
			}
		})
	}
}

// BenchmarkUnknown is the worst case before the log is asked: nothing of 50
// messages is known.
func BenchmarkUnknown(b *testing.B) {
	r := filled(b, 10_000, func(i int) *Input { return derived(i, 1) })
	r.find = func(context.Context, string, []string) (string, string, bool, error) { return "", "", false, nil }
	in := derived(-1, 50)
	in.Peek = true
	b.ReportAllocs()
	for b.Loop() {
		if id, err := r.Resolve(context.Background(), in); err != nil || id.Known {
			b.Fatalf("Resolve = %+v, %v", id, err)
		}
	}
}

// BenchmarkOpening opens sessions that all begin alike.
func BenchmarkOpening(b *testing.B) {
	r := filled(b, 1, explicit)
	in := derived(0, 1)
	in.Answered = false
	b.ReportAllocs()
	for b.Loop() {
		id, err := r.Resolve(context.Background(), in)
		if err != nil || id.Source != "opening" {
			b.Fatalf("Resolve = %+v, %v", id, err)
		}
		r.Done(id, in.History, true)
	}
}
