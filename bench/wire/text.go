package wire

import (
	"math/rand/v2"
	"strings"
)

// texts make the words of blocks: as long as asked, told apart by their first
// four bytes, and the same for the same seed. They need no escape in JSON.
type texts struct{ words string }

func newTexts(seed uint64) *texts {
	const size = 1 << 18
	vocabulary := strings.Fields("read the file that holds each test before a change and run it again then say what was found why one of them fails on this branch now look at line below")
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(vocabulary[r.IntN(len(vocabulary))])
		b.WriteByte(' ')
	}
	return &texts{b.String()[:size]}
}

const labels = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// label is four bytes that name a number below 64⁴.
func label(n int) string {
	var b [tokenBytes]byte
	for i := range b {
		b[i] = labels[n%len(labels)]
		n /= len(labels)
	}
	return string(b[:])
}

// write appends a text of so many bytes, with a label.
func (t *texts) write(to []byte, n int, bytes int64) []byte {
	to = append(to, label(n)...)
	left := bytes - tokenBytes
	for at := n * 7919 % len(t.words); left > 0; at = 0 {
		part := t.words[at:min(int64(len(t.words)), int64(at)+left)]
		to = append(to, part...)
		left -= int64(len(part))
	}
	return to
}

// textOf is how long the text of a block is.
func textOf(tokens int64) int64 { return (tokens - headerTokens) * tokenBytes }
