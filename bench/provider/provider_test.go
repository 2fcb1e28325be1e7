package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A client talks to a provider of its own.
type client struct {
	*testing.T
	p   *Provider
	key string
	h   *http.Client
}

func start(t *testing.T, opt Options) *client {
	t.Helper()
	p := New(opt)
	if err := p.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	h := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	t.Cleanup(func() {
		h.CloseIdleConnections()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return &client{t, p, "key-one", h}
}

// as returns the client with another credential.
func (c client) as(key string) *client {
	c.key = key
	return &c
}

// call sends a body, which is rendered unless it is bytes, and returns what came.
func (c *client) call(method, path string, body any, header ...string) (*http.Response, []byte) {
	c.Helper()
	raw, ok := body.([]byte)
	if !ok && body != nil {
		raw = mustJSON(body)
	}
	r, err := http.NewRequest(method, c.p.URL()+path, bytes.NewReader(raw))
	if err != nil {
		c.Fatal(err)
	}
	if c.key != "" {
		r.Header.Set("authorization", "Bearer "+c.key)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := c.h.Do(r)
	if err != nil {
		c.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		c.Fatalf("%s %s: %v", method, path, err)
	}
	return resp, out
}

// post sends a body that has to be accepted, and returns the answer.
func (c *client) post(path string, body any, header ...string) object {
	c.Helper()
	resp, raw := c.call("POST", path, body, header...)
	if resp.StatusCode != 200 {
		c.Fatalf("POST %s = %d %s", path, resp.StatusCode, raw)
	}
	return decodeObject(c, raw)
}

// refused sends a body that has to be refused with 400, and returns the message.
func (c *client) refused(path string, body any, header ...string) string {
	c.Helper()
	resp, raw := c.call("POST", path, body, header...)
	if resp.StatusCode != 400 {
		c.Fatalf("POST %s = %d %s, want 400", path, resp.StatusCode, raw)
	}
	return decodeObject(c, raw).obj("error").str("message")
}

func decodeObject(t testing.TB, raw []byte) object {
	t.Helper()
	o, err := parseObject(raw)
	if err != nil {
		t.Fatalf("cannot read the answer %q: %v", raw, err)
	}
	return o
}

// await waits for an exchange.
func (c *client) await(cond func(*Exchange) bool) Exchange {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), 10*time.Second)
	defer cancel()
	e, err := c.p.Await(ctx, cond)
	if err != nil {
		c.Fatal(err)
	}
	return e
}

func ended(e *Exchange) bool { return !e.Open() }

// A clock is moved by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// sized is a text that makes a block of so many tokens.
func sized(letter string, tokens int) string {
	return strings.Repeat(letter, (tokens-headerTokens)*tokenBytes)
}

// text is a text block of so many tokens, marked if a ttl is given.
func text(letter string, tokens int, ttl ...string) object {
	b := object{"type": "text", "text": sized(letter, tokens)}
	for _, ttl := range ttl {
		b["cache_control"] = object{"type": "ephemeral", "ttl": ttl}
	}
	return b
}

func message(role string, content ...object) object {
	return object{"role": role, "content": content}
}

// edited returns a deep copy of a request with one change.
func edited(o object, change func(object)) object {
	var c object
	if err := json.Unmarshal(mustJSON(o), &c); err != nil {
		panic(err)
	}
	change(c)
	return c
}
