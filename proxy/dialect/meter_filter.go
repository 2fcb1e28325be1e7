package dialect

import (
	"bytes"

	"github.com/seed-9236c7ca/preface/proxy/internal/sse"
)

// maxUsageChunk is the size from which an event is no usage chunk, and is
// relayed while it comes.
const maxUsageChunk = 64 << 10

// headLen is how much of an open event is searched for signs that it is no
// usage chunk.
const headLen = 512

// chunkFilter takes usage chunks out of a stream. Only bytes of an event that
// has not ended are ever held back, and only as long as it may turn out to be
// such a chunk; comments never are. All other chunks keep the "usage":null that
// comes with the option: it tells a client nothing, and the bytes are the
// provider's.
type chunkFilter struct {
	on      bool
	cuts    []cutRange // of the bytes in hand; those that end an event are whole events
	relayed int64      // every byte before was relayed or cut
	held    []byte     // the bytes from relayed on
	clear   int64      // the open event has only comments before, all relayed
	cutCR   bool       // the last byte was cut and is a CR: an LF goes with it
	out     []byte     // what was returned last, if it was no part of a chunk
}

// A cutRange is a half-open range of stream offsets.
type cutRange struct{ from, to int64 }

// Filter implements UsageFilter.
func (m *chatStream) Filter(p []byte) []byte {
	if len(p) == 0 {
		return nil
	}
	m.filter.begin(p[0])
	m.Write(p)
	return m.filter.pass(p, m.split.Open())
}

// Rest implements UsageFilter. An event that never ended is not taken out.
func (m *chatStream) Rest() []byte {
	f := &m.filter
	rest := f.held
	f.relayed, f.held = f.relayed+int64(len(rest)), nil
	return rest
}

func (f *chunkFilter) begin(first byte) {
	f.on, f.cuts = true, f.cuts[:0]
	if f.cutCR && first == '\n' { // then nothing is held
		f.cuts = append(f.cuts, cutRange{f.relayed, f.relayed + 1})
	}
}

// cut takes out an event unless a part of it is relayed already.
func (f *chunkFilter) cut(ev sse.Event) {
	if from := max(ev.Start, f.clear); f.on && from >= f.relayed {
		f.cuts = append(f.cuts, cutRange{from, ev.End})
	}
}

// pass returns what is to be relayed now that p was read. open is where the
// event begins that p leaves open.
func (f *chunkFilter) pass(p []byte, open int64) []byte {
	from, inHand := f.relayed, p
	if len(f.held) > 0 {
		f.held = append(f.held, p...)
		inHand = f.held
	}
	f.relayed = from + int64(f.ready(inHand, from, open))
	f.cutCR = false
	out := inHand[:f.relayed-from]
	if len(f.cuts) > 0 || len(f.held) > 0 {
		f.out = f.appendUncut(f.out[:0], out, from)
		out = f.out
	}
	f.held = append(f.held[:0], inHand[f.relayed-from:]...)
	f.cutCR = f.cutCR && len(f.held) == 0
	return out
}

// ready is how many of the bytes in hand, which begin at from, need not be held
// back for the open event.
func (f *chunkFilter) ready(inHand []byte, from, open int64) int {
	open = max(open, f.clear)
	if open < from {
		return len(inHand) // a part of it is relayed already
	}
	rest := inHand[open-from:]
	n := comments(rest)
	f.clear = open + int64(n)
	rest = rest[n:]
	if len(rest) > maxUsageChunk || bytes.Contains(rest[:min(len(rest), headLen)], []byte(`"choices":[{`)) {
		return len(inHand)
	}
	return len(inHand) - len(rest)
}

// appendUncut appends b, which begins at from, without what was cut out. The
// comments at the head of an event stay.
func (f *chunkFilter) appendUncut(dst, b []byte, from int64) []byte {
	pos := 0
	for _, c := range f.cuts {
		start, end := int(c.from-from), int(c.to-from)
		start += comments(b[start:end])
		dst = append(dst, b[pos:start]...)
		pos = end
	}
	f.cutCR = pos > 0 && pos == len(b) && b[pos-1] == '\r'
	return append(dst, b[pos:]...)
}

// comments is the length of the whole comment lines at the start of b. A CR at
// the end of b may be half of a line end.
func comments(b []byte) int {
	n := 0
	for n < len(b) && b[n] == ':' {
		end := bytes.IndexAny(b[n:], "\r\n")
		if end < 0 || n+end+1 == len(b) && b[n+end] == '\r' {
			break
		}
		if end += n; b[end] == '\r' && b[end+1] == '\n' {
			end++
		}
		n = end + 1
	}
	return n
}
