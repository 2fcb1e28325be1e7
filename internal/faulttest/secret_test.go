package faulttest

import (
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-9236c7ca/preface/internal/failpoint"
)

// Canaries are values that must be nowhere but in what goes to the provider
// and, of the configuration, to the contributor.
const (
	keyCanary    = "sk-CANARY-key-0123456789"
	bodyCanary   = "CANARY-body-0123456789"
	configCanary = "CANARY-config-0123456789"
)

// secretive is a configuration that holds a secret itself.
const secretive = "contributors:\n- {name: opener, kind: http, url: \"%s\", deadline: 300ms, headers: {authorization: \"Bearer ${CANARY}\"}}\n" +
	"timeouts: {receive: 1s, stream_idle: 500ms, first_byte: 500ms, client_write: 1s, drain: 1s}\n" +
	"limits: {body: 65536, header: 8192}\nlogging: {level: debug}\n"

// TestI12_NoSecret: every way in which a request can fail, with canaries for the
// client's credentials, its words, and the operator's secret; then everything
// that the program wrote is searched. The race detector looks at the program if
// it looks at the test.
func TestI12_NoSecret(t *testing.T) {
	for _, policy := range []string{"enforced", "best_effort"} {
		t.Run(policy, func(t *testing.T) {
			st := newStage(t, watched, func(st *stage) {
				st.policy, st.config = policy, fmt.Sprintf(secretive, st.openers.url)
			})
			h := &hunt{stage: st}
			for _, fault := range []string{"", failAt(failpoint.BodyRead, 3, "panic"), failAt(failpoint.Composed, 2, "panic"), failAt(failpoint.BodyHalf, 3, "kill")} {
				h.run(fault)
			}
			h.search()
		})
	}
}

// A hunt provokes failures and keeps what the program said about them.
type hunt struct {
	*stage
	told strings.Builder // answers of the program itself, pages, output
}

// run goes through all failures with one process.
func (h *hunt) run(fault string) {
	env := []string{"CANARY=" + configCanary, "GOTRACEBACK=all"}
	if fault != "" {
		env = append(env, fault)
	}
	p := h.start(env...)
	h.provider(p)
	h.contributor(p)
	h.malformed(p)
	h.reload(p)
	if fault == "" {
		for _, page := range []string{"/", "/metrics", "/sessions", "/healthz", "/readyz"} {
			h.told.WriteString(p.operate("GET", page))
		}
		h.told.WriteString(p.operate("POST", "/-/reload"))
	}
	p.signal(syscall.SIGTERM)
	p.over()
	h.told.WriteString(p.stdout.String() + p.stderr.String())
	if strings.Contains(p.stderr.String(), "DATA RACE") {
		h.t.Errorf("the race detector found something:\n%s", p.stderr.String())
	}
}

// canarySession is a session full of canaries.
func canarySession(f *form, id string, stream bool) *session {
	s := newSession(f, id, stream)
	s.key = keyCanary
	s.history = []string{fmt.Sprintf(f.user, bodyCanary)}
	s.header = []string{"authorization", "Bearer " + keyCanary, "cookie", "session=" + keyCanary, "proxy-authorization", keyCanary, "api-key", keyCanary}
	return s
}

// send sends a session and keeps the answer if the program made it.
func (h *hunt) send(p *child, s *session) {
	if got := h.attempt(p, s); got.status/100 != 2 && got.shouldRetry != "" {
		h.told.Write(got.answer)
	}
}

func (h *hunt) provider(p *child) {
	for i, fault := range []string{"", "reset", "status=401,message=" + bodyCanary, "cut=rst@10", "error@1", "stall@1", "delay=5s", "bad-chunk@1", "no-terminal"} {
		s := canarySession(forms[i%len(forms)], fmt.Sprint("s", tryCount.Add(1)), i%2 == 0)
		s.header = append(s.header, "x-provider-fault", fault)
		h.send(p, s)
	}
}

func (h *hunt) contributor(p *child) {
	for i, answer := range []http.HandlerFunc{
		func(_ http.ResponseWriter, r *http.Request) { waitGone(r) },
		func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		func(w http.ResponseWriter, r *http.Request) { http.Error(w, r.Header.Get("authorization"), 500) },
		func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Header.Get("authorization")) },
	} {
		h.openers.setAnswer(answer)
		h.send(p, canarySession(forms[i%len(forms)], fmt.Sprint("s", tryCount.Add(1)), false))
	}
	h.openers.setAnswer(nil)
}

// malformed sends what cannot be read, canaries in every part of it.
func (h *hunt) malformed(p *child) {
	head := "POST /v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: " + keyCanary + "\r\n"
	for _, text := range []string{
		"BAD " + keyCanary + "\r\n\r\n", head + "broken " + keyCanary + "\r\n\r\n", head + "X Y: " + keyCanary + "\r\n\r\n",
		head + "Content-Length: " + keyCanary + "\r\n\r\n", head + "Content-Length: 10\r\nTransfer-Encoding: chunked\r\n\r\n" + bodyCanary,
		head + "x: " + strings.Repeat(keyCanary, 1000) + "\r\n\r\n", head + "Content-Length: 99999\r\n\r\n" + bodyCanary,
		withBody(head, `{"`+bodyCanary+`"`), withBody(head, bodyCanary), withBody(head, `{"messages":"`+bodyCanary+`"}`),
		withBody(head, `{"messages":[],"`+bodyCanary+`":1,"`+bodyCanary+`":2}`),
		withBody(head, `{"messages":[{"role":"user","content":"`+bodyCanary+"\xff"+`"}]}`),
		withBody(head+"Content-Encoding: gzip\r\n", bodyCanary), withBody(head, strings.Repeat(bodyCanary, 4000)),
		strings.Replace(withBody(head, "{}"), "/v1/messages", "/"+keyCanary+"?k="+keyCanary, 1),
	} {
		c, err := net.Dial("tcp", strings.TrimPrefix(p.agents, "http://"))
		if err != nil {
			continue // it was killed, as it should be
		}
		_, _ = io.WriteString(c, text) // it may hang up before the end
		_ = c.(*net.TCPConn).CloseWrite()
		answer := readAll(c)
		if strings.Contains(answer, "preface: ") {
			h.told.WriteString(answer)
		}
		_ = c.Close()
	}
}

func withBody(head, body string) string {
	return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(body), body)
}

// reload has the program read a configuration that is wrong at its secret.
func (h *hunt) reload(p *child) {
	good := h.config
	h.config = strings.Replace(good, "${CANARY}", "${CANARY}\\n", 1)
	h.writeConfig()
	p.signal(syscall.SIGHUP)
	h.config = good
}

// search looks for canaries in everything that was written. The system slot of
// requests is stored by design, their history is not.
func (h *hunt) search() {
	look := func(where, text string) {
		for _, canary := range []string{keyCanary, bodyCanary, configCanary, "CANARY"} {
			if at := strings.Index(text, canary); at >= 0 {
				h.t.Errorf("I12: %q is in %s: …%.300q…", canary, where, text[max(0, at-100):])
				return
			}
		}
	}
	look("what the program said", strings.ReplaceAll(h.told.String(), "${CANARY}", ""))
	files := 0
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == h.configPath() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		look(filepath.Base(path), string(b))
		return err
	})
	if err != nil || files == 0 {
		h.t.Errorf("%d files searched, %v", files, err)
	}
	h.blobs(look)
}

// blobs looks into what the log stores compressed.
func (h *hunt) blobs(look func(where, text string)) {
	r := h.openLog()
	defer r.Close()
	for _, rec := range h.records() {
		if rec.Header == nil {
			continue
		}
		for _, part := range rec.Header.Parts {
			if b, err := r.ReadBlob(h.t.Context(), part.Digest); err == nil {
				look("the stored "+part.Name, string(b))
			}
		}
	}
}
