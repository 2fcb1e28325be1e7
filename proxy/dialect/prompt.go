package dialect

import (
	"bytes"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
	"github.com/seed-9236c7ca/preface/proxy/internal/lineage"
)

// reminderTags are the tags in which clients wrap what they tell the model
// beside the user's words. Such a block may move, vanish or carry the date, so
// it is no part of the prompt (facts/clients.md 2, 3).
var reminderTags = []string{
	"system-reminder",     // Claude Code, Qwen Code
	"system_reminder",     // Crush
	"session_context",     // Gemini CLI
	"environment_context", // Codex
	"user_instructions",   // Codex, older
	"current_datetime",    // Copilot CLI
	"environment_details", // Cline
}

// promptOf returns the lineage of a user message that has anything but
// reminders: a text's remainder, or a block that is no text, such as an image.
// Tool results are no prompt.
//
// Reminders are taken off the front of each text block, or of the string. A
// remainder is hashed as it is written, without leading white space, so that it
// is the same whether it stands alone or behind a reminder.
func (d *digester) promptOf(m jsonspan.Value) (lineage.Point, bool) {
	saw := d.seen // its blocks have been looked at
	defer func() {
		saw.places = d.seen.places[:len(saw.places)] // with the room that they have now
		d.seen = saw
	}()
	return d.prompt(m.Get("content"))
}

// anyPrompt stands for the prompt of a history in which no user message has
// one: the first user message, or zero.
func (d *digester) anyPrompt(first jsonspan.Value) lineage.Point {
	for m := first; m.Exists(); m = m.Next() {
		if m.Get("role").Is("user") {
			return d.message(m)
		}
	}
	return lineage.Point{}
}

// prompt digests what the user said, and reports whether it is anything.
func (d *digester) prompt(content jsonspan.Value) (lineage.Point, bool) {
	d.feed = d.feed[:0]
	if content.Kind() == jsonspan.String {
		d.promptText(content)
	}
	for b := content.First(); b.Exists(); b = b.Next() {
		switch text, _ := plainText(b); {
		case text.Exists():
			d.promptText(text)
		case !b.Get("type").Is("tool_result"):
			d.block(b, 0)
		}
	}
	if len(d.feed) == 0 {
		return lineage.Point{}, false
	}
	return lineage.Of(d.feed), true
}

// promptText feeds the string without its reminders, unless nothing is left.
func (d *digester) promptText(s jsonspan.Value) {
	if rest := afterReminders(inner(s)); len(rest) > 0 {
		d.frame('t', rest)
	}
}

// afterReminders returns raw, the inside of a JSON string, without the
// reminders at its front and the white space around them. A reminder that is
// never closed is text.
func afterReminders(raw []byte) []byte {
	raw = trimSpace(raw)
	for {
		rest, ok := afterReminder(raw)
		if !ok {
			return raw
		}
		raw = trimSpace(rest)
	}
}

func afterReminder(raw []byte) (rest []byte, ok bool) {
	inner, ok := cutAny(raw, "<", `\u003c`, `\u003C`)
	if !ok {
		return nil, false
	}
	for _, tag := range reminderTags {
		if attrs, ok := cutAny(inner, tag); ok && !startsName(attrs) {
			return afterClosing(attrs, tag)
		}
	}
	return nil, false
}

// afterClosing returns what follows the first closing tag in raw, which some
// clients write with escapes.
func afterClosing(raw []byte, tag string) (rest []byte, ok bool) {
	for {
		i := bytes.IndexByte(raw, '/')
		if i < 0 {
			return nil, false
		}
		before := bytes.TrimSuffix(raw[:i], []byte(`\`))
		raw = raw[i+1:]
		if !endsAny(before, "<", `\u003c`, `\u003C`) {
			continue
		}
		if end, ok := cutAny(raw, tag); ok {
			if rest, ok := cutAny(end, ">", `\u003e`, `\u003E`); ok {
				return rest, true
			}
		}
	}
}

// trimSpace cuts white space, most of it escaped, off the front of raw.
func trimSpace(raw []byte) []byte {
	for {
		rest, ok := cutAny(raw, " ", `\n`, `\t`, `\r`)
		if !ok {
			return raw
		}
		raw = rest
	}
}

func cutAny(b []byte, prefixes ...string) (rest []byte, ok bool) {
	for _, p := range prefixes {
		if len(b) >= len(p) && string(b[:len(p)]) == p {
			return b[len(p):], true
		}
	}
	return b, false
}

func endsAny(b []byte, suffixes ...string) bool {
	for _, s := range suffixes {
		if len(b) >= len(s) && string(b[len(b)-len(s):]) == s {
			return true
		}
	}
	return false
}

// startsName reports whether b goes on with a character of a tag's name, so
// that the name before it is only the beginning of another.
func startsName(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	c := b[0]
	return c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
