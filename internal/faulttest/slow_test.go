package faulttest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
)

// endless answers with a stream that never ends by itself. ended counts those
// that the proxy ended.
func endless(ended *atomic.Int64) func(net.Conn, *rawRequest) bool {
	event := "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"" + strings.Repeat("x", 400) + "\"}}\n\n"
	piece := fmt.Appendf(nil, "%x\r\n%s\r\n", 100*len(event), strings.Repeat(event, 100))
	return func(c net.Conn, _ *rawRequest) bool {
		_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
		for err == nil {
			_, err = c.Write(piece)
		}
		ended.Add(1)
		return false
	}
}

// dialNarrow connects with room for 4 KiB that were not read.
func dialNarrow(t *testing.T, base string) net.Conn {
	t.Helper()
	d := net.Dialer{Control: func(_, _ string, rc syscall.RawConn) error {
		var err error
		if cerr := rc.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) }); cerr != nil {
			return cerr
		}
		return err
	}}
	c, err := d.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestI10_ClientsThatDoNotRead: a client that stops reading is cut after
// timeouts.client_write, its provider's connection too, and while it lasts it
// takes no more memory than a stream may.
func TestI10_ClientsThatDoNotRead(t *testing.T) {
	const clients, perStream, slack = 60, 256 << 10, 24 << 20
	var ended atomic.Int64
	up := startRaw(t, endless(&ended))
	st := newStage(t, with("timeouts: {client_write: 1s}\n"), func(st *stage) { st.upstream = up.url })
	p := st.start()
	before := p.peakMemory()
	for i := range clients {
		c := dialNarrow(t, p.agents)
		s := newSession(forms[i%len(forms)], fmt.Sprint("s", i), true)
		if _, err := io.WriteString(c, s.newTry(1).text()); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReaderSize(c, 64).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all clients are cut", func() bool { return ended.Load() == clients })
	if grown := p.peakMemory() - before; grown > clients*perStream+slack {
		t.Errorf("I10: memory grew by %d KiB, %d KiB for each stream", grown>>10, grown/clients>>10)
	}
	eventually(t, "no request is in flight", func() bool { return p.metric("preface_requests_in_flight") == 0 })
	p.stop()
	for _, r := range st.responses() {
		if r.End != logsink.EndClientStalled {
			t.Errorf("recorded %+v, want the end %q", r, logsink.EndClientStalled)
		}
	}
	if n := len(st.responses()); n != clients {
		t.Errorf("%d responses recorded, want %d", n, clients)
	}
}

// TestI10_ClientThatReadsSlowly: one that reads on, however slowly, has all of
// its answer: the deadline is about idleness.
func TestI10_ClientThatReadsSlowly(t *testing.T) {
	const size, step = 1 << 20, 16 << 10
	up := startRaw(t, func(c net.Conn, _ *rawRequest) bool {
		_, err := fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s", size, strings.Repeat("d", size))
		return err == nil
	})
	st := newStage(t, with("timeouts: {client_write: 3s}\n"), func(st *stage) { st.upstream = up.url })
	p := st.start()
	c := dialNarrow(t, p.agents)
	if _, err := io.WriteString(c, newSession(forms[0], "s", true).newTry(1).text()); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReaderSize(c, 1024), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got := int64(0)
	for {
		n, err := io.CopyN(io.Discard, resp.Body, step)
		if got += n; err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("I8: cut after %d of %d bytes: %v", got, size, err)
		}
		pace(time.Millisecond)
	}
	if got != size {
		t.Errorf("got %d bytes, want %d", got, size)
	}
	p.stop()
}

// dripping writes text byte by byte until the other side ends it, and reports
// what it was answered.
func dripping(t *testing.T, base, text string) string {
	c := talk(t, base, text[:1])
	gone := make(chan string, 1)
	go func() {
		answer, _ := io.ReadAll(c) // it ends in any way
		gone <- string(answer)
	}()
	for i := 1; i < len(text); i++ {
		select {
		case answer := <-gone:
			return answer
		case <-time.After(time.Millisecond):
		}
		if _, err := io.WriteString(c, text[i:i+1]); err != nil {
			return <-gone
		}
	}
	_ = c.(*net.TCPConn).CloseWrite()
	return <-gone
}

// TestI10_Slowloris: heads and bodies that come byte by byte, and connections on
// which nothing comes, are ended by timeouts.receive, while others are served.
func TestI10_Slowloris(t *testing.T) {
	st := newStage(t, with("timeouts: {receive: 1s}\n"))
	p := st.start()
	s := newSession(forms[0], "slow", false)
	slowHead := "POST /v1/messages HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("x-pad: 0123456789abcdef\r\n", 4000)
	slowBody := strings.Replace(s.newTry(1).text(), "Content-Length: ", "Content-Length: 90000", 1) + strings.Repeat(" ", 90000)
	fds := p.metric("process_open_fds")
	var slow sync.WaitGroup
	for range 20 {
		slow.Go(func() {
			if got := dripping(t, p.agents, slowHead); strings.Contains(got, "200 OK") {
				t.Errorf("a head that never ended was answered %q", got)
			}
		})
		slow.Go(func() {
			if got := dripping(t, p.agents, slowBody); strings.Contains(got, "200 OK") {
				t.Errorf("a body that never ended was answered %q", got)
			}
		})
		slow.Go(func() { _, _ = io.ReadAll(talk(t, p.agents, "")) })
	}
	for i := range 30 {
		st.say(p, newSession(forms[i%len(forms)], fmt.Sprint("good", i), i%2 == 0))
	}
	slow.Wait()
	if n := len(st.trail.arrivals()); n != 30 {
		t.Errorf("%d requests arrived, want the 30 good ones", n)
	}
	eventually(t, "descriptors are back", func() bool { return p.metric("process_open_fds") <= fds+10 })
	p.stop()
}

// TestI10_LargeHeads: a head of a mebibyte is refused, however many there are.
func TestI10_LargeHeads(t *testing.T) {
	st := newStage(t)
	p := st.start()
	before := p.peakMemory()
	var clients sync.WaitGroup
	for range 32 {
		clients.Go(func() {
			c, err := net.Dial("tcp", strings.TrimPrefix(p.agents, "http://"))
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			// The proxy may hang up before it has read all.
			_, _ = io.WriteString(c, "POST /v1/messages HTTP/1.1\r\nHost: x\r\nx-big: "+strings.Repeat("a", 1<<20)+"\r\n\r\n")
			if answer, _ := io.ReadAll(c); len(answer) > 0 && !strings.HasPrefix(string(answer), "HTTP/1.1 431 ") {
				t.Errorf("answered %.80q", answer)
			}
		})
	}
	clients.Wait()
	if grown := p.peakMemory() - before; grown > 32<<20 {
		t.Errorf("I10: memory grew by %d MiB", grown>>20)
	}
	p.stop()
}
