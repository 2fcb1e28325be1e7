package agent

import (
	"encoding/json"
	"fmt"
)

func (c *chat) reader() reader { return &chatReader{} }

// A chatReader puts a Chat Completions stream together.
type chatReader struct{ message chatMessage }

type chatChunk struct {
	Error   json.RawMessage `json:"error"`
	Choices []struct {
		Delta struct {
			Content string `json:"content"`
			Calls   []struct {
				Index    int          `json:"index"`
				ID       string       `json:"id"`
				Function chatFunction `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
	} `json:"choices"`
}

func (r *chatReader) event(_ string, data []byte) (last bool, err error) {
	if string(data) == "[DONE]" {
		return true, nil
	}
	var k chatChunk
	if err := json.Unmarshal(data, &k); err != nil {
		return false, fmt.Errorf("cannot read a chunk: %w", err)
	}
	if len(k.Error) > 0 {
		return false, &EventError{string(data)}
	}
	for _, choice := range k.Choices {
		r.message.Content += choice.Delta.Content
		for _, d := range choice.Delta.Calls {
			if d.Index == len(r.message.Calls) {
				r.message.Calls = append(r.message.Calls, chatCall{ID: d.ID, Type: "function"})
			}
			if d.Index < 0 || d.Index >= len(r.message.Calls) {
				return false, fmt.Errorf("a chunk is of tool call %d of %d", d.Index, len(r.message.Calls))
			}
			f := &r.message.Calls[d.Index].Function
			f.Name += d.Function.Name
			f.Arguments += d.Function.Arguments
		}
	}
	return false, nil
}

func (r *chatReader) answer() answer {
	r.message.Role = "assistant"
	a := answer{parts: []json.RawMessage{encode(r.message)}}
	for _, c := range r.message.Calls {
		a.calls = append(a.calls, toolCall{id: c.ID})
	}
	return a
}
