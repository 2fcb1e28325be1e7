package proxy

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
)

// A faultyLog fails to freeze: with an error or, if that is nil, in a panic.
type faultyLog struct {
	logsink.Log
	err error
}

func (l faultyLog) Freeze(context.Context, *logsink.Anchor) (*logsink.Anchor, error) {
	if l.err != nil {
		return nil, l.err
	}
	panic("out of range in: " + openerText)
}

// TestI12_FaultsAreToldToOperators: a client learns of a fault of ours, or of the
// log, by its request id alone; the operators by a line that quotes no prefix, and
// of a panic by the counter.
func TestI12_FaultsAreToldToOperators(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		said   string
		panics float64
	}{
		"panic":   {nil, "panicked with a string in", 1},
		"damaged": {fmt.Errorf("page 7 of /var/lib/preface.db: %w", logsink.ErrCorrupt), "page 7 of", 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(_ *bench, _ *Setup, d *Deps, _ *prefixstore.Options) { d.Log = faultyLog{d.Log, c.err} })
			r := b.post("/v1/messages", anthropicTurn)
			if want := "internal error; the proxy's log has it under request " + r.Header.Get("x-preface-request"); r.StatusCode != 500 || !strings.Contains(string(r.body), want+`"`) {
				t.Errorf("answer %d %s, want 500 and %q", r.StatusCode, r.body, want)
			}
			said := b.out.String()
			if !strings.Contains(said, c.said) || !strings.Contains(said, r.Header.Get("x-preface-request")) || strings.Contains(said, openerText) {
				t.Errorf("operators read %q, want %q, the request, and no prefix", said, c.said)
			}
			if got := b.metric("preface_panics_total"); got != c.panics {
				t.Errorf("%v panics are counted, want %v", got, c.panics)
			}
		})
	}
}

// A panicking writer is a client's connection in whose writing we are at fault.
type panickingWriter struct{}

func (panickingWriter) Write([]byte) (int, error) { panic("while writing: " + openerText) }

// TestI8_RelayPanicIsNoEnd: an answer that a panic breaks off is not recorded as a
// whole one, even if all of it had been read, and the panic is counted and told.
func TestI8_RelayPanicIsNoEnd(t *testing.T) {
	b := newBench(t)
	x := &exchange{s: b.srv, id: "r1", link: &link{br: bufio.NewReader(strings.NewReader("all"))}}
	r := &x.relay
	r.x, r.framing, r.left = x, framedByLength, 3
	r.x.link.pool = b.srv.current.Load().ups[b.up.URL()].pool
	if _, err := r.x.link.br.Peek(3); err != nil {
		t.Fatal(err)
	}
	if n, err := r.WriteTo(panickingWriter{}); n != 0 || err == nil {
		t.Errorf("WriteTo = %d, %v; want an error, which breaks the transfer off", n, err)
	}
	if end, _ := r.end(&dialect.Report{Terminal: true}); !r.ended || end != logsink.EndFault {
		t.Errorf("the answer was read whole: %v, and its end is %q; want %q", r.ended, end, logsink.EndFault)
	}
	if said := b.out.String(); b.metric("preface_panics_total") != 1 || !strings.Contains(said, "panicked with a string") || strings.Contains(said, openerText) {
		t.Errorf("%v panics are counted, and operators read %q", b.metric("preface_panics_total"), said)
	}
}
