package faulttest

import (
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/bench/provider"
)

// TestI12_HeadersOfOneConnection: what a client's header says of its own
// connection, a credential for a proxy among it, and what its Connection header
// lists, ends here. All else goes on as it was spelled, and nothing that a
// client lists can take one of our own headers away.
func TestI12_HeadersOfOneConnection(t *testing.T) {
	st := newStage(t)
	p := st.start()
	s := newSession(forms[0], "hop", false)
	try := s.newTry(1)
	st.trail.add(try)
	talk(t, p.agents, try.text("Connection", "close, X-Private, Content-Length", "X-Private", "canary-private",
		"Proxy-Authorization", "Basic canary-proxy", "Proxy-Connection", "keep-alive", "Keep-Alive", "timeout=5", "TE", "trailers",
		"X-Preface-Session", "hop", "X-UnTouched", "as it was"))
	var got []provider.Exchange
	eventually(t, "the request arrives", func() bool {
		got = st.trail.arrivals()[try.id]
		return len(got) > 0 && !got[0].ReceivedAt.IsZero()
	})
	head := string(got[0].Head)
	for _, name := range []string{"x-private", "proxy-authorization", "proxy-connection", "keep-alive", "te:", "x-preface-", "canary"} {
		if strings.Contains(strings.ToLower(head), name) {
			t.Errorf("I12: %q reached the provider:\n%s", name, head)
		}
	}
	if !strings.Contains(head, "X-UnTouched: as it was\r\n") || strings.Count(head, "Content-Length: ") != 1 {
		t.Errorf("the head that arrived lacks what had to go on:\n%s", head)
	}
	p.stop()
}
