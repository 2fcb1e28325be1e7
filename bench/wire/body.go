package wire

import (
	"strconv"
	"strings"
)

// A writer writes the bodies of one session's requests. What the next one repeats
// is not written again.
type writer struct {
	format *format
	texts  *texts
	asked  asked
	model  string
	number int // of the session

	head    []byte
	headID  int
	history []byte // without the last message, a comma behind each
	ends    []int  // of the messages in it
	ids     []int
	body    []byte
}

// toolBytes is what a tool has beside its description.
func (f *format) toolBytes() int64 {
	return int64(len(f.toolOpen) - strings.IndexByte(f.toolOpen, '{') + len(f.toolEnd) - 1)
}

// leastTool is the shortest tool, in tokens.
func (f *format) leastTool() int64 { return headerTokens + f.toolBytes()/tokenBytes + 2 }

// write returns the body of what a dialogue sends, until the next call.
func (w *writer) write(d *dialogue) []byte {
	if w.headID != d.head.id || w.head == nil {
		w.writeHead(d)
	}
	last := d.history[len(d.history)-1]
	w.writeHistory(d.history[:len(d.history)-1])
	w.body = append(append(w.body[:0], w.head...), w.history...)
	w.body = append(w.body, w.format.lastOpen...)
	w.body = w.text(w.body, last.id, textOf(last.tokens))
	w.body = append(append(w.body, w.marked(w.format.lastEnd)...), "]}"...)
	return w.body
}

func (w *writer) marked(s string) string { return strings.Replace(s, "MARK", w.asked.mark, 1) }

// text writes one that no other block of the session, and hardly one of another
// session, begins like.
func (w *writer) text(to []byte, id int, bytes int64) []byte {
	return w.texts.write(to, w.number*4099+id, bytes)
}

func (w *writer) writeHead(d *dialogue) {
	f, h := w.format, d.head
	w.headID, w.history, w.ends, w.ids = h.id, w.history[:0], w.ends[:0], w.ids[:0]
	b := append(w.head[:0], `{"model":`+strconv.Quote(w.model)+f.open+w.asked.extra...)
	if h.tools > 0 {
		b = append(b, f.toolOpen...)
		b = append(w.text(b, h.id, textOf(h.tools)-f.toolBytes()), f.toolEnd...)
	}
	system := func() {
		if h.system > 0 {
			b = append(b, f.systemOpen...)
			b = append(w.text(b, h.id, textOf(h.system)), w.marked(f.systemEnd)...)
		}
	}
	if !f.systemMessage {
		system()
	}
	b = append(b, f.historyOpen...)
	if f.systemMessage {
		system()
	}
	w.head = b
}

// writeHistory makes w.history that of some messages.
func (w *writer) writeHistory(messages []message) {
	same := 0
	for same < len(messages) && same < len(w.ids) && w.ids[same] == messages[same].id {
		same++
	}
	w.ids, w.ends = w.ids[:same], w.ends[:same]
	from := 0
	if same > 0 {
		from = w.ends[same-1]
	}
	w.history = w.history[:from]
	for _, m := range messages[same:] {
		role := "user"
		if m.agent {
			role = "assistant"
		}
		w.history = append(w.history, `{"role":"`+role+`","content":"`...)
		w.history = append(w.text(w.history, m.id, textOf(m.tokens)), `"},`...)
		w.ids, w.ends = append(w.ids, m.id), append(w.ends, len(w.history))
	}
}
