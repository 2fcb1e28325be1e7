package proxy_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The dialects that causes are injected in.
const (
	anthropic = "anthropic"
	chat      = "openai-chat"
	responses = "openai-responses"
)

// A talk is one request of an agent in parts, which are written as its dialect
// wants them. It is a value: copy makes one that can be changed.
type talk struct {
	dialect, model string
	tools          []tool
	system         []string
	turns          []turn
	params         []string // further members, e.g. `"speed":"fast"`
	key            string   // prompt_cache_key

	ttl        string       // of Anthropic's marks, empty for the default
	unmarked   bool         // Anthropic's two marks, on system and on the last block, are left out
	marksAt    map[int]bool // turns whose last text is marked, beside or instead
	noTailMark bool         // the mark on the last block is left out
	list       bool         // texts that are alone stand in a list
	asks       string       // an answer that the client wants to be compared with

	// What is not in the body.
	prefix, betas         string
	epoch                 int
	host, account, thread string
	via                   route // a router on the way; nil: none
}

type tool struct{ name, says string }

// A turn is one message, or in the OpenAI dialects several items.
type turn struct {
	role  string
	parts []part
}

// A part is a block of a message. raw is JSON that a dialect's history has as it
// is, such as thinking.
type part struct{ kind, text, id, raw string }

func text(s string) part           { return part{kind: "text", text: s} }
func image(data string) part       { return part{kind: "image", text: data} }
func call(id string) part          { return part{kind: "call", id: id} }
func result(id, s string) part     { return part{kind: "result", id: id, text: s} }
func raw(j string) part            { return part{kind: "raw", raw: j} }
func user(p ...part) turn          { return turn{"user", p} }
func assistant(p ...part) turn     { return turn{"assistant", p} }
func words(s string, n int) string { return strings.Repeat(s+" ", n) }

// newTalk is a coding agent in the middle of its work: some 7,500 tokens, which is
// above every model's minimum.
func newTalk(dialect, model string) *talk {
	c := &talk{dialect: dialect, model: model, host: "api.example", account: "acme", thread: "main", epoch: 1}
	for _, name := range []string{"read_file", "write_file", "run"} {
		c.tools = append(c.tools, tool{name, words("Does "+name+" and tells what came of it.", 50)})
	}
	c.system = []string{words("You are a careful engineer.", 150), words("Work in small steps. Session 36ee5 of today.", 30)}
	c.turns = []turn{user(text("<system-reminder>Skills: deploy, review.</system-reminder> Mend the parser. " + words("It fails on nested lists.", 100)))}
	for i := range 3 {
		id := fmt.Sprintf("call_%d", i)
		c.turns = append(c.turns,
			assistant(text(fmt.Sprintf("I look at file %d. ", i)+words("It may be there.", 60)), call(id)),
			user(result(id, fmt.Sprintf("file %d: ", i)+words("func parse(b []byte) error { return nil }", 30))),
			assistant(text(fmt.Sprintf("File %d is fine. ", i)+words("The next one, then.", 50))),
			user(text(fmt.Sprintf("Go on with %d. ", i)+words("Mind the tests.", 60))))
	}
	return c
}

// copy is one that shares nothing that is changed.
func (c *talk) copy() *talk {
	d := *c
	d.tools, d.system, d.params, d.turns = slices.Clone(c.tools), slices.Clone(c.system), slices.Clone(c.params), slices.Clone(c.turns)
	for i := range d.turns {
		d.turns[i].parts = slices.Clone(d.turns[i].parts)
	}
	d.marksAt = map[int]bool{}
	for i := range c.marksAt {
		d.marksAt[i] = true
	}
	return &d
}

// turn goes on by an answer and what the user says to it.
func (c *talk) turn() {
	n := len(c.turns)
	c.turns = append(c.turns, assistant(text(fmt.Sprintf("Done with step %d.", n))), user(text(fmt.Sprintf("And step %d? ", n)+words("Go on.", 100))))
}

// edit changes the text of a part.
func (c *talk) edit(turn int, old, new string) {
	for i := range c.turns[turn].parts {
		p := &c.turns[turn].parts[i]
		if strings.Contains(p.text, old) {
			p.text = strings.Replace(p.text, old, new, 1)
			return
		}
	}
	panic("test: nothing to edit: " + old)
}

func (c *talk) set(member string) { c.params = append(c.params, member) }

// body is the request, with the prefix in its place if there is one.
func (c *talk) body(prefix string) string {
	members := []string{fmt.Sprintf(`"model":%q`, c.model)}
	if c.dialect == anthropic {
		members = append(members, `"max_tokens":400`)
	}
	if c.asks != "" && c.dialect == anthropic {
		members = append(members, fmt.Sprintf(`"diagnostics":{"previous_message_id":%q}`, c.asks))
	} else if c.asks != "" {
		members = append(members, fmt.Sprintf(`"prompt_cache_options":{"comparison_response_id":%q}`, c.asks))
	}
	if c.key != "" {
		members = append(members, fmt.Sprintf(`"prompt_cache_key":%q`, c.key))
	}
	members = append(members, c.params...)
	if len(c.tools) > 0 {
		members = append(members, `"tools":[`+c.toolList()+`]`)
	}
	return "{" + strings.Join(append(members, c.history(prefix)...), ",") + "}"
}

// history is the system slot and what was said.
func (c *talk) history(prefix string) []string {
	var items []string
	for i, s := range c.system {
		items = append(items, c.systemItem(i, s))
	}
	slot := len(items)
	if prefix != "" {
		items = append(items, c.item("user", quoted(prefix)))
	}
	for i, t := range c.turns {
		items = append(items, c.items(i, t)...)
	}
	switch c.dialect {
	case anthropic:
		messages := `"messages":[` + strings.Join(items[slot:], ",") + "]"
		if slot == 0 {
			return []string{messages}
		}
		return []string{`"system":[` + strings.Join(items[:slot], ",") + "]", messages}
	case chat:
		return []string{`"messages":[` + strings.Join(items, ",") + "]"}
	}
	return []string{`"input":[` + strings.Join(items, ",") + "]"}
}

// quoted is a JSON string as agents write it, with < and & as they are.
func quoted(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (c *talk) toolList() string {
	var out []string
	for _, t := range c.tools {
		schema := `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`
		switch {
		case strings.HasPrefix(t.says, "{"):
			out = append(out, t.says)
		case c.dialect == anthropic:
			out = append(out, fmt.Sprintf(`{"name":%q,"description":%q,"input_schema":%s}`, t.name, t.says, schema))
		case c.dialect == chat:
			out = append(out, fmt.Sprintf(`{"type":"function","function":{"name":%q,"description":%q,"parameters":%s}}`, t.name, t.says, schema))
		default:
			out = append(out, fmt.Sprintf(`{"type":"function","name":%q,"description":%q,"parameters":%s}`, t.name, t.says, schema))
		}
	}
	return strings.Join(out, ",")
}

func (c *talk) systemItem(i int, s string) string {
	switch c.dialect {
	case anthropic:
		return fmt.Sprintf(`{"type":"text","text":%s%s}`, quoted(s), c.mark(i == len(c.system)-1 && !c.unmarked))
	case chat:
		return fmt.Sprintf(`{"role":"system","content":%s}`, quoted(s))
	}
	return fmt.Sprintf(`{"type":"message","role":"developer","content":[{"type":"input_text","text":%s}]}`, quoted(s))
}

// mark is a cache mark of the dialect.
func (c *talk) mark(is bool) string {
	switch {
	case !is:
		return ""
	case c.dialect != anthropic:
		return `,"prompt_cache_breakpoint":{"mode":"explicit"}`
	case c.ttl == "":
		return `,"cache_control":{"type":"ephemeral"}`
	}
	return fmt.Sprintf(`,"cache_control":{"type":"ephemeral","ttl":%q}`, c.ttl)
}

// item is a message with a content.
func (c *talk) item(role, content string) string {
	if c.dialect == responses {
		return fmt.Sprintf(`{"type":"message","role":%q,"content":%s}`, role, content)
	}
	return fmt.Sprintf(`{"role":%q,"content":%s}`, role, content)
}

// items writes a turn. Only in Anthropic's format do calls and results stand
// inside a message.
func (c *talk) items(i int, t turn) []string {
	marked := c.marksAt[i] || c.dialect == anthropic && i == len(c.turns)-1 && !c.unmarked && !c.noTailMark
	var blocks, outside []string
	for n, p := range t.parts {
		mark := c.mark(marked && n == len(t.parts)-1)
		b, inside := c.block(t.role, p, mark)
		if inside {
			blocks = append(blocks, b)
		} else {
			outside = append(outside, b)
		}
	}
	switch {
	case c.dialect == chat && len(outside) > 0 && t.role == "assistant":
		said := "null"
		if len(blocks) > 0 {
			said = quoted(t.parts[0].text)
		}
		return []string{fmt.Sprintf(`{"role":"assistant","content":%s,"tool_calls":[%s]}`, said, strings.Join(outside, ","))}
	case len(blocks) == 0:
		return outside
	case len(blocks) == 1 && !c.list && !marked && t.parts[0].kind == "text" && len(outside) == 0:
		return []string{c.item(t.role, quoted(t.parts[0].text))}
	}
	message := c.item(t.role, "["+strings.Join(blocks, ",")+"]")
	if t.parts[0].kind == "raw" { // reasoning stands before what it led to
		return append(outside, message)
	}
	return append([]string{message}, outside...)
}

// block writes a part, and says whether it stands in a message.
func (c *talk) block(role string, p part, mark string) (string, bool) {
	switch c.dialect {
	case anthropic:
		return c.anthropicBlock(p, mark), true
	case chat:
		return c.chatBlock(p, mark)
	}
	return c.responsesBlock(role, p, mark)
}

func (c *talk) anthropicBlock(p part, mark string) string {
	switch p.kind {
	case "image":
		return fmt.Sprintf(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":%q}%s}`, p.text, mark)
	case "call":
		return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"read_file","input":{"path":"a.go"}%s}`, p.id, mark)
	case "result":
		return fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":%s%s}`, p.id, quoted(p.text), mark)
	case "raw":
		return p.raw
	}
	return fmt.Sprintf(`{"type":"text","text":%s%s}`, quoted(p.text), mark)
}

func (c *talk) chatBlock(p part, mark string) (string, bool) {
	switch p.kind {
	case "image":
		return fmt.Sprintf(`{"type":"image_url","image_url":{"url":"data:image/png;base64,%s"}}`, p.text), true
	case "call":
		return fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a.go\"}"}}`, p.id), false
	case "result":
		return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%s}`, p.id, quoted(p.text)), false
	}
	return fmt.Sprintf(`{"type":"text","text":%s%s}`, quoted(p.text), mark), true
}

func (c *talk) responsesBlock(role string, p part, mark string) (string, bool) {
	switch p.kind {
	case "image":
		return fmt.Sprintf(`{"type":"input_image","image_url":"data:image/png;base64,%s"}`, p.text), true
	case "call":
		return fmt.Sprintf(`{"type":"function_call","call_id":%q,"name":"read_file","arguments":"{\"path\":\"a.go\"}"}`, p.id), false
	case "result":
		return fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%s}`, p.id, quoted(p.text)), false
	case "raw":
		return p.raw, false
	}
	kind := map[string]string{"user": "input_text", "assistant": "output_text"}[role]
	return fmt.Sprintf(`{"type":%q,"text":%s%s}`, kind, quoted(p.text), mark), true
}
