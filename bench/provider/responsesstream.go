package provider

// A responseEvent is any event of a Responses stream.
type responseEvent struct {
	Type         string          `json:"type"`
	Sequence     int             `json:"sequence_number"`
	Response     *responseObject `json:"response,omitempty"`
	ItemID       string          `json:"item_id,omitempty"`
	OutputIndex  *int            `json:"output_index,omitempty"`
	ContentIndex *int            `json:"content_index,omitempty"`
	Item         *outputItem     `json:"item,omitempty"`
	Part         *outputPart     `json:"part,omitempty"`
	Delta        string          `json:"delta,omitempty"`
	Text         *string         `json:"text,omitempty"`
	Arguments    *string         `json:"arguments,omitempty"`
	Input        *string         `json:"input,omitempty"`
	LogProbs     *[]any          `json:"logprobs,omitempty"`
}

// responsesFormat is that of errors: an error event, and nothing after it.
var responsesFormat = openaiFormat(sse("error", struct {
	Type     string  `json:"type"`
	Code     string  `json:"code"`
	Message  string  `json:"message"`
	Param    *string `json:"param"`
	Sequence int     `json:"sequence_number"`
}{Type: "error", Code: "server_error", Message: "The server had an error while processing your request."}))

// A responseStream collects events and numbers them.
type responseStream struct {
	events []event
	one    bool // each text is one delta
}

func (s *responseStream) add(e responseEvent) {
	e.Sequence = len(s.events)
	s.events = append(s.events, event{data: sse(e.Type, e)})
}

// events is the answer as a stream.
func (o responseObject) events(one bool) []event {
	s := &responseStream{one: one}
	begun := o
	begun.Status, begun.Output, begun.Usage, begun.Incomplete = "in_progress", []outputItem{}, nil, nil
	begun.Diagnostics = nil
	s.add(responseEvent{Type: "response.created", Response: &begun})
	s.add(responseEvent{Type: "response.in_progress", Response: &begun})
	for i := range o.Output {
		s.item(i, o.Output[i])
	}
	s.add(responseEvent{Type: "response." + o.Status, Response: &o})
	s.events[len(s.events)-1].terminal = true
	return s.events
}

func (s *responseStream) item(i int, item outputItem) {
	begun := item
	if begun.Status != "" {
		begun.Status = "in_progress"
	}
	empty := ""
	switch item.Type {
	case "message":
		begun.Content = &[]outputPart{}
	case "function_call":
		begun.Arguments = &empty
	case "custom_tool_call":
		begun.Input = &empty
	}
	s.add(responseEvent{Type: "response.output_item.added", OutputIndex: &i, Item: &begun})
	switch item.Type {
	case "message":
		s.parts(i, item)
	case "function_call":
		s.deltas("response.function_call_arguments.delta", i, item.ID, *item.Arguments)
		s.add(responseEvent{Type: "response.function_call_arguments.done", ItemID: item.ID, OutputIndex: &i, Arguments: item.Arguments})
	case "custom_tool_call":
		s.deltas("response.custom_tool_call_input.delta", i, item.ID, *item.Input)
		s.add(responseEvent{Type: "response.custom_tool_call_input.done", ItemID: item.ID, OutputIndex: &i, Input: item.Input})
	}
	s.add(responseEvent{Type: "response.output_item.done", OutputIndex: &i, Item: &item})
}

func (s *responseStream) deltas(name string, i int, id, text string) {
	for _, piece := range pieces(text, s.one) {
		s.add(responseEvent{Type: name, ItemID: id, OutputIndex: &i, Delta: piece})
	}
}

func (s *responseStream) parts(i int, item outputItem) {
	for j, part := range *item.Content {
		empty := outputPart{part.Type, "", []any{}}
		s.add(responseEvent{Type: "response.content_part.added", ItemID: item.ID, OutputIndex: &i, ContentIndex: &j, Part: &empty})
		for _, piece := range pieces(part.Text, s.one) {
			s.add(responseEvent{Type: "response.output_text.delta", ItemID: item.ID, OutputIndex: &i, ContentIndex: &j, Delta: piece, LogProbs: &[]any{}})
		}
		s.add(responseEvent{Type: "response.output_text.done", ItemID: item.ID, OutputIndex: &i, ContentIndex: &j, Text: &part.Text, LogProbs: &[]any{}})
		s.add(responseEvent{Type: "response.content_part.done", ItemID: item.ID, OutputIndex: &i, ContentIndex: &j, Part: &part})
	}
}
