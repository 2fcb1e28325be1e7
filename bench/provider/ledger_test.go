package provider

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInvariant5_LedgerKeepsWhatWasOnTheWire(t *testing.T) {
	c := start(t, Options{})
	r := c.dial()
	body := `{"model":"claude-opus-5-5" , "max_tokens":1,"messages":[{"role":"user","content":"\u0061<>&"}]}`
	head := "POST /v1/messages?beta=true&x=%2F HTTP/1.1\r\nHOST: h\r\nx-B: 2\r\nX-a:1 \r\nAuthorization: Bearer k\r\nx-B: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
	fmt.Fprintf(r, "%s5;ext=1\r\n%s\r\n%x\r\n%s\r\n0\r\nTrailer: t\r\n\r\n", head, body[:5], len(body)-5, body[5:])
	answer := r.body(t)
	e := c.await(ended)
	if string(e.Head) != head {
		t.Errorf("head %q, want %q", e.Head, head)
	}
	wantHeader := []Field{{"HOST", "h"}, {"x-B", "2"}, {"X-a", "1"}, {"Authorization", "Bearer k"}, {"x-B", "3"}, {"Transfer-Encoding", "chunked"}}
	if diff := cmp.Diff(wantHeader, e.Header); diff != "" {
		t.Errorf("header (-want +got)\n%s", diff)
	}
	if e.Method != "POST" || e.Path != "/v1/messages" || e.Query != "beta=true&x=%2F" {
		t.Errorf("request line %q %q %q", e.Method, e.Path, e.Query)
	}
	if string(e.Body) != body || e.SHA256 != sha256.Sum256([]byte(body)) || e.BodySize != int64(len(body)) {
		t.Errorf("body %q of %d, want %q", e.Body, e.BodySize, body)
	}
	if !bytes.Equal(e.Answer, answer) || !bytes.HasSuffix(e.Sent, answer) || !bytes.HasPrefix(e.Sent, []byte("HTTP/1.1 200 OK\r\n")) {
		t.Errorf("answer %q sent as %q, want %q", e.Answer, e.Sent, answer)
	}
	if e.Dialect != Anthropic || e.Model != opus || e.Tenant != TenantOf("k") || !e.Complete || e.Status != 200 {
		t.Errorf("exchange %+v", e)
	}
	for _, at := range [][2]any{{e.FirstByteAt, e.ReceivedAt}, {e.ReceivedAt, e.AnswerAt}, {e.AnswerAt, e.EndedAt}} {
		if fmt.Sprint(at[0]) > fmt.Sprint(at[1]) {
			t.Errorf("times out of order: %v after %v", at[0], at[1])
		}
	}
}

func TestLedgerCountsConnectionsAndPipelines(t *testing.T) {
	c := start(t, Options{})
	r := c.dial()
	get := "GET /api/hello HTTP/1.1\r\nHost: h\r\n\r\n"
	fmt.Fprint(r, get+get)
	r.CloseWrite()
	if got, _ := r.rest(); strings.Count(got, "200 OK") != 2 {
		t.Errorf("answers %q, want two", got)
	}
	other := c.dial()
	fmt.Fprint(other, get)
	other.CloseWrite()
	other.rest()
	var got []string
	for _, e := range c.p.Received() {
		got = append(got, fmt.Sprintf("%d on %d: %q", e.ID, e.Conn, e.Head))
	}
	want := []string{fmt.Sprintf("1 on 1: %q", get), fmt.Sprintf("2 on 1: %q", get), fmt.Sprintf("3 on 2: %q", get)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ledger (-want +got)\n%s", diff)
	}
}

func TestLedgerShowsWhatBrokeOff(t *testing.T) {
	for _, test := range []struct {
		sent  string
		whole bool
	}{
		{"POST /v1/mess", false},
		{"POST /v1/messages HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n{", false},
		{"NONSENSE\r\n\r\n", false},
	} {
		c := start(t, Options{})
		r := c.dial()
		fmt.Fprint(r, test.sent)
		c.await(func(*Exchange) bool { return true })
		r.CloseWrite()
		r.rest()
		e := c.await(ended)
		if e.ReceivedAt.IsZero() == test.whole || e.Complete || e.FirstByteAt.IsZero() {
			t.Errorf("%q: received %v, complete %v", test.sent, e.ReceivedAt, e.Complete)
		}
		if test.sent == "NONSENSE\r\n\r\n" && !bytes.HasPrefix(e.Sent, []byte("HTTP/1.1 400")) {
			t.Errorf("%q was answered %q, want 400 in the ledger", test.sent, e.Sent)
		}
	}
}

func TestInvariant6_LedgerIsBounded(t *testing.T) {
	c := start(t, Options{KeepRequests: 3, KeepBytes: 10_000})
	for range 5 {
		c.post("/v1/messages", ask(opus, nil, message("user", text("a", 1000))))
	}
	c.await(func(e *Exchange) bool { return e.ID == 5 && ended(e) })
	got := c.p.Received()
	if len(got) != 3 || got[0].ID != 3 {
		t.Fatalf("%d exchanges from %d on, want 3 from 3 on", len(got), got[0].ID)
	}
	held := int64(0)
	for _, e := range got {
		held += e.held()
		if e.BodySize == 0 || e.AnswerSize == 0 {
			t.Errorf("exchange %d lost its sizes", e.ID)
		}
	}
	if l := c.p.ledger; held > 10_000 || l.bytes != held || got[0].Body != nil {
		t.Errorf("the ledger holds %d bytes and counts %d, want at most 10000", held, l.bytes)
	}
	if got := c.p.ReceivedAfter(4); len(got) != 1 || got[0].ID != 5 {
		t.Errorf("ReceivedAfter(4) = %d exchanges, want the fifth", len(got))
	}
	if _, ok := c.p.Exchange(1); ok {
		t.Errorf("Exchange(1) is there, want it dropped")
	}
}

func TestHooksRunBeforeTheAnswer(t *testing.T) {
	var firsts atomic.Int32
	release := make(chan struct{})
	var once sync.Once
	seen := make(chan Exchange, 1)
	c := start(t, Options{
		OnFirstByte: func() { firsts.Add(1) },
		OnArrive: func(e *Exchange) {
			once.Do(func() { seen <- *e; <-release })
		},
	})
	r := c.dial()
	r.post(ask(opus, nil, user("a")), "")
	e := <-seen
	if firsts.Load() != 1 || e.Body == nil || e.ReceivedAt.IsZero() || !e.AnswerAt.IsZero() || len(e.Sent) != 0 {
		t.Errorf("at arrival: %d first bytes, %d body bytes, answer at %v, %d bytes sent", firsts.Load(), len(e.Body), e.AnswerAt, len(e.Sent))
	}
	close(release)
	r.body(t)
}

func TestTotals(t *testing.T) {
	c := start(t, Options{})
	body := ask(sonnet, nil, message("user", text("a", 2000, "5m")))
	first := c.post("/v1/messages", body)
	c.post("/v1/messages", body)
	c.as("key-two").chatted(chat(gpt5, said("user", "a", 100)))
	c.call("POST", "/v1/messages", body, "x-provider-fault", "status=500")
	byTenant, all := c.p.Totals()
	out, _ := first.obj("usage").num("output_tokens")
	one := Tally{2, Tokens{Write5m: 2000, CacheRead: 2000, Output: 2 * out}}
	if diff := cmp.Diff(one, byTenant[TenantOf("key-one")]); diff != "" {
		t.Errorf("tally of key-one (-want +got)\n%s", diff)
	}
	if all.Requests != 3 || all.Tokens.Fresh != 100 {
		t.Errorf("totals %+v, want 3 requests and 100 fresh tokens", all)
	}
	for _, e := range c.p.Received() {
		if want := e.Status == 200; (e.Tokens.Input() > 0) != want {
			t.Errorf("exchange %d with status %d has tokens %+v", e.ID, e.Status, e.Tokens)
		}
	}
}

func TestControl(t *testing.T) {
	c := start(t, Options{})
	c.post("/v1/messages", ask(opus, nil, user("a")))
	list := func(query string) []object {
		_, raw := c.call("GET", "/__provider/requests"+query, nil)
		o := decodeObject(t, append(append([]byte(`{"l":`), raw...), '}'))
		return objects(o.list("l"))
	}
	got := list("")
	if len(got) != 1 || got[0].str("path") != "/v1/messages" || got[0].has("body") || strings.Contains(string(canonical(got)), "key-one") {
		t.Errorf("requests = %s, want one, without body and credential", canonical(got))
	}
	if got := list("?bodies=1"); !got[0].has("body") || !got[0].has("answer") {
		t.Errorf("requests with bodies = %s", canonical(got))
	}
	if got := list("?after=1"); len(got) != 0 {
		t.Errorf("requests after 1 = %s, want none", canonical(got))
	}
	if resp, raw := c.call("POST", "/__provider/fault", []byte("status=503")); resp.StatusCode != 200 {
		t.Errorf("setting a fault = %s", raw)
	}
	if resp, _ := c.call("POST", "/v1/messages", ask(opus, nil, user("a"))); resp.StatusCode != 503 {
		t.Errorf("status %d under the standing fault, want 503", resp.StatusCode)
	}
	if resp, _ := c.call("POST", "/__provider/fault", []byte("nonsense")); resp.StatusCode != 400 {
		t.Errorf("setting nonsense = %d, want 400", resp.StatusCode)
	}
	_, raw := c.call("GET", "/__provider/stats", nil)
	if stats := decodeObject(t, raw); stats.obj("tenants").obj(TenantOf("key-one"))["requests"] == nil {
		t.Errorf("stats = %s, want the tenant", raw)
	}
	c.await(func(e *Exchange) bool { return e.Status == 503 && ended(e) })
	_, raw = c.call("GET", "/__provider/open", nil)
	if open := decodeObject(t, raw); open["open"] == nil || open["connections"] == nil {
		t.Errorf("open = %s", raw)
	}
	if c.p.Open() != 0 {
		t.Errorf("%d requests open, want none: control requests do not count", c.p.Open())
	}
}

func TestRequestBodies(t *testing.T) {
	c := start(t, Options{MaxBody: 1000})
	if resp, raw := c.call("POST", "/v1/messages", bytes.Repeat([]byte(" "), 1001)); resp.StatusCode != 413 || !strings.Contains(string(raw), "request_too_large") {
		t.Errorf("too large a body = %d %s, want 413", resp.StatusCode, raw)
	}
	plain := mustJSON(ask(opus, nil, user("a")))
	for _, coding := range []string{"gzip", "zstd"} {
		var b bytes.Buffer
		w := newCoder(coding, &b)
		w.Write(plain)
		w.Close()
		c.post("/v1/messages", b.Bytes(), "content-encoding", coding)
		b.Reset()
		w = newCoder(coding, &b)
		w.Write(bytes.Repeat([]byte(" "), 1<<20))
		w.Close()
		if resp, _ := c.call("POST", "/v1/messages", b.Bytes(), "content-encoding", coding); resp.StatusCode != 413 {
			t.Errorf("%s bomb = %d, want 413", coding, resp.StatusCode)
		}
		if resp, _ := c.call("POST", "/v1/messages", []byte("no such coding"), "content-encoding", coding); resp.StatusCode != 400 {
			t.Errorf("broken %s = %d, want 400", coding, resp.StatusCode)
		}
	}
	if resp, _ := c.call("POST", "/v1/messages", plain, "content-encoding", "br"); resp.StatusCode != 415 {
		t.Errorf("br = %d, want 415", resp.StatusCode)
	}
}

func TestTLS(t *testing.T) {
	certified := httptest.NewTLSServer(http.NotFoundHandler())
	defer certified.Close()
	c := start(t, Options{TLS: &tls.Config{Certificates: certified.TLS.Certificates}})
	c.h = certified.Client()
	c.post("/v1/messages", ask(opus, nil, user("a")))
	if e := c.await(ended); len(e.Header) == 0 || !strings.HasPrefix(c.p.URL(), "https://") {
		t.Errorf("at %s the ledger has head %q", c.p.URL(), e.Head)
	}
	r, _ := http.NewRequest("POST", c.p.URL()+"/v1/messages", strings.NewReader("{}"))
	r.Header.Set("x-provider-fault", "reset")
	if resp, err := c.h.Do(r); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("reset over TLS = %v, %v, want a reset", resp, err)
	}
}

func TestServeTellsWhatItCannot(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	p := New(Options{})
	defer p.Close()
	if err := p.Serve(l); err == nil {
		t.Errorf("Serve on a closed listener = nil, want an error")
	}
	if err := p.Start("127.0.0.1:nonsense"); err == nil {
		t.Errorf("Start on a bad address = nil, want an error")
	}
}
