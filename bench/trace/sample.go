package trace

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// sample makes a small trace in the form of cc-traces, the same on each run. Its
// sessions have about the lengths, pauses and sizes of agents that code: a head
// of tools and system prompt, turns that append a few thousand tokens, a pause
// over lunch now and then, a compaction when the history is long, and a subagent.
// It stands for nobody's traffic.
func sample() []byte {
	var b bytes.Buffer
	r := rand.New(rand.NewPCG(20261130, 1))
	for i := range sampleSessions {
		writeSession(&b, r, i)
	}
	return b.Bytes()
}

const (
	sampleSessions = 24
	sampleBlock    = 64
	sampleTools    = 11_904 // tokens, 186 blocks
	sampleSystem   = 2_944  // 46 blocks
)

// A writer writes the requests of one session.
type writer struct {
	b      *bytes.Buffer
	r      *rand.Rand
	at     float64
	blocks int // of the prompt
	fresh  int // the first number that is not used
}

func writeSession(b *bytes.Buffer, r *rand.Rand, i int) {
	w := &writer{b: b, r: r, fresh: 1}
	fmt.Fprintf(b, `{"id":"sample-%02d","block_size":%d,"hash_id_scope":"local","tool_tokens":%d,"system_tokens":%d,"requests":[`, i+1, sampleBlock, sampleTools, sampleSystem)
	w.request(0, (sampleTools+sampleSystem)/sampleBlock+20+r.IntN(120), "text")
	for turn := range 4 + r.IntN(40) {
		w.pause()
		keep := w.blocks
		if w.blocks > 2200 {
			keep = (sampleTools + sampleSystem) / sampleBlock // compacted: the head stays
		}
		b.WriteByte(',')
		w.request(keep, 4+int(r.ExpFloat64()*22), kindOf(turn))
		if turn == 6 && i%4 == 0 {
			w.subagent(i)
		}
	}
	b.WriteString("]}\n")
}

// pause lets time pass: seconds mostly, minutes now and then, hours rarely.
func (w *writer) pause() {
	switch n := w.r.IntN(100); {
	case n < 1:
		w.at += 3600 + w.r.Float64()*7200
	case n < 6:
		w.at += 300 + w.r.Float64()*1500
	default:
		w.at += 4 + w.r.ExpFloat64()*20
	}
}

func kindOf(turn int) string {
	if turn%7 == 6 {
		return "text"
	}
	return "tool_result"
}

// request writes one that keeps blocks of the one before and has more.
func (w *writer) request(keep, more int, kind string) {
	w.blocks = keep + more
	input := w.blocks*sampleBlock + w.r.IntN(sampleBlock)
	took := 1 + w.r.ExpFloat64()*6
	fmt.Fprintf(w.b, `[%.3f,%d,%d,%d,[[%d,%d]],%.2f,0,"claude-opus-5","tool_use","%s"]`,
		w.at, input, 40+int(w.r.ExpFloat64()*400), keep, w.fresh, more, took, kind)
	w.fresh += more
	w.at += took
}

// subagent writes one that works beside the session on a prompt of its own.
func (w *writer) subagent(i int) {
	fmt.Fprintf(w.b, `,{"sub":{"t":%.3f,"agent_id":"sub-%02d","tool_tokens":7040,"system_tokens":704,"requests":[`, w.at, i+1)
	sub := &writer{b: w.b, r: w.r, fresh: w.fresh}
	sub.request(0, 140, "text")
	for range 5 {
		w.b.WriteByte(',')
		sub.request(sub.blocks, 12, "tool_result")
	}
	w.b.WriteString("]}}")
	w.fresh = sub.fresh
}
