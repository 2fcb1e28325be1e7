package explain_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/proxy"
	"github.com/seed-9236c7ca/preface/proxy/explain"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// A conversation is a request to the simulated provider in parts, which are put
// together as a dialect wants them.
type conversation struct {
	dialect, model string
	tools          []string // JSON
	system         string
	params         string // members, each with a comma behind it
	says           []string
	unmarked       bool
	key            string
}

func begun(dialect, model string) *conversation {
	tool := func(name string) string {
		schema := `{"type":"object","properties":{"path":{"type":"string"}}}`
		switch dialect {
		case "anthropic":
			return fmt.Sprintf(`{"name":%q,"description":"Does %s.","input_schema":%s}`, name, name, schema)
		case "openai-chat":
			return fmt.Sprintf(`{"type":"function","function":{"name":%q,"description":"Does %s.","parameters":%s}}`, name, name, schema)
		}
		return fmt.Sprintf(`{"type":"function","name":%q,"description":"Does %s.","parameters":%s}`, name, name, schema)
	}
	return &conversation{
		dialect: dialect, model: model, tools: []string{tool("read"), tool("write"), tool("run")},
		system: strings.Repeat("You are an agent. ", 1500), says: []string{"Do it. " + strings.Repeat("Now. ", 3000)},
	}
}

// turn adds an answer and a question.
func (c *conversation) turn() {
	n := len(c.says)
	c.says = append(slices.Clone(c.says), fmt.Sprintf("answer %d", n), fmt.Sprintf("question %d %s", n, strings.Repeat("and so on ", 80)))
}

const mark = `,"cache_control":{"type":"ephemeral"}`

func (c *conversation) body() string {
	tools := strings.Join(c.tools, ",")
	switch c.dialect {
	case "anthropic":
		system := fmt.Sprintf(`[{"type":"text","text":%q%s}]`, c.system, c.mark(mark))
		return fmt.Sprintf(`{"model":%q,"max_tokens":100,%s"tools":[%s],"system":%s,"messages":[%s]}`, c.model, c.params, tools, system, c.messages())
	case "openai-chat":
		return fmt.Sprintf(`{"model":%q,%s%s"tools":[%s],"messages":[{"role":"system","content":%q},%s]}`, c.model, c.cacheKey(), c.params, tools, c.system, c.messages())
	}
	return fmt.Sprintf(`{"model":%q,%s%s"tools":[%s],"input":[{"role":"developer","content":%q},%s]}`, c.model, c.cacheKey(), c.params, tools, c.system, c.messages())
}

func (c *conversation) mark(m string) string {
	if c.unmarked {
		return ""
	}
	return m
}

func (c *conversation) cacheKey() string {
	if c.key == "" {
		return ""
	}
	return fmt.Sprintf(`"prompt_cache_key":%q,`, c.key)
}

func (c *conversation) messages() string {
	var out []string
	for i, text := range c.says {
		role := []string{"user", "assistant"}[i%2]
		content := fmt.Sprintf("%q", text)
		if c.dialect == "anthropic" && i == len(c.says)-1 {
			content = fmt.Sprintf(`[{"type":"text","text":%q%s}]`, text, c.mark(mark))
		}
		out = append(out, fmt.Sprintf(`{"role":%q,"content":%s}`, role, content))
	}
	return strings.Join(out, ",")
}

// A bench is a provider with a clock, and a tracker that sees what is asked of it.
type bench struct {
	t       *testing.T
	p       *provider.Provider
	now     time.Time
	tracker *explain.Tracker
	n       int
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), tracker: explain.NewTracker(explain.Options{})}
	b.p = provider.New(provider.Options{Now: func() time.Time { return b.now }})
	if err := b.p.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.p.Close() })
	return b
}

var paths = map[string]string{"anthropic": "/v1/messages", "openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses"}

// ask sends a conversation and returns the verdict on it.
func (b *bench) ask(thread string, c *conversation) explain.Verdict {
	b.t.Helper()
	b.now = b.now.Add(20 * time.Second)
	body := c.body()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.p.URL()+paths[c.dialect], strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("x-api-key", "any")
	req.Header.Set("authorization", "Bearer any")
	req.Header.Set("anthropic-version", "2023-06-01")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		b.t.Fatalf("status %d, %v: %s", resp.StatusCode, err, answer)
	}
	r, _, err := proxy.ReadBody(c.dialect, []byte(body))
	if err != nil {
		b.t.Fatal(err)
	}
	b.n++
	r.ID, r.Host, r.Account = fmt.Sprintf("r%d", b.n), b.p.URL(), "any"
	r.Start, r.FirstByte, r.Complete, r.WantsUsage = b.now, b.now.Add(time.Second), true, true
	r.Usage = usageIn(b.t, c, answer)
	v, _ := b.tracker.Observe(thread, r)
	return v
}

// usageIn reads the usage of an answer, as the dialects' meters do.
func usageIn(t *testing.T, c *conversation, answer []byte) usage.Usage {
	t.Helper()
	type details struct {
		Cached  int64  `json:"cached_tokens"`
		Written *int64 `json:"cache_write_tokens"`
	}
	var got struct {
		Usage struct {
			Input    int64 `json:"input_tokens"`
			Prompt   int64 `json:"prompt_tokens"`
			Read     int64 `json:"cache_read_input_tokens"`
			Creation struct {
				Short int64 `json:"ephemeral_5m_input_tokens"`
				Long  int64 `json:"ephemeral_1h_input_tokens"`
			} `json:"cache_creation"`
			Details details `json:"prompt_tokens_details"`
			InputDs details `json:"input_tokens_details"`
		}
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		t.Fatal(err)
	}
	u := got.Usage
	if c.dialect == "anthropic" {
		return usage.Usage{Fresh: usage.Of(u.Input), CacheRead: usage.Of(u.Read), Write5m: usage.Of(u.Creation.Short), Write1h: usage.Of(u.Creation.Long)}
	}
	d, total := u.Details, u.Prompt
	if c.dialect == "openai-responses" {
		d, total = u.InputDs, u.Input
	}
	out := usage.Usage{CacheRead: usage.Of(d.Cached), Fresh: usage.Of(total - d.Cached)}
	if d.Written != nil && *d.Written > 0 || d.Written != nil && strings.HasPrefix(c.model, "gpt-5.6") {
		out.WriteOther = usage.Of(*d.Written)
		out.Fresh = usage.Of(total - d.Cached - *d.Written)
	}
	return out
}

var simulated = []struct{ dialect, model string }{
	{"anthropic", "claude-opus-5-5"}, {"anthropic", "claude-haiku-4-5"},
	{"openai-chat", "gpt-5.6-sol"}, {"openai-responses", "gpt-5.6-sol"},
	{"openai-chat", "gpt-5.4"}, {"openai-responses", "gpt-5.5"},
}

// A conversation that only grows reads all that it could, to the token.
func TestGrowingConversationMissesNothing(t *testing.T) {
	for _, f := range simulated {
		t.Run(f.dialect+"/"+f.model, func(t *testing.T) {
			b, c := newBench(t), begun(f.dialect, f.model)
			if v := b.ask("t", c); v.Cause != explain.Cold {
				t.Errorf("first: %+v, want cold", v)
			}
			for i := range 40 {
				c.turn()
				v := b.ask("t", c)
				if old := strings.HasPrefix(f.model, "gpt-5.4") || strings.HasPrefix(f.model, "gpt-5.5"); v.Cause != "" && !(old && v.Cause == explain.PartialBlock) {
					t.Fatalf("turn %d: %+v", i, v)
				}
			}
		})
	}
}

// What is changed in the third request is what is named, with the simulated
// provider's own count of what was read.
func TestChangesAtTheSimulatedProvider(t *testing.T) {
	claude := func(dialect, _ string) bool { return dialect == "anthropic" }
	newer := func(_, model string) bool { return model == "gpt-5.6-sol" }
	gpt := func(dialect, _ string) bool { return dialect != "anthropic" }
	for _, test := range []struct {
		name   string
		only   func(dialect, model string) bool
		change func(b *bench, c *conversation)
		cause  string
	}{
		{"model", nil, func(_ *bench, c *conversation) { c.model += "-mini" }, explain.ModelChanged},
		{"key", gpt, func(_ *bench, c *conversation) { c.key = "other" }, explain.KeyChanged},
		{"tool gone", nil, func(_ *bench, c *conversation) { c.tools = c.tools[:2] }, explain.ToolsChanged},
		{"tools reordered", nil, func(_ *bench, c *conversation) { slices.Reverse(c.tools) }, explain.ToolsChanged},
		{"tool edited", nil, func(_ *bench, c *conversation) {
			c.tools[1] = strings.Replace(c.tools[1], "Does write.", "Does more.", 1)
		}, explain.ToolsChanged},
		{"system", nil, func(_ *bench, c *conversation) { c.system = "Today. " + c.system }, explain.SystemChanged},
		{"effort", gpt, func(_ *bench, c *conversation) {
			c.params = map[string]string{"openai-chat": `"reasoning_effort":"high",`, "openai-responses": `"reasoning":{"effort":"high"},`}[c.dialect]
		}, explain.ParameterChanged},
		{"tool_choice", claude, func(_ *bench, c *conversation) { c.params = `"tool_choice":{"type":"any"},` }, explain.ParameterChanged},
		{"speed", claude, func(_ *bench, c *conversation) { c.params = `"speed":"fast",` }, explain.ParameterChanged},
		{"message edited", nil, func(_ *bench, c *conversation) { c.says[0] = "Do this. " + c.says[0] }, explain.HistoryRewritten},
		{"answer edited", nil, func(_ *bench, c *conversation) { c.says[1] = strings.Repeat("otherwise ", 1000) }, explain.HistoryRewritten},
		{"dropped", nil, func(_ *bench, c *conversation) { c.says = c.says[2:] }, explain.HistoryRewritten},
		{"compacted", nil, func(_ *bench, c *conversation) { c.says = []string{strings.Repeat("a summary ", 1200)} }, explain.HistoryRewritten},
		{"no mark", claude, func(_ *bench, c *conversation) { c.unmarked = true }, explain.NoMark},
		{"look-back", func(d, m string) bool { return claude(d, m) || newer(d, m) }, func(_ *bench, c *conversation) {
			for range 22 {
				c.turn()
			}
		}, explain.LookbackExceeded},
		{"expired", nil, func(b *bench, _ *conversation) { b.now = b.now.Add(25 * time.Hour) }, explain.Expired},
		{"below the minimum", nil, func(_ *bench, c *conversation) { c.system, c.says = "Short.", []string{"hi"} }, explain.BelowMinimum},
		{"nothing that matters", nil, func(_ *bench, c *conversation) { c.params = `"temperature":1,` }, ""},
	} {
		for _, f := range simulated {
			if test.only != nil && !test.only(f.dialect, f.model) {
				continue
			}
			t.Run(test.name+"/"+f.dialect+"/"+f.model, func(t *testing.T) {
				b, c := newBench(t), begun(f.dialect, f.model)
				b.ask("t", c)
				c.turn()
				c.turn()
				c.turn()
				b.ask("t", c)
				c.turn()
				test.change(b, c)
				v := b.ask("t", c)
				if v.Cause != test.cause && !(test.cause == "" && v.Cause == explain.PartialBlock) {
					t.Errorf("verdict %+v, want %s", v, test.cause)
				}
			})
		}
	}
}
