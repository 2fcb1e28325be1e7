package contrib

import (
	"context"
	"fmt"
)

func init() { Register("text", newText) }

// A text contributor gives one text, the same to every session.
type text string

func newText(c Config) (Contributor, error) {
	if err := c.allow("text"); err != nil {
		return nil, err
	}
	if len(c.Text) > c.MaxBytes {
		return nil, fmt.Errorf("cannot use text of %d bytes: max_bytes=%d", len(c.Text), c.MaxBytes)
	}
	if _, err := c.dress(Message{Text: c.Text}); err != nil {
		return nil, fmt.Errorf("cannot use text: %w", err)
	}
	return text(c.Text), nil
}

func (t text) Contribute(_ context.Context, _ Session, list []Message) ([]Message, error) {
	return append(list, Message{Text: string(t)}), nil
}
