package provider

import (
	"strings"

	"github.com/seed-9236c7ca/preface/bench/cache"
)

// answerMessages answers /v1/messages.
func (p *Provider) answerMessages(q *request) (*answer, *apiError) {
	m, e := readMessages(q.body, q.header, q.tenant, false)
	if e != nil {
		return nil, e
	}
	blocks, marks := m.render()
	ends, end, _ := measure(blocks, 0)
	pl := newPlan(p.cache.PlanMarks(cache.Scope("anthropic", q.tenant, m.name), ends, marks, m.claude.Minimum(), q.start), nil)
	var r reply
	if !m.prewarms() {
		r = m.question(end.Sum, q.fault.EventBytes).reply()
	}
	pl.tokens.Output = r.output()
	msg := m.message(r, q.naming(end.Sum), pl.tokens)
	diagnosed := m.body.has("diagnostics") // of others nothing is kept either
	var kept messagesPrint
	if diagnosed {
		msg.Diagnostics = &nullable[messagesDiagnosis]{}
		msg.Diagnostics.value, kept = p.compare(m)
	}
	var a *answer
	if m.body.flag("stream") {
		a = streamed(msg.events(q.fault.EventBytes > 0))
	} else {
		a = whole(200, msg)
	}
	a.model, a.tokens = m.name, &pl.tokens
	a.begin = func() {
		p.cache.Commit(pl.made)
		if diagnosed {
			p.messagePrints.add(m.tenant, msg.ID, kept)
		}
	}
	return a, nil
}

// countMessages answers /v1/messages/count_tokens. It runs every check and
// never touches the cache (facts/providers.md 1.5).
func (p *Provider) countMessages(q *request) (*answer, *apiError) {
	m, e := readMessages(q.body, q.header, q.tenant, true)
	if e != nil {
		return nil, e
	}
	blocks, _ := m.render()
	_, end, _ := measure(blocks, 0)
	a := whole(200, struct {
		InputTokens int64 `json:"input_tokens"`
	}{end.Tokens})
	a.model = m.name
	return a, nil
}

// question reads what the last user turn asks.
func (m *messagesRequest) question(prompt digest, bytes int) question {
	q := question{prompt: prompt, thinks: m.thinks(), bytes: bytes, schema: m.body.obj("output_config").obj("format").obj("schema")}
	q.maxTokens, _ = m.body.num("max_tokens")
	for _, t := range objects(m.body.list("tools")) {
		q.tools = append(q.tools, tool{name: t.str("name"), schema: t.obj("input_schema")})
	}
	for _, p := range m.placed {
		if p.message < 0 || p.section != "user" || p.directive {
			continue
		}
		switch p.block.str("type") {
		case "tool_result":
			q.results++
		case "text":
			q.hear(p.block.str("text"))
		}
	}
	for _, t := range m.turns() {
		if t.role == "user" {
			q.step++
		}
	}
	return q
}

// hear takes the next user text; agents' reminders are no prompt.
func (q *question) hear(text string) {
	if strings.HasPrefix(strings.TrimSpace(text), "<system-reminder>") {
		return
	}
	q.text, q.results = text, 0
}

type messageObject struct {
	ID           string        `json:"id"`
	Type         string        `json:"type"`
	Role         string        `json:"role"`
	Model        string        `json:"model"`
	Content      []any         `json:"content"`
	StopReason   *string       `json:"stop_reason"`
	StopSequence *string       `json:"stop_sequence"`
	Usage        messagesUsage `json:"usage"`
	// Changes is there, if empty, exactly under the binding beta.
	Changes *[]transformation `json:"input_transformations,omitempty"`
	// Diagnostics is there, if null, exactly where a diagnosis was asked for.
	Diagnostics *nullable[messagesDiagnosis] `json:"diagnostics,omitempty"`
}

type messagesUsage struct {
	Input       int64         `json:"input_tokens"` // without the cached ones
	Written     int64         `json:"cache_creation_input_tokens"`
	Read        int64         `json:"cache_read_input_tokens"`
	Writes      cacheCreation `json:"cache_creation"`
	Output      int64         `json:"output_tokens"`
	ServiceTier string        `json:"service_tier"`
}

type cacheCreation struct {
	Short int64 `json:"ephemeral_5m_input_tokens"`
	Long  int64 `json:"ephemeral_1h_input_tokens"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type thinkingBlock struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

type toolUseBlock struct {
	Type  string `json:"type"`
	ID    string `json:"id"`
	Name  string `json:"name"`
	Input any    `json:"input"`
}

// message is the answer as a whole.
func (m *messagesRequest) message(r reply, names digest, t Tokens) messageObject {
	out := messageObject{
		ID: idFor("msg_", names, 0), Type: "message", Role: "assistant", Model: m.name, Content: []any{},
		StopReason: optional(r.stopReason(m.prewarms())),
		Usage:      messagesUsage{t.Fresh, t.Written(), t.CacheRead, cacheCreation{t.Write5m, t.Write1h}, t.Output, "standard"},
	}
	if m.beta(bindingBeta) {
		changes := append([]transformation{}, m.changes...)
		out.Changes = &changes
	}
	if r.thinking != "" {
		out.Content = append(out.Content, thinkingBlock{"thinking", r.thinking, m.sign(r.thinking, m.bound).String()})
	}
	if r.text != "" {
		out.Content = append(out.Content, textBlock{"text", r.text})
	}
	if r.call != nil {
		out.Content = append(out.Content, toolUseBlock{"tool_use", idFor("toolu_", names, 1), r.call.name, rawJSON(r.call.arguments)})
	}
	return out
}

func (r reply) stopReason(prewarm bool) string {
	switch {
	case r.cut || prewarm:
		return "max_tokens"
	case r.call != nil:
		return "tool_use"
	}
	return "end_turn"
}
