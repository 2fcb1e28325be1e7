package economics

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-9236c7ca/preface/bench/cache"
	"github.com/seed-9236c7ca/preface/internal/legible"
)

// assumptions says what rows take for granted, with the numbers used.
func (st *stage) assumptions(pl *player) []string {
	o := st.o
	f := o.FirstToken
	out := []string{
		fmt.Sprintf("An opener of %s tokens; its text changes: %s. An opener's tokens are whole: it is read or it is not.", legible.Grouped(o.opener()), strings.ReplaceAll(o.Change.String(), "_", " ")),
		"The prompt is tools, then system, then history; block numbers of the trace stand for all text up to the block's end, and blocks behind an opener for other text with each text of it.",
		"Strict prefix cache: what an earlier request of the same scope had sent, at most one lifetime before this one's start, is read; a use refreshes; what the provider counts in steps is rounded down, and below its minimum nothing is read or written.",
		fmt.Sprintf("A prompt can be read from its start on; providers tell from the answer's beginning on. %s of %s requests began before the answer to the one before them had ended.", legible.Grouped(pl.overlaps), legible.Grouped(pl.requests)),
		"All that is not read is written where writing costs, except an opener behind the history, which stands behind the client's last mark.",
		"cost_vs_none is input alone at the price of prompts of ordinary length; cost_usd has output, and surcharges on long prompts too.",
		"An opener in the history is gone where the history begins with other text and the prompt has shrunk to less than half (a compaction, or a side request), until the old beginning is back.",
		"A request's opener can be named afterwards if it was logged before it was sent (frozen), if it stands in the history (durable_history), or if the text is that of a dated change (deploy, midnight); not if each composition differs, nor what a compaction left of it.",
		"Outdated is an opener whose text is not the one in force at the request; with a change at each request that is every request that did not compose.",
		fmt.Sprintf("Time to the first token: %v, and %v for each 1,000 tokens processed, %v for each 1,000 read. It is made to fit -7 %% at 1,024 tokens and -67 %% at 150,000 (OpenAI, Prompt Caching 201); no queue is in it.", f.Base, f.PerFresh, f.PerRead),
		"Blocks of a trace mean something only within its scope, so what sessions share is counted only as far as the share of warm starts says.",
	}
	if !pl.knowsSessions() {
		out = append(out, "The trace is one scope and tells no sessions: a frozen opener is composed once, at the trace's start, and stands before all prompts; nothing is said by length of sessions.")
	}
	out = append(out, st.planned()...)
	for i := range st.tiers {
		t := &st.tiers[i]
		if t.rules.Assumed != "" && (i == 0 || st.tiers[i-1].provider != t.provider) {
			out = append(out, fmt.Sprintf("%s: assumed is %s.", t.provider, t.rules.Assumed))
		}
	}
	return append(out, st.room()...)
}

// room is what is assumed of the size of engines' caches.
func (st *stage) room() []string {
	var names []string
	for i := range st.tiers {
		if st.tiers[i].rules.Kind == cache.ByBlocks {
			names = append(names, st.tiers[i].provider)
		}
	}
	switch {
	case len(names) == 0:
		return nil
	case st.o.Capacity == 0:
		return []string{strings.Join(names, ", ") + ": assumed is a cache with room for everything."}
	}
	return []string{fmt.Sprintf("%s: the cache holds %s tokens, openers included, for each scope of the trace by itself; those used longest ago go first, of a prompt its end. Break-evens and conditions are of a cache with room for everything.", strings.Join(names, ", "), legible.Grouped(st.o.Capacity))}
}

// planned are the events that were asked for.
func (st *stage) planned() (out []string) {
	o := st.o
	for _, e := range []struct {
		rate float64
		name string
	}{{o.Resumes, "resumes"}, {o.Compactions, "compactions"}, {o.Forks, "forks"}, {o.Subagents, "subagents"}} {
		if e.rate > 0 {
			out = append(out, fmt.Sprintf("%s are added at %v per request, by chance (seed %d).", e.name, e.rate, o.Seed))
		}
	}
	if o.Warm > 0 {
		out = append(out, fmt.Sprintf("%v of the requests that would find tools and system cold find them warm through another session; %v of the sessions share their opener.", o.Warm, o.Shared))
	}
	if o.Keepalive > 0 {
		out = append(out, fmt.Sprintf("Up to %d keepalives in a pause, %v before entries expire; each reads the whole prompt and answers with one token, also behind the last request of a session.", o.Keepalive, o.KeepaliveMargin.Round(time.Second)))
	}
	return out
}
