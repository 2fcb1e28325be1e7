package admin

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// listen opens a stream of events.
func listen(t *testing.T, at string) *http.Response {
	t.Helper()
	resp, err := http.Get(at + eventsPath)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// TestEvents: a stream tells of changes, without a word of what changed.
func TestEvents(t *testing.T) {
	o := fixed(noon)
	o.every = time.Millisecond
	d := deps()
	d.Overview = o
	at := served(t, d)
	resp := listen(t, at)
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("Content-Type = %q", got)
	}
	lines := bufio.NewReader(resp.Body)
	read := func(want string) {
		t.Helper()
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatalf("the stream ended before %q: %v", want, err)
			}
			if strings.HasPrefix(line, want) {
				return
			}
		}
	}
	read("event: change")
	read(`data: {"version":0}`)
	req, r := exchangeAt(noon, "s\nevent: evil\n", "r", nil, nil, nil)
	o.Observe(req, r)
	read("event: change")
	read(`data: {"version":1}`)
	o.Close()
	if rest, err := io.ReadAll(lines); err != nil || strings.Contains(string(rest), "evil") {
		t.Errorf("after the end came %q, %v", rest, err)
	}
}

func TestI10_StreamsAreBounded(t *testing.T) {
	d := deps()
	d.Overview = fixed(noon)
	at := served(t, d)
	for range streamsMost {
		if resp := listen(t, at); resp.StatusCode != 200 {
			t.Fatalf("a stream = %d, want 200", resp.StatusCode)
		}
	}
	if resp := listen(t, at); resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("one stream too many = %d, want 503 with Retry-After", resp.StatusCode)
	}
	d.Overview.Close()
}
