package faulttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"
)

// A form is how agents of one dialect write requests. Pre is the body up to
// the slot, post what follows the history.
type form struct {
	name, path, idHeader string
	pre, post, streamed  string
	user, assistant      string // a message with a text, as a format
	last                 string // what a whole stream ends with
	keeps                func(answer []byte) string
}

var forms = []*form{
	{
		name: "anthropic", path: "/v1/messages", idHeader: "x-claude-code-session-id",
		pre: `{"model":"claude-opus-4-8","max_tokens":200,"thinking":{"type":"adaptive"}, "system":[{"type":"text","text":"You are <b> \u00e9"}],` +
			`"tools":[{"name":"ls","description":"list","input_schema":{"type":"object"}}],"messages":[ `,
		post: `], "x_unknown":1.0e2}`, streamed: `],"stream":true}`,
		user: `{"role":"user","content":"%s"}`, assistant: `{"role":"assistant","content":"%s"}`,
		last: "event: message_stop", keeps: anthropicContent,
	},
	{
		name: "openai-chat", path: "/v1/chat/completions", idHeader: "x-session-id",
		pre:  `{"model":"gpt-5.5", "messages" : [{"role":"system","content":"sys"},`,
		post: `]}`, streamed: `],"stream":true,"stream_options":{"include_usage":true}}`,
		user: `{"content":"%s","role":"user"}`, assistant: `{"role":"assistant","content":"%s"}`,
		last: "data: [DONE]",
	},
	{
		name: "openai-responses", path: "/v1/responses", idHeader: "session-id",
		pre:  `{"model":"gpt-6-sol","instructions":"be brief","input":[`,
		post: `],"store":false}`, streamed: `],"stream":true,"store":false}`,
		user:      `{"role":"user","content":[{"type":"input_text","text":"%s"}]}`,
		assistant: `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"%s"}]}`,
		last:      "event: response.completed",
	},
}

// anthropicContent is what an agent keeps of an answer: its content with the
// signed thinking, which the provider refuses behind any other prefix.
func anthropicContent(answer []byte) string {
	var a struct {
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(answer, &a) != nil {
		return ""
	}
	return fmt.Sprintf(`{"role":"assistant","content":%s}`, a.Content)
}

// A session is one conversation of an agent. One goroutine at a time has it.
type session struct {
	*form
	id, key string
	stream  bool
	history []string // messages as JSON
	left    int      // turns
	header  []string // further headers, names and values in turn
	shape   shape    // how much each of its questions is, if not little
}

// body returns the next turn's body and where its slot is.
func (s *session) body() (body []byte, slot int) {
	post := s.post
	if s.stream {
		post = s.streamed
	}
	return []byte(s.pre + strings.Join(s.history, ", ") + post), len(s.pre)
}

// ask adds the user's next message.
func (s *session) ask(text string) {
	if n := len(s.shape) - s.left; n >= 0 && n < len(s.shape) {
		text += " " + strings.Repeat("words and more words ", s.shape[n]/21)
	}
	s.history = append(s.history, fmt.Sprintf(s.user, text))
}

// hear adds the assistant's answer, and the user's next message.
func (s *session) hear(answer []byte) {
	said := ""
	if s.keeps != nil && !s.stream {
		said = s.keeps(answer)
	}
	if said == "" {
		said = fmt.Sprintf(s.assistant, "ok")
	}
	s.history = append(s.history, said)
	s.left--
	s.ask(fmt.Sprint("go on ", s.left))
}

// A try is one time that a client sends a turn. It is immutable once sent,
// except for what came of it, which is set before it is over.
type try struct {
	id   string
	of   *session
	life int
	via  *child // the proxy it goes to
	body []byte
	slot int

	requestID   string
	retryAfter  string
	shouldRetry string
	prefix      string // x-preface-prefix
	status      int
	answer      []byte
	err         error
	idled       time.Duration // by its connection, before it was sent
	judged      bool          // it is whole; the answer is gone
}

var tryCount atomic.Int64

func (s *session) newTry(life int) *try {
	t := &try{id: fmt.Sprint("try-", tryCount.Add(1)), of: s, life: life}
	t.body, t.slot = s.body()
	return t
}

// tryHeader carries a try's id to the provider.
const tryHeader = "X-Try"

// request is the try as a request. Its body cannot be read a second time, so it
// is sent once, whatever happens.
func (t *try) request(base string) (*http.Request, error) {
	req, err := http.NewRequest("POST", base+t.of.path, io.NopCloser(bytes.NewReader(t.body)))
	if err != nil {
		return nil, err
	}
	req.ContentLength = int64(len(t.body))
	for name, value := range map[string]string{tryHeader: t.id, "x-api-key": t.of.key, t.of.idHeader: t.of.id, "content-type": "application/json"} {
		req.Header.Set(name, value)
	}
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { t.idled = c.IdleTime }}))
	for i := 0; i+1 < len(t.of.header); i += 2 {
		req.Header.Set(t.of.header[i], t.of.header[i+1])
	}
	return req, nil
}

// send sends the try and reads what comes.
func (t *try) send(c *http.Client, base string) {
	req, err := t.request(base)
	if err != nil {
		t.err = err
		return
	}
	resp, err := c.Do(req)
	if err != nil {
		t.err = err
		return
	}
	defer resp.Body.Close()
	t.status, t.requestID = resp.StatusCode, resp.Header.Get("x-preface-request")
	t.retryAfter, t.shouldRetry = resp.Header.Get("retry-after"), resp.Header.Get("x-should-retry")
	t.prefix = resp.Header.Get("x-preface-prefix")
	t.answer, t.err = io.ReadAll(resp.Body)
}

// looksWhole reports whether the client takes the answer for a whole success.
func (t *try) looksWhole() bool { return t.err == nil && t.status == 200 }

// isWhole reports whether the answer is one.
func (t *try) isWhole() bool {
	if t.judged {
		return true
	}
	if t.of.stream {
		return bytes.Contains(t.answer, []byte(t.of.last))
	}
	return json.Valid(t.answer)
}

// newClient is an agent's HTTP client. Close its idle connections in the end.
func newClient() *http.Client {
	return &http.Client{Timeout: patience, Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64, ResponseHeaderTimeout: patience}}
}

// leave ends a client's connections.
func leave(c *http.Client) { c.CloseIdleConnections() }
