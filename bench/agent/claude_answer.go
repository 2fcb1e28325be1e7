package agent

import (
	"encoding/json"
	"fmt"
)

func (c *claude) reader() reader { return &claudeReader{} }

// A claudeReader puts a Messages stream together. Blocks go back as they came:
// thinking with its signature, tool calls with the bytes of their input.
type claudeReader struct {
	blocks []*claudePart
}

type claudePart struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
}

type claudeEvent struct {
	Index int         `json:"index"`
	Block *claudePart `json:"content_block"`
	Delta struct {
		Type      string `json:"type"`
		Text      string `json:"text"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
		Part      string `json:"partial_json"`
	} `json:"delta"`
}

func (r *claudeReader) event(name string, data []byte) (last bool, err error) {
	switch name {
	case "message_stop":
		return true, nil
	case "error":
		return false, &EventError{string(data)}
	case "content_block_start", "content_block_delta":
	default:
		return false, nil
	}
	var e claudeEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return false, fmt.Errorf("cannot read event %s: %w", name, err)
	}
	if e.Block != nil {
		if e.Block.Type == "tool_use" {
			e.Block.Input = nil // what comes is the whole
		}
		r.blocks = append(r.blocks, e.Block)
		return false, nil
	}
	if e.Index < 0 || e.Index >= len(r.blocks) {
		return false, fmt.Errorf("event %s is of block %d of %d", name, e.Index, len(r.blocks))
	}
	r.blocks[e.Index].add(&e)
	return false, nil
}

func (p *claudePart) add(e *claudeEvent) {
	p.Text += e.Delta.Text
	if p.Thinking != nil {
		*p.Thinking += e.Delta.Thinking
	}
	p.Signature += e.Delta.Signature
	p.Input = append(p.Input, e.Delta.Part...)
}

func (r *claudeReader) answer() answer {
	var a answer
	for _, b := range r.blocks {
		if b.Type == "tool_use" {
			a.calls = append(a.calls, toolCall{id: b.ID})
		}
		a.parts = append(a.parts, encode(b))
	}
	return a
}
