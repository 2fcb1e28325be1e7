package wire

import "errors"

// ErrChunk is a chunked body whose framing is wrong.
var ErrChunk = errors.New("malformed chunked body")

// A Dechunker takes the framing off a chunked body that arrives in arbitrary
// pieces. The zero value is ready. Trailers are dropped.
type Dechunker struct {
	state dechunkState
	left  int64 // of the chunk's data
	line  int   // bytes of the current size or trailer line
	some  bool  // the line holds something: a digit of the size, a trailer
}

type dechunkState byte

const (
	chunkSize dechunkState = iota
	chunkExt
	chunkData
	chunkEnd
	chunkTrailer
	chunkDone
)

// maxChunkLine bounds a size line with its extensions, and a trailer line.
const maxChunkLine = 8 << 10

// maxChunk bounds a chunk, far above what a provider sends and far below what
// overflows.
const maxChunk = 1 << 40

// Done reports whether the last chunk and its trailers have been read.
func (d *Dechunker) Done() bool { return d.state == chunkDone }

// Next moves the data in p to its front and returns it, with what follows the
// body's end: nothing, unless Done. Both share p's memory.
func (d *Dechunker) Next(p []byte) (data, rest []byte, err error) {
	to := 0
	for i := 0; i < len(p); {
		if d.state == chunkDone {
			return p[:to], p[i:], nil
		}
		if d.state == chunkData {
			n := min(int64(len(p)-i), d.left)
			to += copy(p[to:], p[i:i+int(n)])
			i += int(n)
			if d.left -= n; d.left == 0 {
				d.state = chunkEnd
			}
			continue
		}
		if err := d.frame(p[i]); err != nil {
			return p[:to], nil, err
		}
		i++
	}
	return p[:to], nil, nil
}

// frame takes one byte outside of data.
func (d *Dechunker) frame(c byte) error {
	if d.line++; d.line > maxChunkLine {
		return ErrChunk
	}
	switch d.state {
	case chunkSize:
		return d.size(c)
	case chunkExt:
		if c == '\n' {
			d.sized()
		}
	case chunkEnd:
		if c == '\n' && d.line <= 2 {
			*d = Dechunker{}
		} else if c != '\r' || d.line > 1 {
			return ErrChunk
		}
	case chunkTrailer:
		if c == '\n' {
			d.trailed()
		} else if c != '\r' {
			d.some = true
		}
	}
	return nil
}

func (d *Dechunker) size(c byte) error {
	v := hexDigit(c)
	switch {
	case v >= 0:
		if d.left = d.left<<4 | int64(v); d.left > maxChunk {
			return ErrChunk
		}
		d.some = true
	case !d.some:
		return ErrChunk
	case c == '\n':
		d.sized()
	case c == ';' || c == '\r' || c == ' ' || c == '\t':
		d.state = chunkExt
	default:
		return ErrChunk
	}
	return nil
}

// sized ends a size line.
func (d *Dechunker) sized() {
	d.line, d.some = 0, false
	if d.state = chunkData; d.left == 0 {
		d.state = chunkTrailer
	}
}

// trailed ends a trailer line; an empty one ends the body.
func (d *Dechunker) trailed() {
	if !d.some {
		d.state = chunkDone
	}
	d.line, d.some = 0, false
}

func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
