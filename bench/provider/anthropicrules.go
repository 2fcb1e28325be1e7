package provider

import "slices"

// maxMessages is the limit of one request (facts/providers.md 1.1).
const maxMessages = 100_000

// checkFields checks what is needed beside the messages' content.
func (m *messagesRequest) checkFields(counting bool) *apiError {
	b := m.body
	if m.name == "" {
		return refuse("model: Field required")
	}
	if n, ok := b.num("max_tokens"); !counting && (!ok || n < 0) {
		return refuse("max_tokens: Field required")
	}
	list, ok := b["messages"].([]any)
	switch {
	case !b.has("messages"):
		return refuse("messages: Field required")
	case !ok:
		return refuse("messages: Input should be a valid list")
	case len(list) == 0:
		return refuse("messages: at least one message is required")
	case len(list) > maxMessages:
		return refuse("messages: List should have at most %d items after validation, not %d", maxMessages, len(list))
	}
	if choice := b.obj("tool_choice").str("type"); m.claude.forcesNoTool() && (choice == "any" || choice == "tool") {
		return refuse("tool_choice: type %q is not supported on this model", choice)
	}
	return m.checkPrewarm()
}

// checkPrewarm checks what max_tokens 0 excludes (1.3).
func (m *messagesRequest) checkPrewarm() *apiError {
	if !m.prewarms() {
		return nil
	}
	choice := m.body.obj("tool_choice").str("type")
	if m.body.flag("stream") || m.thinks() || m.body.obj("output_config").has("format") || choice == "tool" || choice == "any" {
		return refuse("max_tokens: 0 cannot be combined with `stream`, `thinking`, `output_config.format`, or `tool_choice` of type tool or any")
	}
	return nil
}

// prewarms reports whether the request only fills the cache.
func (m *messagesRequest) prewarms() bool {
	n, ok := m.body.num("max_tokens")
	return ok && n == 0
}

// A turn is a run of messages of one role; the API reads it as one (1.1).
// Messages that are only a directive belong to no turn.
type turn struct {
	role  string
	first int // index of its first message
	last  placed
	uses  []string // tool_use ids
	done  []placed // tool_result blocks
}

func (m *messagesRequest) turns() []turn {
	var out []turn
	for _, p := range m.placed {
		if p.message < 0 || p.directive {
			continue
		}
		if len(out) == 0 || out[len(out)-1].role != p.section {
			out = append(out, turn{role: p.section, first: p.message})
		}
		t := &out[len(out)-1]
		t.last = p
		switch p.block.str("type") {
		case "tool_use":
			t.uses = append(t.uses, p.block.str("id"))
		case "tool_result":
			t.done = append(t.done, p)
		}
	}
	return out
}

// checkRoles checks who may speak when (1.1, 1.2).
func (m *messagesRequest) checkRoles() *apiError {
	for i, v := range m.body.list("messages") {
		role := asObject(v).str("role")
		if role != "user" && role != "assistant" && role != "system" {
			return refuse("messages.%d.role: Input should be 'user', 'assistant' or 'system'", i)
		}
		if role == "system" && !m.claude.systemMessages() {
			return refuse("messages.%d: role 'system' is not supported on this model", i)
		}
	}
	turns := m.turns()
	for i, t := range turns {
		if t.role != "system" {
			continue
		}
		if e := checkSystemTurn(turns, i); e != nil {
			return e
		}
	}
	if len(turns) > 0 && turns[len(turns)-1].role == "assistant" && !m.claude.prefill() {
		return refuse("This model does not support assistant message prefill. The conversation must end with a user message.")
	}
	return nil
}

// checkSystemTurn checks a run of system messages: after a user turn, or an
// assistant turn that ended in a server tool's result; last, or before an
// assistant turn.
func checkSystemTurn(turns []turn, i int) *apiError {
	at := turns[i].first
	if i == 0 {
		return refuse("messages.%d: the first message cannot have role 'system'; use the top-level `system` parameter", at)
	}
	if before := turns[i-1]; before.role != "user" && !isServerResult(before.last.block) {
		return refuse("messages.%d: a 'system' message must follow a user turn", at)
	}
	if i+1 < len(turns) && turns[i+1].role != "assistant" {
		return refuse("messages.%d: a 'system' message must be last or be followed by an assistant turn", at)
	}
	return nil
}

func isServerResult(b object) bool {
	switch b.str("type") {
	case "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "mcp_tool_result":
		return true
	}
	return false
}

// checkToolPairs checks that each tool_use is answered in the next turn, and
// that each tool_result answers one.
func (m *messagesRequest) checkToolPairs() *apiError {
	turns := m.turns()
	var open turn
	for _, t := range turns {
		var got []string
		for _, r := range t.done {
			id := r.block.str("tool_use_id")
			if !slices.Contains(open.uses, id) {
				return refuse("%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", r.path, id)
			}
			got = append(got, id)
		}
		if e := open.unanswered(got); e != nil {
			return e
		}
		open = t
	}
	return open.unanswered(nil)
}

func (t turn) unanswered(got []string) *apiError {
	for _, id := range t.uses {
		if !slices.Contains(got, id) {
			return refuse("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", t.last.message, id)
		}
	}
	return nil
}
