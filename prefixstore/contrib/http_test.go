package contrib_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
)

// serve starts a service that answers with h.
func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func httpComposer(t *testing.T, cfg contrib.Config) *contrib.Composer {
	t.Helper()
	cfg.Name, cfg.Kind, cfg.Deadline = "svc", "http", time.Minute
	c, err := contrib.NewComposer([]contrib.Config{cfg})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestHTTPIsToldTheSession(t *testing.T) {
	var got struct {
		method, uri string
		header      http.Header
		body        map[string]any
	}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if !r.Close {
			t.Error("the service was told to keep the connection, want it closed")
		}
		got.method, got.uri, got.header = r.Method, r.RequestURI, r.Header
		if err := json.NewDecoder(r.Body).Decode(&got.body); err != nil {
			t.Errorf("the service was sent no JSON: %v", err)
		}
		io.WriteString(w, `[{"role":"system","text":"hello"}]`)
	})
	c := httpComposer(t, contrib.Config{URL: s.URL + "/opener?key=k", ForwardHeaders: []string{"x-repo"},
		When:    contrib.Matcher{Headers: map[string]string{"x-team": "*"}},
		Headers: map[string]string{"Authorization": "Bearer t", "User-Agent": "mine"}})
	session := contrib.Session{Tenant: "abc", Session: "s", Epoch: 2, Reason: "resume", Route: "main", Dialect: "anthropic.messages", Model: "m",
		Headers: map[string]string{"x-repo": "preface", "x-team": "core", "authorization": "sk-CANARY"}}
	r, err := c.Compose(t.Context(), session)
	if want := []contrib.Message{{Role: "system", Text: "hello"}}; err != nil || !cmp.Equal(r.Messages, want) {
		t.Fatalf("Compose = %v, %v, want %v", r.Messages, err, want)
	}
	want := map[string]any{"tenant": "abc", "session": "s", "epoch": 2.0, "reason": "resume", "route": "main",
		"dialect": "anthropic.messages", "model": "m", "headers": map[string]any{"x-repo": "preface"}}
	if diff := cmp.Diff(want, got.body); diff != "" {
		t.Errorf("the service was told something else (-want +got):\n%s", diff)
	}
	if got.method != "POST" || got.uri != "/opener?key=k" {
		t.Errorf("the service was asked with %s %s, want POST /opener?key=k", got.method, got.uri)
	}
	for n, v := range map[string]string{"Authorization": "Bearer t", "User-Agent": "mine", "Content-Type": "application/json"} {
		if got.header.Get(n) != v {
			t.Errorf("header %s = %q, want %q", n, got.header.Get(n), v)
		}
	}
}

func TestHTTPStatusOtherThan200IsAnErrorWithTheStatusOnly(t *testing.T) {
	for _, status := range []int{201, 204, 302, 401, 404, 500, 503} {
		hits := 0
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			hits++
			w.Header().Set("Location", "/elsewhere-CANARY")
			w.WriteHeader(status)
			if status != http.StatusNoContent {
				io.WriteString(w, `[{"text":"CANARY"}]`)
			}
		})
		c := httpComposer(t, contrib.Config{URL: s.URL + "/p?k=CANARY", Headers: map[string]string{"x-key": "CANARY"}})
		_, err := c.Compose(t.Context(), contrib.Session{})
		want := fmt.Sprintf(`contributor "svc": cannot get messages from %s/p: status %d, want 200`, s.URL, status)
		if fmt.Sprint(err) != want {
			t.Errorf("Compose = %v, want %s", err, want)
		}
		if hits != 1 {
			t.Errorf("status %d: the service was asked %d times, want once", status, hits)
		}
	}
}

func TestFault28_FiftyMegabytesAreNotRead(t *testing.T) {
	var sent atomic.Int64
	ended := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(ended)
		block := []byte(strings.Repeat("a", 64<<10))
		io.WriteString(w, `[{"text":"`)
		for sent.Load() < 50<<20 {
			n, err := w.Write(block)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	})
	_, err := httpComposer(t, contrib.Config{URL: s.URL}).Compose(t.Context(), contrib.Session{})
	want := fmt.Sprintf(`contributor "svc": cannot get messages from %s: gave more text than max_bytes=262144`, s.URL)
	if fmt.Sprint(err) != want {
		t.Errorf("Compose = %v, want %s", err, want)
	}
	// What is on the way in socket buffers is a few megabytes; the rest was
	// never sent, since the connection was closed.
	<-ended
	if n := sent.Load(); n >= 50<<20 {
		t.Errorf("the service could send %d bytes, want its connection closed before", n)
	}
}

// When time is up the connection is closed, so the service can stop working.
func TestFault28_ServiceThatHangs(t *testing.T) {
	for name, begin := range map[string]string{"before its answer": "", "in its answer": `[{"text":"`} {
		ctx, timeIsUp := context.WithCancel(t.Context())
		gone := make(chan struct{})
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			defer close(gone)
			io.Copy(io.Discard, r.Body) // the server notices a closed connection only then
			if begin != "" {
				io.WriteString(w, begin)
				w.(http.Flusher).Flush()
			}
			timeIsUp()
			<-r.Context().Done()
		})
		_, err := httpComposer(t, contrib.Config{URL: s.URL}).Compose(ctx, contrib.Session{})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: Compose = %v, want context.Canceled", name, err)
		}
		<-gone
	}
}

func TestHTTPErrorsHoldNoSecret(t *testing.T) {
	raw := func(answer string) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			c.Read(make([]byte, 4096))
			io.WriteString(c, answer)
		}()
		t.Cleanup(func() { l.Close(); <-done })
		return "http://" + l.Addr().String()
	}
	tls := httptest.NewUnstartedServer(http.NotFoundHandler())
	tls.Config.ErrorLog = log.New(io.Discard, "", 0)
	tls.StartTLS()
	t.Cleanup(tls.Close)
	for name, tc := range map[string]struct{ url, want string }{
		"refused":         {"http://127.0.0.1:1", "connection refused"},
		"no HTTP":         {raw("CANARY is no HTTP\r\n\r\n"), "no usable HTTP answer"},
		"bad header":      {raw("HTTP/1.1 200 OK\r\nCANARY\r\n\r\n"), "no usable HTTP answer"},
		"cut":             {raw("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n[CANARY"), "unexpected EOF"},
		"closed":          {raw(""), "EOF"},
		"unknown issuer":  {tls.URL, "certificate signed by unknown authority"},
		"no JSON":         {raw("HTTP/1.1 200 OK\r\n\r\nCANARY"), "it is no JSON: wrong at byte 1"},
		"HTTP for TLS":    {strings.Replace(serve(t, http.NotFound).URL, "http:", "https:", 1), "first record does not look like a TLS handshake"},
		"unknown members": {raw("HTTP/1.1 200 OK\r\n\r\n{\"CANARY\":1}"), `it has no "messages"`},
	} {
		c := httpComposer(t, contrib.Config{URL: tc.url + "/x?key=CANARY", Headers: map[string]string{"x-key": "CANARY"}})
		_, err := c.Compose(t.Context(), contrib.Session{})
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: Compose = %v, want …%s… without a secret", name, err, tc.want)
		}
	}
	if os.Getenv("HTTP_PROXY") == "" {
		t.Error("HTTP_PROXY is not set, so this test says nothing of it")
	}
}
