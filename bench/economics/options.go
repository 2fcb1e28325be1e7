package economics

import (
	"time"

	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// Options say what is simulated. Zero values work: each field says what they
// mean. [Options.WithDefaults] fills them in.
type Options struct {
	// Trace is the trace's name in the rows; goldens are found by it.
	Trace string
	// Providers are names from [Providers], with or without a model of the price
	// table behind a slash: "anthropic", "anthropic/claude-opus-5-5". Empty:
	// anthropic and openai.
	Providers []string
	// Strategies are names from [Strategies]. Empty: all.
	Strategies []string
	// Lifetimes are names such as "5m", "30m", "1h", "12h", "24h" and "none" (entries
	// never expire). A provider is simulated with those of them that it sells. Empty:
	// all that it sells.
	Lifetimes []string
	// OpenerTokens is the opener's size, in tokens. 0 is 4,000; below 0 is none.
	OpenerTokens int64
	// Change says when the opener's text changes. Empty: with each request, which is
	// what a time stamp or an unstable order of keys in it does.
	Change Change

	// Resumes, Compactions and Forks are events per request of the main thread, from
	// 0 (none) to 1, put over those that the trace has. A resume or a fork composes
	// anew where the strategy does so at a session's start; a compaction replaces the
	// history by one that shares no byte with it.
	Resumes, Compactions, Forks float64
	// SignedHistory says that histories are bound to what stood before them, so that
	// a frozen opener keeps its bytes over resumes and forks.
	SignedHistory bool
	// RecordedSubagents also counts the subagents that the trace has.
	RecordedSubagents bool
	// Subagents is how many subagents start per request of the main thread. Each
	// sends one request of the session's tools, system and opener, and SubagentInput
	// (0 is 2,000) tokens of its own.
	Subagents     float64
	SubagentInput int64
	// Burst is how many subagents start at once; 0 is 1. BurstHold holds all but
	// the first until the first byte of its answer, so that they can read what it wrote.
	Burst     int
	BurstHold bool

	// Marks say where prompt prefixes can be read and written. Empty: MarksIdeal.
	// Others need Keepalive and Warm to be 0.
	Marks Marks
	// Capacity is how many tokens the cache of a self-hosted engine holds; those used
	// longest ago go first. 0 is room for everything. Each scope of a trace has the
	// cache for itself. It needs Keepalive, Warm and Subagents to be 0.
	Capacity int64
	// Warm is the share of sessions, from 0 to 1, at whose start another session has
	// just used the same tools and system, and the same opener where all share one.
	Warm float64
	// Shared is the share of sessions, from 0 to 1, whose opener is the same as that
	// of the others of its time; the rest have one of their own. Below 0 is none,
	// 0 is all. It matters where Warm is above 0.
	Shared float64

	// Keepalive is how many times at most an idle session's entries are kept alive by
	// a request that reads them, a margin before they expire; 0 is never. It is priced,
	// also behind a session's last request, whose end nobody knows.
	Keepalive int
	// KeepaliveMargin is how long before the expiry; 0 is 30 s.
	KeepaliveMargin time.Duration

	// FirstToken estimates the time to the first token.
	FirstToken FirstToken

	// Prices is the price table; nil is the built-in one.
	Prices *usage.Prices
	// PriceDate is the day whose prices are used; zero is 2026-12-01.
	PriceDate time.Time
	// Seed decides at which requests events fall.
	Seed uint64
	// RowsOnly leaves out break-evens, sensitivity and goldens: rows alone.
	RowsOnly bool
}

// A Change is a plan by which the opener's text changes.
type Change struct {
	Kind  ChangeKind
	Every time.Duration // between two deploys; 0 is 24 h
}

// A ChangeKind is one of the following.
type ChangeKind string

// Kinds of changes.
const (
	ChangeEachRequest ChangeKind = "each_request"
	ChangeNever       ChangeKind = "never"
	ChangeMidnight    ChangeKind = "midnight"
	ChangeDeploy      ChangeKind = "deploy"
)

// Marks are where a provider's cache can read and write.
type Marks string

const (
	// MarksIdeal is a strict prefix cache of the trace's blocks: any block can be
	// read whose beginning was seen. It is what published figures assume.
	MarksIdeal Marks = "ideal"
	// MarksClient are entries at the end of tools, of the system prompt and of each
	// request, as agents place them, and nowhere else.
	MarksClient Marks = "client"
	// MarksOpener are those of MarksClient and one at the opener's end, where it is a
	// message of its own.
	MarksOpener Marks = "opener"
)

// FirstToken is a linear model: Base and, for each 1,000 tokens, PerFresh for
// those processed and PerRead for those read.
type FirstToken struct {
	Base     time.Duration // 0 is 600 ms
	PerFresh time.Duration // 0 is 64 ms
	PerRead  time.Duration // 0 is 18 ms
}
