package contrib

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// maxMessages bounds what one contributor appends. Providers look back only
// some twenty blocks for a cached beginning, so few large messages are better.
const maxMessages = 256

// A step is one contributor of a Composer, with all that is checked around it.
type step struct {
	cfg  Config      // immutable, with defaults
	when selector    // immutable
	made Contributor // immutable

	// late counts the calls that were given up and have not returned.
	late atomic.Int32
}

func newStep(cfg Config, made Contributor) *step {
	cfg = cfg.withDefaults()
	return &step{cfg: cfg, when: newSelector(cfg.When), made: made}
}

// run gives what the contributor adds to list, ready for the prefix.
func (st *step) run(ctx context.Context, s Session, list []Message) ([]Message, Contribution, error) {
	con := Contribution{Name: st.cfg.Name, Kind: st.cfg.Kind, Outcome: NoMatch}
	if !st.when.selects(s) {
		return nil, con, nil
	}
	began := time.Now()
	added, err := st.contribute(ctx, s, list)
	con.Took = time.Since(began)
	switch {
	case ctx.Err() != nil:
		return nil, con, &Error{st.cfg.Name, fmt.Errorf("composition interrupted: %w", ctx.Err())}
	case err != nil && st.cfg.OnError == Skip:
		con.Outcome = Skipped + ": " + err.Error()
		return nil, con, nil
	case err != nil:
		return nil, con, &Error{st.cfg.Name, err}
	}
	con.describe(added)
	return added, con, nil
}

func (con *Contribution) describe(added []Message) {
	con.Outcome = Empty
	if len(added) == 0 {
		return
	}
	con.Outcome = OK
	con.Messages = len(added)
	con.SHA256 = digest(added)
	for _, m := range added {
		con.Bytes += len(m.Text)
	}
}

// contribute calls the contributor on copies and checks what it returned.
func (st *step) contribute(ctx context.Context, s Session, list []Message) ([]Message, error) {
	s.Headers = st.cfg.told(s.Headers)
	got, err := st.call(ctx, s, slices.Clone(list))
	if err != nil {
		return nil, err
	}
	if len(got) < len(list) || !slices.Equal(got[:len(list)], list) {
		return nil, errors.New("changed earlier messages: a contributor may only append")
	}
	return st.extension(got[len(list):])
}

// extension returns the messages that a contributor appended as they go into
// the prefix, in memory of their own.
func (st *step) extension(appended []Message) ([]Message, error) {
	if len(appended) > maxMessages {
		return nil, fmt.Errorf("gave %d messages: want at most %d", len(appended), maxMessages)
	}
	var added []Message
	size := 0
	for i, m := range appended {
		if size += len(m.Text); size > st.cfg.MaxBytes {
			return nil, tooLong(st.cfg.MaxBytes)
		}
		// Providers refuse blank text, so it counts as none.
		if strings.TrimSpace(m.Text) == "" {
			continue
		}
		m, err := st.cfg.dress(m)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		added = append(added, m)
	}
	return added, nil
}

// dress gives m its role and envelope, or says why it cannot be sent.
func (c Config) dress(m Message) (Message, error) {
	if m.Role == "" {
		m.Role = c.Role
	}
	if !knownRole(m.Role) {
		return Message{}, badRole(m.Role)
	}
	if err := checkText(m.Text); err != nil {
		return Message{}, err
	}
	if c.Envelope == "" {
		return m, nil
	}
	if closesTag(m.Text, c.Envelope) {
		return Message{}, fmt.Errorf("text holds </%s> and would end its own envelope", c.Envelope)
	}
	m.Text = "<" + c.Envelope + ">\n" + m.Text + "\n</" + c.Envelope + ">"
	return m, nil
}

// checkText refuses what JSON strings or providers do not take.
func checkText(text string) error {
	if !utf8.ValidString(text) {
		return errors.New("text is not valid UTF-8")
	}
	if strings.IndexByte(text, 0) >= 0 {
		return errors.New("text holds a NUL character, which providers refuse")
	}
	return nil
}

// closesTag reports whether text holds the closing tag, in any spelling that a
// lenient reader could take for it.
func closesTag(text, tag string) bool {
	const space = " \t\r\n"
	for {
		_, after, found := strings.Cut(text, "</")
		if !found {
			return false
		}
		text = after
		name := strings.TrimLeft(after, space)
		if len(name) < len(tag) || !strings.EqualFold(name[:len(tag)], tag) {
			continue
		}
		if strings.HasPrefix(strings.TrimLeft(name[len(tag):], space), ">") {
			return true
		}
	}
}

func tooLong(maxBytes int) error {
	return fmt.Errorf("gave more text than max_bytes=%d", maxBytes)
}
