package contrib

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// parseAnswer reads the answer of a service: {"messages":[…]} or the bare list,
// each message an object with a text and, if it wants, a role. Members it does
// not know are its own business; a list that is null is empty; half a surrogate
// pair becomes U+FFFD. Its errors quote nothing of the answer. The messages
// share no memory with b.
func parseAnswer(b []byte) ([]Message, error) {
	if !utf8.Valid(b) {
		return nil, errors.New("it is not valid UTF-8")
	}
	list := b
	if first := bytes.TrimLeft(b, " \t\r\n"); len(first) > 0 && first[0] == '{' {
		var o struct {
			Messages json.RawMessage `json:"messages"`
		}
		if err := json.Unmarshal(b, &o); err != nil {
			return nil, notJSON(err)
		}
		if o.Messages == nil {
			return nil, errors.New(`it has no "messages"`)
		}
		list = o.Messages
	}
	return parseMessages(list)
}

func parseMessages(list []byte) ([]Message, error) {
	var told []struct {
		Role string  `json:"role"`
		Text *string `json:"text"`
	}
	if err := json.Unmarshal(list, &told); err != nil {
		return nil, notJSON(err)
	}
	given := make([]Message, 0, len(told))
	for i, m := range told {
		if m.Text == nil {
			return nil, fmt.Errorf(`message %d has no "text"`, i)
		}
		given = append(given, Message{Role: m.Role, Text: *m.Text})
	}
	return given, nil
}

// notJSON says where an answer is wrong, without the words of encoding/json,
// which quote from it.
func notJSON(err error) error {
	var s *json.SyntaxError
	if errors.As(err, &s) {
		return fmt.Errorf("it is no JSON: wrong at byte %d", s.Offset)
	}
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) {
		return fmt.Errorf("it is no list of messages: unexpected %s", t.Value)
	}
	return errors.New("it is no list of messages")
}
