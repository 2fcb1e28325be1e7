package configs

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// An exposition is what /metrics says: each metric as queries name it, with its
// type and what values its labels had.
type exposition map[string]*exposed

type exposed struct {
	family string // the metric that it is of: a histogram has three of them
	kind   string
	labels map[string]map[string]bool
}

var (
	typeLine   = regexp.MustCompile(`^# TYPE (\S+) (\S+)$`)
	sampleLine = regexp.MustCompile(`^([a-z_0-9]+)(?:\{(.*)\})? \S+$`)
	labelPair  = regexp.MustCompile(`([a-z_0-9]+)="((?:[^"\\]|\\.)*)"`)
)

func readExposition(t *testing.T, text string) exposition {
	t.Helper()
	e := exposition{}
	family, kind := "", ""
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if m := typeLine.FindStringSubmatch(line); m != nil {
			family, kind = m[1], m[2]
		} else if m := sampleLine.FindStringSubmatch(line); m != nil {
			e.add(m[1], family, kind, m[2])
		} else if !strings.HasPrefix(line, "# HELP ") {
			t.Errorf("/metrics has the line %q", line)
		}
	}
	return e
}

func (e exposition) add(name, family, kind, labels string) {
	x := e[name]
	if x == nil {
		x = &exposed{family, kind, map[string]map[string]bool{}}
		e[name] = x
	}
	for _, m := range labelPair.FindAllStringSubmatch(labels, -1) {
		if x.labels[m[1]] == nil {
			x.labels[m[1]] = map[string]bool{}
		}
		x.labels[m[1]][m[2]] = true
	}
}

// exposeAll runs the program, sends requests until each of its metrics has
// something to tell, and returns what /metrics says then.
func exposeAll(t *testing.T) exposition {
	t.Helper()
	p := newFickle(t)
	agents, operators := serve(t, write(t, t.TempDir(), "preface.yaml", `
listen: 127.0.0.1:0
admin: 127.0.0.1:0
log: {path: `+t.TempDir()+`/preface.db}
contributors: [{kind: text, text: Never touch the billing tables.}]
burst: {hold: 1m}
usage: {verdict: ask, verdict_hosts: ["`+strings.TrimPrefix(p.URL, "http://")+`"]}
telemetry: {traces: otlp, metrics: none, endpoint: "`+p.URL+`"}
routes:
  - {name: anthropic, path: /, dialect: anthropic, upstream: "`+p.URL+`"}
  - {name: strict, path: /strict, dialect: anthropic, upstream: "`+p.URL+`", policy: enforced}
`))
	send := func(path, body string) {
		resp, err := http.Post(agents+path+"/v1/messages", "application/json", strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	send("", `{"model":`)        // passed on untouched
	send("/strict", `{"model":`) // refused
	send("", turn("no-such-model", 1))
	for n := 1; n <= 2; n++ {
		send("", turn("claude-opus-4-5", n))
	}
	var two sync.WaitGroup
	for range 2 { // one of them waits for the other
		two.Go(func() { send("", turn(slowModel, 1)) })
	}
	await(t, operators, regexp.MustCompile(`(?m)^preface_held_requests 1$`))
	close(p.slow)
	two.Wait()
	// The counts of an answer come after it.
	return readExposition(t, await(t, operators,
		regexp.MustCompile(`(?m)^preface_alarms_total`), regexp.MustCompile(`(?m)^preface_unpriced_total`),
		regexp.MustCompile(`(?m)^preface_cache_shortfalls_total`), regexp.MustCompile(`(?m)^preface_cost_usd_total`),
		regexp.MustCompile(`(?m)^preface_held_seconds_count`), regexp.MustCompile(`(?m)^preface_verdicts_total`)))
}

// turn is the n-th request of a conversation.
func turn(model string, n int) string {
	said := `{"role":"user","content":"` + strings.Repeat("Look around. ", 4000) + `"}`
	return fmt.Sprintf(`{"model":"%s","max_tokens":100,"tools":[{"name":"look","input_schema":{"type":"object"}}],"messages":[%s%s]}`,
		model, said, strings.Repeat(`,{"role":"assistant","content":"Done."},`+said, n-1))
}

// slowModel is answered when the fickle provider is told so.
const slowModel = "claude-haiku-4-5"

// A fickle provider writes everything to its cache and reads nothing from it.
type fickle struct {
	*httptest.Server
	slow chan struct{} // closed: slowModel is answered
}

func newFickle(t *testing.T) *fickle {
	p := &fickle{slow: make(chan struct{})}
	var n atomic.Int64
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("the provider cannot read a request: %v", err)
		}
		model := regexp.MustCompile(`"model":"([^"]*)"`).FindSubmatch(body)
		if model == nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if string(model[1]) == slowModel {
			<-p.slow
		}
		w.Header().Set("content-type", "application/json")
		fmt.Fprintf(w, `{"id":"msg_%d","type":"message","diagnostics":{"cache_miss_reason":{"type":"tools_changed"}},"role":"assistant","model":"%s","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn",
			"usage":{"input_tokens":10,"cache_creation_input_tokens":12000,"cache_read_input_tokens":0,"output_tokens":3,
			"cache_creation":{"ephemeral_5m_input_tokens":12000,"ephemeral_1h_input_tokens":0}}}`, n.Add(1), model[1])
	}))
	t.Cleanup(p.Close)
	return p
}

// await asks for /metrics until all is there.
func await(t *testing.T, operators string, all ...*regexp.Regexp) string {
	t.Helper()
	for until := time.Now().Add(30 * time.Second); ; {
		_, text := get(t, operators+"/metrics")
		missing := ""
		for _, re := range all {
			if !re.MatchString(text) {
				missing += " " + re.String()
			}
		}
		if missing == "" {
			return text
		}
		if time.Now().After(until) {
			t.Fatalf("/metrics lacks%s:\n%s", missing, text)
		}
	}
}
