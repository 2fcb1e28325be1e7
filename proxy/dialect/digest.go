package dialect

import (
	"encoding/binary"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
	"github.com/seed-9236c7ca/preface/proxy/internal/lineage"
)

// A digester makes the content digest of a message: what the message means, as
// far as clients keep that constant between turns. It hashes a feed of frames,
// where a frame is a tag byte and the digest of some raw bytes of the document,
// and H is XXH3-128:
//
//	message  = members
//	members  = for each member in document order:
//	             nothing                         a cache mark, whatever its value
//	             nothing                         what plain ignores, in a message
//	             nothing                         content or output that is null
//	             'r' H(role as written)          role, in a message
//	             'c' content                     content or output that is a string or an array
//	             'm' H("name":value as written)  any other
//	content  = a string:  't' H(string as written)
//	           an array:  for each element:
//	             't' H(text as written)          an object of a type and a text, no more
//	             '{' members '}'                 any other object
//	             'v' H(value as written)         anything else
//
// So neither a cache mark, nor the commas beside it, nor whether a text stands
// as a string or as one block changes a digest. The order of members, white space
// inside a member and the way a character is escaped do: clients keep those.
// Content inside content (a tool result) is treated alike down to levels; what
// lies deeper, e.g. a tool's input, is hashed as written, marks and all.
//
// A change of this feed makes every thread in the log unrecognisable, so the
// golden files pin it.
type digester struct {
	origin lineage.Point // where histories of the API family begin
	body   []byte
	levels int // how often content may nest in content
	// plain reports a member of a message that means nothing; it may be nil.
	plain func(message, member jsonspan.Value, name memberName) bool

	feed    []byte
	seen    seen
	outline bool // facts of messages and places of marks are wanted
}

// digester returns one for a body whose content may nest in content so often.
func (r *Request) digester(origin lineage.Point, body []byte, levels int) digester {
	return digester{origin: origin, body: body, levels: levels, feed: r.feed, seen: seen{places: r.Outline.Marks}, outline: r.Outlined}
}

// message returns the content digest of one message.
func (d *digester) message(m jsonspan.Value) lineage.Point {
	if m.Kind() != jsonspan.Object {
		return lineage.Of(m.Raw())
	}
	d.feed = d.feed[:0]
	d.seen.begin()
	for v := m.First(); v.Exists(); v = v.Next() {
		name := nameOf(v)
		if d.outline {
			d.seen.member(name, v, m)
		}
		switch {
		case name == roleName:
			d.frame('r', v.Raw())
		case d.plain != nil && d.plain(m, v, name):
		default:
			d.member(v, name, 0)
		}
	}
	return lineage.Of(d.feed)
}

// userText returns the digest of a user message whose content is the string s,
// the same as for {"role":"user","content":s}.
func (d *digester) userText(s jsonspan.Value) lineage.Point {
	d.feed = d.feed[:0]
	d.frame('r', quotedUser)
	d.content(s, 0)
	return lineage.Of(d.feed)
}

var quotedUser = []byte(`"user"`)

func (d *digester) member(v jsonspan.Value, name memberName, level int) {
	switch {
	case name == markName:
		d.mark(v)
	case name == contentName && level < d.levels && holdsContent(v):
		d.content(v, level)
	default:
		d.frame('m', d.body[v.NameSpan().From:v.Span().To])
	}
}

func (d *digester) content(v jsonspan.Value, level int) {
	switch v.Kind() {
	case jsonspan.String:
		d.feed = append(d.feed, 'c')
		d.frame('t', v.Raw())
	case jsonspan.Array:
		d.feed = append(d.feed, 'c')
		for b := v.First(); b.Exists(); b = b.Next() {
			if level == 0 {
				d.seen.blocks++
			}
			d.block(b, level)
		}
	}
}

// block feeds one element of a content list.
func (d *digester) block(b jsonspan.Value, level int) {
	if b.Kind() != jsonspan.Object {
		d.frame('v', b.Raw())
		return
	}
	if text, marks := plainText(b); text.Exists() {
		d.frame('t', text.Raw())
		if marks > 0 {
			d.marksOf(b)
		}
		return
	}
	d.feed = append(d.feed, '{')
	for v := b.First(); v.Exists(); v = v.Next() {
		name := nameOf(v)
		if name == typeName && d.outline {
			d.seen.block(v, b)
		}
		d.member(v, name, level+1)
	}
	d.feed = append(d.feed, '}')
}

func (d *digester) frame(tag byte, raw []byte) {
	h := xxh3.Hash128(raw)
	n := len(d.feed)
	d.feed = slices.Grow(d.feed, frameLen)[:n+frameLen]
	frame := d.feed[n:]
	frame[0] = tag
	binary.LittleEndian.PutUint64(frame[1:], h.Lo)
	binary.LittleEndian.PutUint64(frame[9:], h.Hi)
}

const frameLen = 1 + len(lineage.Point{})

// holdsContent reports whether a member is a list of blocks, or a string or
// null in place of one.
func holdsContent(v jsonspan.Value) bool {
	k := v.Kind()
	return k == jsonspan.String || k == jsonspan.Array || k == jsonspan.Null
}

// plainText returns the text of a block that says nothing but text, and the
// cache marks beside it.
func plainText(b jsonspan.Value) (text jsonspan.Value, marks int) {
	typed := false
	for v := b.First(); v.Exists(); v = v.Next() {
		switch name := nameOf(v); {
		case name == textName && v.Kind() == jsonspan.String:
			text = v
		case name == typeName && isTextType(v):
			typed = true
		case name == markName:
			marks += markCount(v)
		default:
			return jsonspan.Value{}, 0
		}
	}
	if !typed {
		return jsonspan.Value{}, 0
	}
	return text, marks
}

func isTextType(v jsonspan.Value) bool {
	return says(v, "text", "input_text", "output_text")
}
