package provider

import (
	"slices"
	"time"

	"github.com/seed-9236c7ca/preface/bench/cache"
)

// content renders a placed block as the model reads it, without its marks.
func (p placed) content() block {
	kind := p.section + "/" + p.block.str("type")
	if p.directive {
		return block{kind: p.section + "/directive", text: canonical(p.block), silent: true}
	}
	bare := p.block.without("cache_control")
	switch p.block.str("type") {
	case "text":
		if len(bare) == 2 {
			return block{kind: kind, text: []byte(bare.str("text"))}
		}
	case "image":
		return imageBlock(kind, bare["source"])
	case "tool_result":
		bare["content"] = resultContent(p.block)
	}
	return block{kind: kind, text: canonical(bare)}
}

// resultContent is a tool_result's content as blocks without marks.
func resultContent(b object) []object {
	blocks, _ := contentBlocks(b["content"])
	out := make([]object, 0, len(blocks))
	for _, c := range blocks {
		out = append(out, c.without("cache_control"))
	}
	return out
}

// render returns the prompt: what the model sees, with the settings where they
// join the cache key (facts/providers.md 1.4), and the marks by the index of
// the block that they stand on, silent ones not counted.
func (m *messagesRequest) render() (blocks []block, marks []cache.Mark) {
	seen := m.read()
	settings := m.settings()
	lifetimes := map[int]time.Duration{}
	for _, k := range m.marksIn(seen) {
		lifetimes[k.At] = k.Lifetime
	}
	section, position := 0, 0
	for i, p := range seen {
		for ; section < p.rank(); section++ {
			blocks = append(blocks, settings[section])
		}
		b := p.content()
		blocks = append(blocks, b)
		if lifetime, ok := lifetimes[i]; ok {
			marks = append(marks, cache.Mark{At: position, Lifetime: lifetime})
		}
		if !b.silent {
			position++
		}
	}
	return blocks, marks
}

// rank orders the sections: tools, system, messages.
func (p placed) rank() int {
	switch {
	case p.message >= 0:
		return 2
	case p.section == "system":
		return 1
	}
	return 0
}

// read returns the blocks in the prompt: those after a compaction, and on older
// models without the thinking of earlier turns.
func (m *messagesRequest) read() []placed {
	seen := m.seen()
	if !m.claude.dropsThinking() {
		return seen
	}
	said := 0
	for i, p := range seen {
		if p.message >= 0 && p.section == "user" && p.block.str("type") != "tool_result" {
			said = i
		}
	}
	var out []placed
	for i, p := range seen {
		if i > said || !isThinking(p.block) {
			out = append(out, p)
		}
	}
	return out
}

// settings returns the parameters that the cache key covers from the system
// slot on, and those that it covers from the messages on.
func (m *messagesRequest) settings() [2]block {
	system := object{"speed": m.speed(), "citations": slices.ContainsFunc(m.placed, cites)}
	messages := object{
		"tool_choice": m.toolChoice(),
		"thinking":    m.body.obj("thinking").without("block_binding"),
		"effort":      m.outputConfig()["effort"],
		"images":      slices.ContainsFunc(m.placed, hasImage),
	}
	return [2]block{
		{kind: "settings/system", text: canonical(system.without()), silent: true},
		{kind: "settings/messages", text: canonical(messages.without()), silent: true},
	}
}

// speed, toolChoice and outputConfig are parameters without what is the default
// anyway: saying so changes nothing.
func (m *messagesRequest) speed() any { return unless(m.body["speed"], "standard") }

func (m *messagesRequest) toolChoice() any {
	choice := m.body.obj("tool_choice")
	if len(choice) == 1 && choice.str("type") == "auto" {
		return nil
	}
	return m.body["tool_choice"]
}

func (m *messagesRequest) outputConfig() object {
	c := m.body.obj("output_config").without()
	if c.str("effort") == "high" {
		delete(c, "effort")
	}
	if len(c) == 0 {
		return nil
	}
	return c
}

// unless is a parameter, or nil if it is set to its default.
func unless(v any, usual string) any {
	if v == usual {
		return nil
	}
	return v
}

func cites(p placed) bool { return p.block.obj("citations").flag("enabled") }

func hasImage(p placed) bool {
	return p.block.str("type") == "image" || slices.ContainsFunc(childrenOf(p.block), func(c object) bool { return c.str("type") == "image" })
}
