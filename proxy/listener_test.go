package proxy

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/seed-9236c7ca/preface/prefixstore"
	"github.com/seed-9236c7ca/preface/proxy/telemetry"
)

// TestShutdownBeforeServe: a stop that comes while a server starts stops it.
func TestShutdownBeforeServe(t *testing.T) {
	var setup Setup
	var deps Deps
	b := newBench(t, func(_ *bench, s *Setup, d *Deps, _ *prefixstore.Options) { setup, deps = *s, *d })
	deps.Queue, deps.Store, deps.Counters = b.srv.queue, b.srv.store, telemetry.New()
	s, err := New(context.Background(), setup, deps)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(ln); err != nil {
		t.Errorf("Serve after Shutdown = %v", err)
	}
	if _, err := net.Dial("tcp", ln.Addr().String()); err == nil {
		t.Error("a server that was shut down listens")
	}
}

// TestDrainTakesWhatIsOnItsWay: a request that comes on a connection from before
// the listener was closed is answered, also if it is the first one there, and the
// answer sends the client elsewhere for the next.
func TestDrainTakesWhatIsOnItsWay(t *testing.T) {
	b := newBench(t, func(_ *bench, s *Setup, _ *Deps, _ *prefixstore.Options) {
		s.Config.Timeouts.DrainIdle = patience // until both are closed
	})
	kept, unused := b.raw(""), b.raw("")
	ask(t, kept, false)
	eventually(t, "both are accepted", func() bool { return b.srv.guard.Load().open() == 2 })
	ended := make(chan struct{})
	go func() { defer close(ended); b.stop() }()
	eventually(t, "the listener is closed", func() bool {
		c, err := net.Dial("tcp", unused.RemoteAddr().String())
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	ask(t, kept, true)
	ask(t, unused, true)
	<-ended
}

// ask sends a request on a connection and requires that it is answered.
func ask(t *testing.T, c net.Conn, last bool) {
	t.Helper()
	if _, err := io.WriteString(c, rawPost("/v1/messages", anthropicTurn)); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != 200 || resp.Close != last {
		t.Errorf("status %d, connection closed %v, %v; want 200, %v", resp.StatusCode, resp.Close, err, last)
	}
}
