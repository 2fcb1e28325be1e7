package dialect

import (
	"bytes"

	"github.com/zeebo/xxh3"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
	"github.com/seed-9236c7ca/preface/proxy/internal/lineage"
)

// An Outline is what explaining a cache miss needs of a request beside its
// header: one entry for each message of the history, and where the cache marks
// stand. It is read along with the digests, at a few percent of their cost.
type Outline struct {
	Messages []MessageFacts
	Marks    []MarkPlace // in wire order: tools, system, messages, top level
	// CacheKey is the client's prompt_cache_key, without quotes, as written; nil
	// if there is none. It points into the document.
	CacheKey []byte
	// Lifetime is what the request asks for as a whole (OpenAI's
	// prompt_cache_options.ttl), likewise.
	Lifetime []byte
}

// MessageFacts say what a message is without saying what is in it. Roles and
// types that are written with escapes, which no client does, are not told.
type MessageFacts struct {
	Content  lineage.Point // digest of what it means: see the digester
	At, Size int32         // its bytes in the document
	Blocks   uint16        // of its content; 1 for a string, and for an item that has none
	Role     Role
	Holds    Holds
	Images   uint32 // digest of its images alone, 0 if there is none
}

// A Role is who speaks in a message.
type Role byte

// The roles. A message of its own that is the result of a call is ToolRole.
const (
	OtherRole Role = iota
	UserRole
	AssistantRole
	DeveloperRole // and system
	ToolRole
)

// Holds says what kinds of content a message has.
type Holds byte

// Bits of Holds.
const (
	HoldsImage      Holds = 1 << iota
	HoldsThinking         // signed, or an encrypted reasoning item
	HoldsCompaction       // stands for messages that were summarised
	HoldsToolResult
)

// A MarkPlace is where a cache mark of the client stands.
type MarkPlace struct {
	Part  MarkPart
	Index int    // of the tool, the system block or the message
	Block int    // of the block in the message
	TTL   string // as asked for, e.g. "1h"; empty if the mark does not say
}

// A MarkPart is the part of a request that a mark stands in.
type MarkPart byte

// The parts, in wire order but for the last: a top-level mark moves along with
// the end of the history.
const (
	MarkInTools MarkPart = iota
	MarkInSystem
	MarkInMessages
	MarkAtTop
)

// seen is what a digester notices beside digests. That of a message is noted
// only for an outline.
type seen struct {
	marks  int // so far
	places []MarkPlace
	part   MarkPart
	index  int // of the message

	blocks int // of the message so far
	holds  Holds
	role   Role
	images uint32
}

// mark takes in a mark.
func (d *digester) mark(v jsonspan.Value) {
	n := markCount(v)
	d.seen.marks += n
	if d.outline && n > 0 {
		d.seen.places = append(d.seen.places, MarkPlace{d.seen.part, d.seen.index, max(0, d.seen.blocks-1), ttlOf(v)})
	}
}

// marksOf takes in the marks of a block that says nothing but text.
func (d *digester) marksOf(b jsonspan.Value) {
	for v := b.First(); v.Exists(); v = v.Next() {
		if nameOf(v) == markName {
			d.mark(v)
		}
	}
}

// ttls are the lifetimes that can be asked for. A mark is as small an object as
// can be, so what looks like a lifetime in it is one.
var ttls = [...]string{"1h", "5m", "30m", "12h"}

func ttlOf(mark jsonspan.Value) string {
	for _, ttl := range ttls {
		if bytes.Contains(mark.Raw(), []byte(`"`+ttl+`"`)) {
			return ttl
		}
	}
	return ""
}

// begin forgets the message before.
func (s *seen) begin() { s.blocks, s.holds, s.role, s.images = 0, 0, OtherRole, 0 }

// member takes in a member of a message.
func (s *seen) member(name memberName, v, message jsonspan.Value) {
	switch name {
	case roleName:
		if s.role = roleOf(v); s.role == ToolRole {
			s.holds |= HoldsToolResult
		}
	case typeName:
		s.item(v, message)
	}
}

// facts are those of the message m that was just digested.
func (d *digester) facts(m jsonspan.Value, content lineage.Point) MessageFacts {
	s := &d.seen
	return MessageFacts{
		Content: content, At: int32(m.Span().From), Size: int32(m.Span().Len()),
		Blocks: uint16(min(max(s.blocks, 1), 1<<16-1)), Role: s.role, Holds: s.holds, Images: s.images,
	}
}

// item takes in what an item of the Responses API is by its type.
func (s *seen) item(kind, item jsonspan.Value) {
	switch name := inner(kind); {
	case string(name) == "message":
	case string(name) == "reasoning":
		s.role = AssistantRole
		if isSet(item.Get("encrypted_content")) {
			s.holds |= HoldsThinking
		}
	case string(name) == "compaction", string(name) == "compaction_summary":
		s.holds |= HoldsCompaction
	case bytes.HasSuffix(name, []byte("_output")):
		s.role = ToolRole
		s.holds |= HoldsToolResult
	case bytes.HasSuffix(name, []byte("_call")):
		s.role = AssistantRole
	}
}

// block takes in what a content block is by its type.
func (s *seen) block(kind, block jsonspan.Value) {
	switch string(inner(kind)) {
	case "tool_result":
		s.holds |= HoldsToolResult
	case "image", "image_url", "input_image":
		s.holds |= HoldsImage
		s.images = 31*s.images + imageOf(block)
	case "redacted_thinking", "thinking":
		if isSigned(block) {
			s.holds |= HoldsThinking
		}
	case "compaction":
		s.holds |= HoldsCompaction
	}
}

// imageOf is the digest of an image, without the mark that may stand beside it.
func imageOf(block jsonspan.Value) uint32 {
	image := block
	for _, name := range [...]string{"source", "image_url"} {
		if v := block.Get(name); v.Exists() {
			image = v
		}
	}
	return uint32(xxh3.Hash(image.Raw())) | 1 // not 0, which is none
}

// roleOf names a role that is written.
func roleOf(v jsonspan.Value) Role {
	switch string(inner(v)) {
	case "user":
		return UserRole
	case "assistant":
		return AssistantRole
	case "developer", "system":
		return DeveloperRole
	case "tool", "function":
		return ToolRole
	}
	return OtherRole
}

// readHeaderMarks notes the marks of the elements of a list beside the history.
func (r *Request) readHeaderMarks(part MarkPart, list jsonspan.Value) {
	i := 0
	for v := list.First(); v.Exists(); v = v.Next() {
		r.readMark(part, i, v)
		i++
	}
}

// readMark notes the marks among an object's own members.
func (r *Request) readMark(part MarkPart, index int, o jsonspan.Value) {
	if o.Kind() != jsonspan.Object {
		return
	}
	for v := o.First(); v.Exists(); v = v.Next() {
		if nameOf(v) == markName && markCount(v) > 0 {
			r.Marks++
			if r.Outlined {
				r.Outline.Marks = append(r.Outline.Marks, MarkPlace{part, index, 0, ttlOf(v)})
			}
		}
	}
}

// emptied is an outline with the room of o.
func (o *Outline) emptied() Outline {
	return Outline{Messages: room(o.Messages), Marks: room(o.Marks)}
}
