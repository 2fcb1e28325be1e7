package explain

import (
	"time"

	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// A Digest stands for some bytes: it finds differences and proves nothing.
type Digest [16]byte

// A Request is one model call as the provider's cache sees it, with what came
// of it.
type Request struct {
	ID      string
	Epoch   int    // of its session, 0 if not known: a resume begins the next
	Dialect string // anthropic, openai-chat, openai-responses
	Model   string // asked for
	Host    string // the upstream's host and port
	Account string // whose cache it is: the tenant, with the workspace if it was told
	Key     string // prompt_cache_key, empty if none
	Betas   string // anthropic-beta or openai-beta as sent
	Prefix  string // hash of the inserted prefix, empty if there is none

	// PrefixBytes is the size of the prefix as it was inserted.
	PrefixBytes int

	Start     time.Time // its first byte was sent upstream
	FirstByte time.Time // the head of the answer came; zero if none did

	Tools, System, Parameters Section
	Messages                  []Message
	Marks                     []Mark // in wire order: tools, system, messages; a top-level mark is last

	// WantsUsage is false if the client did not ask for usage where it must be
	// asked for.
	WantsUsage bool
	Usage      usage.Usage
	// Complete says that the answer was a success and came to its end.
	Complete bool
	// Continues says that the history is at the provider (previous_response_id,
	// conversation): Messages are only what is new.
	Continues bool
	// Verdict is what the provider says itself, in its own word; empty if it was
	// not asked or did not say.
	Verdict string
	// Asked is the ID of the request whose answer the provider was asked to
	// compare with; empty if that is not known.
	Asked string
}

// A Section is one part of a request's header: its spans of the client's body,
// joined by commas, so that tools and system are JSON inside [ ], parameters
// inside { }. See dialect.Request for what belongs to each.
type Section struct {
	Digest Digest // zero if the request has no such part
	// Bytes are the joined spans. They may be nil although the part exists: then
	// they are those that came with the same digest before, or were not kept.
	Bytes []byte
	Spans []Span // where they stand in the client's body; may be nil
}

// A Span is the range [From, To) of the client's body.
type Span struct{ From, To int }

// A Message is one element of the history, without its text.
type Message struct {
	// Content is the digest of what the message means: cache marks, and whether
	// a text stands as a string or as a block, are left out of it.
	Content Digest
	Raw     uint64 // digest of the message as written, or at least its size
	At      int32  // where it begins in the client's body
	Size    int32  // bytes
	Images  uint32 // digest of its images alone, 0 if there is none or it is not known
	Blocks  uint16 // content blocks that a look-back counts, 1 for a string
	Role    Role
	Holds   Holds
}

// A Role is who speaks.
type Role byte

// Roles of messages. Function outputs and tool results that are items or
// messages of their own are Tool.
const (
	Other Role = iota
	User
	Assistant
	Developer // and system, where it is a message
	Tool
)

// Holds says what is in a message.
type Holds byte

// Bits of Holds.
const (
	HoldsImage      Holds = 1 << iota
	HoldsThinking         // signed thinking, or an encrypted reasoning item
	HoldsCompaction       // stands for earlier messages that were summarised
	HoldsToolResult
)

// A Mark is a cache mark of the client or of Preface.
type Mark struct {
	Section Place
	Index   int    // of the tool, system block or message; 0 at the top level
	Block   int    // of the block in the message
	TTL     string // as asked: "5m", "1h", "30m", "12h"; empty if not said
}

// A Place is where a mark stands.
type Place byte

// Places of marks.
const (
	InTools Place = iota
	InSystem
	InMessages
	AtTop // top-level cache_control; implicit caching of OpenAI is no mark
)

// Bodies are the messages' bytes of an offline comparison, where the whole body
// is at hand: Bodies[i] is message i as written.
type Bodies [][]byte
