// Package trace reads recorded traffic of agents: token counts, times and which
// beginnings requests share, and no texts.
//
// # Invariants
//
//   - A trace is read as a stream: memory does not grow with its length, but with
//     its longest session.
//   - What is read is checked; a fault names the file, the line and the reason, and
//     ends the reading.
package trace

import (
	"time"

	"github.com/seed-9236c7ca/preface/bench/cache"
)

// A Request is one call of a model. Times and block numbers mean something only
// within its Scope; the requests of a scope follow one another.
type Request struct {
	Scope   string        // a session; or the whole trace where numbers are shared by all
	First   bool          // it is the first of its scope
	Sub     bool          // a subagent of the scope made it
	At      time.Duration // start, since the scope's start
	Took    time.Duration // until the answer's end; 0 if the trace does not tell
	Input   int64         // all tokens of the prompt
	Output  int64         // tokens
	Block   int64         // tokens in a block; what is left at a prompt's end may have none of its own
	Runs    []cache.Run   // the prompt's blocks, in order; the reader's, until the next request
	Tools   int64         // tokens of tools, at the beginning; 0 if the trace does not tell
	System  int64         // tokens of the system prompt behind them; 0 if the trace does not tell
	Model   string        // "" if the trace does not tell
	Trigger string        // what the request answers: "user", "tool_result"; "" if the trace does not tell

	// What the provider said that it read from its cache, and wrote; if it did.
	Reported              bool
	CacheRead, CacheWrite int64
}
