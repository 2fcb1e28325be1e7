package provider

import "encoding/json"

// A messagesEvent is any event of a Messages stream.
type messagesEvent struct {
	Type    string         `json:"type"`
	Index   *int           `json:"index,omitempty"`
	Message *messageObject `json:"message,omitempty"`
	Block   any            `json:"content_block,omitempty"`
	Delta   any            `json:"delta,omitempty"`
	Usage   *messagesUsage `json:"usage,omitempty"`
}

type textDelta struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type thinkingDelta struct {
	Type     string `json:"type"`
	Thinking string `json:"thinking"`
}

type signatureDelta struct {
	Type      string `json:"type"`
	Signature string `json:"signature"`
}

type inputDelta struct {
	Type string `json:"type"`
	Part string `json:"partial_json"`
}

type messageDelta struct {
	StopReason   *string `json:"stop_reason"`
	StopSequence *string `json:"stop_sequence"`
}

func rawJSON(b []byte) json.RawMessage { return b }

// events is the answer as a stream. With one set each text is one delta.
func (o messageObject) events(one bool) []event {
	start := o
	start.Content, start.StopReason = []any{}, nil
	start.Usage.Output = 1 // as the real one: a first estimate, corrected at the end
	out := []event{messagesEvent{Type: "message_start", Message: &start}.event(), {data: anthropicFormat.ping}}
	for i, b := range o.Content {
		empty, deltas := opened(b, one)
		out = append(out, messagesEvent{Type: "content_block_start", Index: &i, Block: empty}.event())
		for _, d := range deltas {
			out = append(out, messagesEvent{Type: "content_block_delta", Index: &i, Delta: d}.event())
		}
		out = append(out, messagesEvent{Type: "content_block_stop", Index: &i}.event())
	}
	stop := messagesEvent{Type: "message_stop"}.event()
	stop.terminal = true
	return append(out, messagesEvent{Type: "message_delta", Delta: messageDelta{StopReason: o.StopReason}, Usage: &o.Usage}.event(), stop)
}

func (e messagesEvent) event() event { return event{data: sse(e.Type, e)} }

// opened returns a block as it is announced, and the deltas that fill it.
func opened(b any, one bool) (empty any, deltas []any) {
	switch b := b.(type) {
	case textBlock:
		for _, s := range pieces(b.Text, one) {
			deltas = append(deltas, textDelta{"text_delta", s})
		}
		b.Text = ""
		return b, deltas
	case thinkingBlock:
		for _, s := range pieces(b.Thinking, one) {
			deltas = append(deltas, thinkingDelta{"thinking_delta", s})
		}
		deltas = append(deltas, signatureDelta{"signature_delta", b.Signature})
		b.Thinking, b.Signature = "", ""
		return b, deltas
	case toolUseBlock:
		for _, s := range pieces(string(mustJSON(b.Input)), one) {
			deltas = append(deltas, inputDelta{"input_json_delta", s})
		}
		b.Input = struct{}{}
		return b, deltas
	}
	panic("BUG: unknown kind of block in an answer")
}
