package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// chance returns the random numbers of a seed for one purpose, so that no
// purpose disturbs another.
func chance(seed uint64, purpose string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose)) // a hash never fails
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

func uuid(r *rand.Rand) string {
	a, b := r.Uint64(), r.Uint64()
	return fmt.Sprintf("%08x-%04x-7%03x-8%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>52, b&0xffffffffffff)
}

var words = strings.Fields(`the a this that one every first last open closed small large old new request answer session
	file folder line test branch commit build error value list table index queue cache record log key name path
	reads writes checks keeps drops moves finds makes takes gives waits ends before after under over without
	once again never always only also quickly safely slowly exactly because while until where which`)

// prose is about so many bytes of text: sentences of plain words, with an end.
func prose(r *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		first := words[r.IntN(len(words))]
		b.WriteString(strings.ToUpper(first[:1]) + first[1:])
		for range 5 + r.IntN(10) {
			b.WriteString(" " + words[r.IntN(len(words))])
		}
		b.WriteByte('.')
	}
	return b.String()
}

// encode writes JSON as agents do: compact, with < > & as they are.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("BUG: cannot write a request: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
