package provider

import (
	"bytes"
	"crypto/sha256"
	"hash"
)

// The token rule. A token is four bytes of the prompt as the model reads it. A
// block (a tool, a system text, one part of a message) is a header of three
// tokens, made from what the block is, and its text in UTF-8, filled up to
// whole tokens; a block that is not text is its canonical JSON, an image is
// always imageTokens. So a block of n bytes costs 3 + ceil(n/4), whatever
// stands beside it, and two prompts that begin alike begin with the same
// tokens.
const (
	tokenBytes   = 4
	headerTokens = 3
	imageTokens  = 1500
)

// textTokens is what a text costs without a header, as in answers.
func textTokens(text string) int64 {
	return (int64(len(text)) + tokenBytes - 1) / tokenBytes
}

// A block is one piece of a prompt. Silent blocks cost no tokens and are no
// cache position: they are settings that the cache key covers from there on.
type block struct {
	kind   string // section, role and type
	text   []byte
	silent bool
}

// imageBlock is an image, told apart by its source.
func imageBlock(kind string, source any) block {
	sum := sha256.Sum256(canonical(source))
	return block{kind: kind, text: bytes.Repeat(sum[:tokenBytes], imageTokens)}
}

// measure returns the point after each block that is not silent and the point
// of the whole prompt, and, if every is not 0, the point at each multiple of
// every tokens.
func measure(blocks []block, every int64) (ends []point, end point, steps []point) {
	m := newMeter(every)
	for _, b := range blocks {
		m.add(b)
		if !b.silent {
			ends = append(ends, m.here())
		}
	}
	return ends, m.here(), m.steps
}

// A meter counts and digests a prompt as it goes by.
type meter struct {
	hash  hash.Hash
	bytes int64
	every int64
	steps []point
}

func newMeter(every int64) *meter { return &meter{hash: sha256.New(), every: every} }

func (m *meter) here() point {
	p := point{Tokens: m.bytes / tokenBytes}
	m.hash.Sum(p.Sum[:0])
	return p
}

func (m *meter) add(b block) {
	head := sha256.Sum256([]byte(b.kind))
	if b.silent {
		setting := sha256.Sum256(b.text)
		m.hash.Write(head[:])
		m.hash.Write(setting[:])
		return
	}
	m.write(head[:headerTokens*tokenBytes])
	m.write(b.text)
	if over := len(b.text) % tokenBytes; over > 0 {
		// 0xFF is in no UTF-8 text, so no text can look like a filled one.
		m.write(bytes.Repeat([]byte{0xFF}, tokenBytes-over))
	}
}

func (m *meter) write(p []byte) {
	for m.every > 0 {
		left := m.every*tokenBytes - m.bytes%(m.every*tokenBytes)
		if int64(len(p)) < left {
			break
		}
		m.hash.Write(p[:left])
		m.bytes += left
		p = p[left:]
		m.steps = append(m.steps, m.here())
	}
	m.hash.Write(p)
	m.bytes += int64(len(p))
}
