package agent

import (
	"encoding/json"
	"fmt"
	"slices"
)

func (c *codex) reader() reader { return &codexReader{} }

// A codexReader collects the finished items of a Responses stream.
type codexReader struct{ got answer }

type codexEvent struct {
	Item json.RawMessage `json:"item"`
}

type codexOutput struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
}

func (r *codexReader) event(name string, data []byte) (last bool, err error) {
	switch name {
	case "response.completed", "response.incomplete":
		return true, nil
	case "error", "response.failed":
		return false, &EventError{string(data)}
	case "response.output_item.done":
		return false, r.item(data)
	}
	return false, nil
}

func (r *codexReader) item(data []byte) error {
	var e codexEvent
	var out codexOutput
	err := json.Unmarshal(data, &e)
	if err == nil {
		err = json.Unmarshal(e.Item, &out)
	}
	if err != nil {
		return fmt.Errorf("cannot read an item of the answer: %w", err)
	}
	a := &r.got
	a.parts = append(a.parts, slices.Clone(e.Item))
	if custom := out.Type == "custom_tool_call"; custom || out.Type == "function_call" {
		a.calls = append(a.calls, toolCall{id: out.CallID, custom: custom})
	}
	return nil
}

func (r *codexReader) answer() answer { return r.got }
