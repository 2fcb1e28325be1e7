package proxy

import (
	"context"
	"net"
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
