package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/valyala/fasthttp"
)

// BenchmarkServe is the whole program over loopback: agents of many sessions, a
// file as opener, the default log, and a provider that answers at once. The
// agents and the provider work in the same process, so its time is theirs, too.
// make profile takes default.pgo from here.
func BenchmarkServe(b *testing.B) {
	provider := httptest.NewServer(http.HandlerFunc(answerAtOnce))
	defer provider.Close()
	b.Chdir(b.TempDir())
	v := benchService(b, provider.URL)
	for _, bm := range []struct {
		name   string
		size   int
		stream bool
	}{{"2KB", 2000, false}, {"100KB", 100_000, false}, {"Stream", 2000, true}} {
		b.Run(bm.name, func(b *testing.B) {
			var agents atomic.Int64
			b.SetParallelism(16)
			b.RunParallel(func(pb *testing.PB) {
				a := benchAgent{client: fasthttp.Client{StreamResponseBody: true}, url: "http://" + v.agents.Addr().String() + "/v1/messages"}
				body := benchBody(bm.size, bm.stream)
				session := fmt.Sprintf("%s-%d", bm.name, agents.Add(1))
				for pb.Next() {
					if err := a.send(session, body); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

func benchService(b *testing.B, provider string) *service {
	b.Helper()
	opener := strings.Repeat("Answer in the words of the house.\n", 120)
	if err := os.WriteFile("AGENTS.md", []byte(opener), 0o600); err != nil {
		b.Fatal(err)
	}
	o := options{listen: "127.0.0.1:0", admin: adminOff, upstreams: list{"anthropic=" + provider}}
	s, err := load(o)
	if err != nil {
		b.Fatal(err)
	}
	v, err := start(b.Context(), o, s, slog.New(slog.DiscardHandler), new(slog.LevelVar))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := v.close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	return v
}

// A benchAgent sends one request after the other.
type benchAgent struct {
	client fasthttp.Client
	url    string
}

func (a *benchAgent) send(session string, body []byte) error {
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	req.SetRequestURI(a.url)
	req.Header.SetMethod(fasthttp.MethodPost)
	req.Header.SetContentType("application/json")
	req.Header.Set("X-Session-Id", session)
	req.Header.Set("X-Api-Key", "none")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.SetBodyRaw(body)
	if err := a.client.Do(req, resp); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, resp.BodyStream()); err != nil {
		return err
	}
	if resp.StatusCode() != fasthttp.StatusOK {
		return fmt.Errorf("an agent was answered %d", resp.StatusCode())
	}
	return nil
}

// benchBody is about n bytes of a conversation.
func benchBody(n int, stream bool) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `{"model":"claude-opus-4-8","max_tokens":1000,"stream":%t,"system":[{"type":"text","text":"%s"}],"messages":[`, stream, strings.Repeat("Be brief. ", n/100))
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, `{"role":"user","content":[{"type":"text","text":"turn %d: \"what does\n\tthis do?\" %s"}]},{"role":"assistant","content":"done"},`, i, strings.Repeat("func f() {} ", 8))
	}
	b.WriteString(`{"role":"user","content":"go on"}]}`)
	return []byte(b.String())
}

const benchUsage = `"usage":{"input_tokens":12,"cache_read_input_tokens":800,"cache_creation_input_tokens":30,"output_tokens":9}`

// answerAtOnce is a provider that reads all of a request and answers it as it
// asks to be.
func answerAtOnce(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if !bytes.Contains(body, []byte(`"stream":true`)) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"done"}],`+benchUsage+`}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(name, data string) {
		fmt.Fprintf(w, "event: %s\ndata: {\"type\":%q,%s}\n\n", name, name, data)
		w.(http.Flusher).Flush()
	}
	send("message_start", `"message":{"id":"msg_1",`+benchUsage+`}`)
	for range 40 {
		send("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":"a few words"}`)
	}
	send("message_delta", `"delta":{"stop_reason":"end_turn"},`+benchUsage)
	send("message_stop", `"end":true`)
}
