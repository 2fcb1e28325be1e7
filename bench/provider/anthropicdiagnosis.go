package provider

import (
	"crypto/sha256"
	"slices"
	"strings"
)

// diagnosisBeta switches on cache diagnosis (facts/providers.md 1.8).
const diagnosisBeta = "cache-diagnosis-2026-04-07"

// The types of a missReason.
const (
	messagesModelChanged  = "model_changed"
	messagesToolsChanged  = "tools_changed"
	messagesSystemChanged = "system_changed"
	messagesChanged       = "messages_changed"
	messagesNotFound      = "previous_message_not_found"
	messagesUnavailable   = "unavailable"
)

// A messagesDiagnosis is there where two requests differ.
type messagesDiagnosis struct {
	Reason missReason `json:"cache_miss_reason"`
}

type missReason struct {
	Type string `json:"type"`
	// Missed is how much of the prompt lies behind the difference; only the
	// reasons that are changes have it.
	Missed *int64 `json:"cache_missed_input_tokens,omitempty"`
}

// A messagesPrint is what later requests are compared with. It is about how the
// request is built: whether the cache hit does not matter to it.
type messagesPrint struct {
	model    string
	settings digest   // of the parameters and betas that shape the prompt
	sections [2]int   // how many blocks the tools have, and tools and system together
	sums     []uint64 // of the prompt after each block, settings left out
}

// checkDiagnostics checks the member that asks for a diagnosis.
func (m *messagesRequest) checkDiagnostics() *apiError {
	v, there := m.body["diagnostics"]
	if !there {
		return nil
	}
	if !m.beta(diagnosisBeta) {
		return refuse("diagnostics: Extra inputs are not permitted")
	}
	o := asObject(v)
	if v != nil && o == nil {
		return refuse("diagnostics: Input should be an object")
	}
	if _, text := o["previous_message_id"].(string); o.has("previous_message_id") && !text {
		return refuse("diagnostics.previous_message_id: Input should be a valid string")
	}
	return nil
}

// print returns what is kept of the request, and the points after its blocks.
func (m *messagesRequest) print() (messagesPrint, []point) {
	p := messagesPrint{model: m.name, settings: m.shaping()}
	blocks := make([]block, 0, len(m.placed))
	for _, b := range m.placed {
		blocks = append(blocks, b.content())
		for section := b.rank(); section < len(p.sections); section++ {
			p.sections[section]++
		}
	}
	ends, _, _ := measure(blocks, 0)
	p.sums = brief(ends)
	return p, ends
}

// shaping digests what changes the prompt beside tools, system and messages.
func (m *messagesRequest) shaping() digest {
	b := m.body
	s := object{
		"context_management": b["context_management"], "output_format": b["output_format"],
		"thinking": b.obj("thinking").without("block_binding"), "output_config": m.outputConfig(),
		"tool_choice": m.toolChoice(), "speed": m.speed(), "betas": strings.Join(m.betas(), ","),
	}
	return sha256.Sum256(canonical(s.without()))
}

// compare compares the request with the one whose answer it names, and returns
// what is to be kept of it. The result is nil if there is nothing to compare, or
// no difference.
func (p *Provider) compare(m *messagesRequest) (*messagesDiagnosis, messagesPrint) {
	now, ends := m.print()
	previous := m.body.obj("diagnostics").str("previous_message_id")
	if previous == "" {
		return nil, now
	}
	before, ok := p.messagePrints.get(m.tenant, previous)
	if !ok {
		return &messagesDiagnosis{missReason{Type: messagesNotFound}}, now
	}
	return now.since(before, ends), now
}

// since says how a request differs from one before it: the earliest difference.
func (now *messagesPrint) since(before messagesPrint, ends []point) *messagesDiagnosis {
	same := 0
	for same < min(len(now.sums), len(before.sums)) && now.sums[same] == before.sums[same] {
		same++
	}
	kind := messagesChanged
	switch {
	case now.model != before.model:
		kind, same = messagesModelChanged, 0
	case same < max(now.sections[0], before.sections[0]):
		kind = messagesToolsChanged
	case same < max(now.sections[1], before.sections[1]):
		kind = messagesSystemChanged
	case now.settings != before.settings:
		return &messagesDiagnosis{missReason{Type: messagesUnavailable}}
	case same == len(before.sums):
		return nil // what was there is all there, and more
	}
	missed := tokensAt(ends, len(ends)-1) - tokensAt(ends, same-1)
	return &messagesDiagnosis{missReason{kind, &missed}}
}

// betas are the betas that are switched on, sorted.
func (m *messagesRequest) betas() []string {
	var out []string
	for _, line := range m.header.Values("anthropic-beta") {
		for b := range strings.SplitSeq(line, ",") {
			out = append(out, strings.TrimSpace(b))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (m *messagesRequest) beta(name string) bool { return slices.Contains(m.betas(), name) }
