package provider

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// A rawConn speaks HTTP by hand.
type rawConn struct {
	*net.TCPConn
	c *client
}

func (c *client) dial() *rawConn {
	c.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.p.URL(), "http://"))
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	return &rawConn{conn.(*net.TCPConn), c}
}

// post sends a request to /v1/messages with a fault.
func (r *rawConn) post(body object, fault string) {
	raw := mustJSON(body)
	fmt.Fprintf(r, "POST /v1/messages HTTP/1.1\r\nHost: h\r\nX-Api-Key: k\r\nx-provider-fault: %s\r\nContent-Length: %d\r\n\r\n%s", fault, len(raw), raw)
}

// rest reads until the end of the connection.
func (r *rawConn) rest() (string, error) {
	b, err := io.ReadAll(r)
	return string(b), err
}

// body reads an answer whose end the framing tells.
func (r *rawConn) body(t *testing.T) []byte {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(r), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var plainStream = with(ask(opus, nil, user("a")), "stream", true)

// unfaulted is the body of the answer to plainStream.
func unfaulted(t *testing.T) []byte {
	_, raw := start(t, Options{}).as("k").call("POST", "/v1/messages", plainStream)
	return raw
}

func TestFaultResetBeforeAnyByte(t *testing.T) {
	c := start(t, Options{})
	r := c.dial()
	r.post(plainStream, "reset")
	if got, err := r.rest(); got != "" || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("client got %q, %v, want nothing and a reset", got, err)
	}
	e := c.await(ended)
	if e.Status != 0 || len(e.Sent) != 0 || e.Complete || e.ReceivedAt.IsZero() {
		t.Errorf("ledger has status %d, %d bytes sent, complete %v", e.Status, len(e.Sent), e.Complete)
	}
}

func TestFaultCutsAfterEveryByte(t *testing.T) {
	want := unfaulted(t)
	c := start(t, Options{})
	for k := 0; k <= len(want); k += 97 {
		for _, cut := range []Cut{CutFIN, CutRST} {
			r := c.dial()
			r.post(plainStream, fmt.Sprintf("cut=%s@%d", cut, k))
			resp, err := http.ReadResponse(bufio.NewReader(r), nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			if !bytes.Equal(got, want[:k]) || !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("cut=%s@%d: %d bytes and %v, want %d and a broken transfer", cut, k, len(got), err, k)
			}
			if reset := errors.Is(err, syscall.ECONNRESET); reset != (cut == CutRST) {
				t.Errorf("cut=%s@%d ends in %v", cut, k, err)
			}
		}
	}
	for _, e := range c.p.Received() {
		if e := c.await(func(x *Exchange) bool { return x.ID == e.ID && ended(x) }); e.Complete || e.AnswerSize != e.Fault.CutAfter {
			t.Errorf("ledger: complete %v with %d bytes, want a cut after %d", e.Complete, e.AnswerSize, e.Fault.CutAfter)
		}
	}
}

func TestFaultsOfStreams(t *testing.T) {
	want := unfaulted(t)
	events := strings.SplitAfter(string(want), "\n\n")
	for _, test := range []struct {
		fault, want string
	}{
		{"no-terminal", strings.TrimSuffix(string(want), events[len(events)-2])},
		{"error@3", strings.Join(events[:3], "") + string(anthropicFormat.errorEvent)},
		{"error@0", string(anthropicFormat.errorEvent)},
		{"line-end=crlf", strings.ReplaceAll(string(want), "\n", "\r\n")},
		{"line-end=cr", strings.ReplaceAll(string(want), "\n", "\r")},
		{"chunks=7", string(want)},
		{"chunks=8", string(want)},
		{"chunk-extensions", string(want)},
		{"chunk-extensions,chunks=3", string(want)},
		{"gap=1ms", string(want)},
		{"delay=1ms", string(want)},
		{"read-rate=1000000", string(want)},
	} {
		t.Run(test.fault, func(t *testing.T) {
			c := start(t, Options{})
			r := c.dial()
			r.post(plainStream, test.fault)
			if got := string(r.body(t)); got != test.want {
				t.Errorf("body %q, want %q", got, test.want)
			}
			if e := c.await(ended); !e.Complete || string(e.Answer) != test.want {
				t.Errorf("ledger: complete %v, answer %q", e.Complete, e.Answer)
			}
		})
	}
}

func TestFaultChunksCutAnywhere(t *testing.T) {
	c := start(t, Options{})
	sizes := map[string]bool{}
	for _, fault := range []string{"", "chunks=1", "chunks=2"} {
		r := c.dial()
		r.post(plainStream, fault)
		r.CloseWrite()
		raw, _ := r.rest()
		sizes[raw[strings.Index(raw, "\r\n\r\n"):]] = true
	}
	if len(sizes) != 3 {
		t.Errorf("%d different framings of three, want them all different", len(sizes))
	}
}

func TestFaultCodings(t *testing.T) {
	want := unfaulted(t)
	for _, coding := range []string{"gzip", "zstd"} {
		for _, body := range []object{plainStream, with(plainStream, "stream", false)} {
			c := start(t, Options{})
			resp, raw := c.call("POST", "/v1/messages", body, "x-provider-fault", "encoding="+coding)
			var plain io.Reader
			var err error
			if plain, err = gzip.NewReader(bytes.NewReader(raw)); coding == "zstd" {
				z, e := zstd.NewReader(bytes.NewReader(raw))
				defer z.Close()
				plain, err = z, e
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(plain)
			if err != nil || resp.Header.Get("content-encoding") != coding {
				t.Errorf("%s: content-encoding %q, %v", coding, resp.Header.Get("content-encoding"), err)
			}
			if body["stream"] == true && !bytes.Equal(got, want) {
				t.Errorf("%s: stream %q, want %q", coding, got, want)
			}
			if e := c.await(ended); !bytes.Equal(e.Answer, raw) {
				t.Errorf("%s: ledger has %d bytes, the client got %d", coding, len(e.Answer), len(raw))
			}
		}
	}
}

func TestFaultBadChunk(t *testing.T) {
	c := start(t, Options{})
	r := c.dial()
	r.post(plainStream, "bad-chunk@2")
	got, err := r.rest()
	if err != nil || !strings.HasSuffix(got, "\r\nXYZ\r\nthis is no chunk\r\n") || strings.Count(got, "event: ") != 2 {
		t.Errorf("client got %q, %v, want two events and a bad chunk", got, err)
	}
}

func TestFaultChunkExtensionsAndTrailer(t *testing.T) {
	c := start(t, Options{})
	r := c.dial()
	r.post(plainStream, "chunk-extensions")
	got, err := r.rest()
	if err != nil || !strings.Contains(got, `;n=1;quoted="a;b,c"`) || !strings.HasSuffix(got, "\r\nX-Provider-Trailer: end\r\n\r\n") {
		t.Errorf("client got %q, %v, want extensions and a trailer", got, err)
	}
}

func TestFaultLength(t *testing.T) {
	c := start(t, Options{})
	body := with(plainStream, "stream", false)
	_, whole := c.as("k").call("POST", "/v1/messages", body)
	for _, add := range []int{-10, 10} {
		r := c.dial()
		r.post(body, fmt.Sprintf("length=%d", add))
		got, err := r.rest()
		head, answer, _ := strings.Cut(got, "\r\n\r\n")
		if err != nil || answer != string(whole) || !strings.Contains(head, fmt.Sprintf("Content-Length: %d", len(whole)+add)) {
			t.Errorf("length %+d: %s with %d bytes, %v, want %d", add, head, len(answer), err, len(whole))
		}
	}
}

func TestFaultHugeEvent(t *testing.T) {
	c := start(t, Options{})
	const size = 3 << 20
	_, raw := c.call("POST", "/v1/messages", plainStream, "x-provider-fault", fmt.Sprintf("event-bytes=%d", size))
	longest := 0
	for _, e := range readStream(raw) {
		longest = max(longest, len(e.data))
	}
	if longest < size {
		t.Errorf("the longest event has %d bytes, want at least %d", longest, size)
	}
}

func TestFaultStallPingsUntilTheClientLeaves(t *testing.T) {
	c := start(t, Options{})
	r := c.dial()
	r.post(plainStream, "stall@2,ping=1ms")
	lines := bufio.NewReader(r)
	for seen := 0; seen < 10; { // the stream's own ping, and four of the stall, two lines each
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		seen += strings.Count(line, "ping")
	}
	if c.p.Open() != 1 {
		t.Errorf("%d requests are open, want the stalled one", c.p.Open())
	}
	r.Close()
	if e := c.await(ended); e.GoneAt.IsZero() || !e.Aborted() {
		t.Errorf("ledger: gone at %v, aborted %v, want the client's leaving", e.GoneAt, e.Aborted())
	}
	if c.p.Open() != 0 {
		t.Errorf("%d requests are open, want none", c.p.Open())
	}
}

func TestClientIsSeenToLeaveInEveryPhase(t *testing.T) {
	for _, fault := range []string{"delay=1h", "stall@0", "stall@3", "gap=1h", "chunk-extensions,gap=1h"} {
		for _, reset := range []bool{false, true} {
			c := start(t, Options{})
			r := c.dial()
			r.post(plainStream, fault)
			c.await(func(e *Exchange) bool { return e.Method != "" })
			if reset {
				_ = r.SetLinger(0)
			}
			r.Close()
			if e := c.await(ended); e.GoneAt.IsZero() || e.Complete {
				t.Errorf("%s, reset %v: gone at %v, complete %v", fault, reset, e.GoneAt, e.Complete)
			}
		}
	}
}

func TestInvariant6_ClosingEndsStalls(t *testing.T) {
	c := start(t, Options{})
	for _, fault := range []string{"stall@1", "delay=1h", "chunk-extensions,stall@1", "read-rate=1"} {
		c.dial().post(plainStream, fault)
	}
	for range 4 {
		c.await(func(e *Exchange) bool { return e.Method != "" })
	}
	if err := c.p.Close(); err != nil {
		t.Fatal(err)
	}
	if c.p.Open() != 0 || c.p.Conns() != 0 {
		t.Errorf("after Close %d requests and %d connections are open, want none", c.p.Open(), c.p.Conns())
	}
}

func TestFaultSources(t *testing.T) {
	c := start(t, Options{Fault: func(n int, _ *http.Request) Fault {
		if n == 2 {
			return Fault{Status: 502}
		}
		return Fault{}
	}})
	status := func(header ...string) int {
		resp, _ := c.call("POST", "/v1/messages", ask(opus, nil, user("a")), header...)
		return resp.StatusCode
	}
	got := []int{status(), status(), status()}
	c.p.SetFault(Fault{Status: 503})
	got = append(got, status(), status("x-provider-fault", "status=504"))
	count, _ := c.call("POST", "/v1/messages/count_tokens", ask(opus, nil, user("a")))
	got = append(got, count.StatusCode)
	c.p.SetFault(Fault{})
	got = append(got, status())
	if want := "[200 502 200 503 504 200 200]"; fmt.Sprint(got) != want {
		t.Errorf("statuses %v, want %s", got, want)
	}
}
