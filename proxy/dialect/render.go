package dialect

import (
	"errors"
	"fmt"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// A template writes one message as JSON. Everything but role and text is
// constant, so a rendering depends on nothing but the messages.
type template func(dst []byte, role, text string) []byte

// render writes the messages, joined with commas.
func render(name string, msgs []Message, write template, role func(string) string) Rendering {
	var b []byte
	for i, m := range msgs {
		if i > 0 {
			b = append(b, ',')
		}
		b = write(b, role(m.Role), m.Text)
	}
	return Rendering{name, b}
}

// openerAs gives a message of the system slot the role own, and leaves others.
func openerAs(role, own string) string {
	if role == "system" || role == "developer" {
		return own
	}
	return role
}

// check refuses messages that no dialect could render: an empty list, since an
// empty prefix is the decision not to inject; an unknown role; an empty text,
// which providers refuse.
func check(msgs []Message) error {
	if len(msgs) == 0 {
		return errors.New("cannot render an empty list of messages")
	}
	for i, m := range msgs {
		switch m.Role {
		case "user", "assistant", "system", "developer":
		default:
			return fmt.Errorf("cannot render message %d: unknown role %q: want user, assistant, system or developer", i, m.Role)
		}
		if m.Text == "" {
			return fmt.Errorf("cannot render message %d: it has no text", i)
		}
	}
	return nil
}

// appendMember appends "name": and the quoted text.
func appendMember(dst []byte, name, text string) []byte {
	dst = append(append(append(dst, '"'), name...), '"', ':')
	return jsonspan.AppendQuoted(dst, text)
}
