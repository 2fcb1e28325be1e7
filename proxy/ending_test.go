package proxy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/prefixstore"
)

// ends is what preface_requests_total says, by end.
func (b *bench) ends() map[string]int {
	b.t.Helper()
	families, err := b.c.Registry().Gather()
	if err != nil {
		b.t.Fatal(err)
	}
	m := map[string]int{}
	for _, f := range families {
		if f.GetName() != "preface_requests_total" {
			continue
		}
		for _, c := range f.GetMetric() {
			for _, l := range c.GetLabel() {
				if l.GetName() == "end" {
					m[l.GetValue()] += int(c.GetCounter().GetValue())
				}
			}
		}
	}
	return m
}

// TestI11_EachRequestCountsOnce: also one that was sent and is answered by us.
func TestI11_EachRequestCountsOnce(t *testing.T) {
	b := newBench(t)
	check := func(want map[string]int) {
		t.Helper()
		eventually(t, "all is over", func() bool { return b.srv.inFlight.Load() == 0 })
		if d := cmp.Diff(want, b.ends()); d != "" {
			t.Errorf("requests by end (-want +got):\n%s", d)
		}
	}
	b.post("/v1/messages", anthropicTurn)
	check(map[string]int{"complete": 1})
	b.post("/v1/messages", anthropicTurn, "x-provider-fault", "reset")
	check(map[string]int{"complete": 1, "no_answer": 1})
	c := b.raw(rawPost("/v1/messages", anthropicTurn, "x-provider-fault", "delay=30s"))
	eventually(t, "the provider has the request", func() bool {
		all := b.received()
		return len(all) == 3 && !all[2].ReceivedAt.IsZero()
	})
	c.Close()
	check(map[string]int{"complete": 1, "no_answer": 1, "client_gone": 1})
	b.raw("POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n{")
	eventually(t, "it is refused", func() bool { return b.ends()["refused"] == 1 })
	check(map[string]int{"complete": 1, "no_answer": 1, "client_gone": 1, "refused": 1})

	down := newBench(t, func(b *bench, s *Setup, _ *Deps, _ *prefixstore.Options) { s.Config = b.config("http://127.0.0.1:1") })
	down.post("/v1/messages", anthropicTurn)
	if d := cmp.Diff(map[string]int{"upstream_refused": 1}, down.ends()); d != "" {
		t.Errorf("requests by end, with no provider (-want +got):\n%s", d)
	}
}
