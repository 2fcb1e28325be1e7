package provider

import (
	"bytes"
	"strconv"
	"strings"
)

// maxHead bounds what a framer keeps of one head. net/http gives up before.
const maxHead = 6 << 20

// A framer follows the requests on one connection's bytes, to know where heads
// begin and end. It does not judge: what net/http refuses ends the connection.
// One that lost its way finds no more heads.
type framer struct {
	began func()            // at the first byte of a head
	ended func(head []byte) // the head, blank line included; owned by the callee

	state frameState
	head  []byte
	line  []byte // of chunk framing, without the part of it that was skipped
	left  int64  // bytes of a body or chunk to skip
}

type frameState byte

const (
	frameIdle    frameState = iota // between requests
	frameHead                      // in a head
	frameBody                      // in a body of known length
	frameSize                      // in a chunk's size line
	frameChunk                     // in a chunk and its line end
	frameTrailer                   // after the last chunk
	frameLost
)

// feed takes the next bytes of the connection.
func (f *framer) feed(p []byte) {
	for len(p) > 0 && f.state != frameLost {
		p = p[f.step(p):]
	}
}

// step takes some bytes of p and returns how many.
func (f *framer) step(p []byte) int {
	switch f.state {
	case frameIdle:
		return f.idle(p)
	case frameHead:
		return f.inHead(p)
	case frameBody, frameChunk:
		return f.skip(p)
	default:
		return f.inLine(p)
	}
}

// idle passes over the empty lines that may stand before a request.
func (f *framer) idle(p []byte) int {
	if p[0] == '\r' || p[0] == '\n' {
		return 1
	}
	f.state = frameHead
	f.began()
	return 0
}

func (f *framer) inHead(p []byte) int {
	for i, b := range p {
		f.head = append(f.head, b)
		if b == '\n' && (bytes.HasSuffix(f.head, []byte("\n\r\n")) || bytes.HasSuffix(f.head, []byte("\n\n"))) {
			head := f.head
			f.head = nil
			f.enterBody(head)
			f.ended(head)
			return i + 1
		}
		if len(f.head) > maxHead {
			f.state = frameLost
			return i + 1
		}
	}
	return len(p)
}

// enterBody chooses the state after a head.
func (f *framer) enterBody(head []byte) {
	f.state = frameIdle
	for _, h := range fields(head) {
		switch {
		case strings.EqualFold(h.Name, "transfer-encoding"):
			f.state = frameSize
			return
		case strings.EqualFold(h.Name, "content-length"):
			n, err := strconv.ParseInt(h.Value, 10, 64)
			f.left = n
			if err != nil || n < 0 {
				f.state = frameLost
			} else if n > 0 {
				f.state = frameBody
			}
		}
	}
}

func (f *framer) skip(p []byte) int {
	n := min(int64(len(p)), f.left)
	f.left -= n
	if f.left > 0 {
		return int(n)
	}
	if f.state == frameBody {
		f.state = frameIdle
	} else {
		f.state = frameSize
	}
	return int(n)
}

// inLine collects a chunk's size line or a trailer line.
func (f *framer) inLine(p []byte) int {
	n := bytes.IndexByte(p, '\n') + 1
	if n == 0 {
		n = len(p)
	}
	f.line = append(f.line, p[:n]...)
	if len(f.line) > maxHead {
		f.state = frameLost
	}
	if f.line[len(f.line)-1] == '\n' {
		line := strings.TrimRight(string(f.line), "\r\n")
		f.line = f.line[:0]
		f.endLine(line)
	}
	return n
}

func (f *framer) endLine(line string) {
	if f.state == frameTrailer {
		if line == "" {
			f.state = frameIdle
		}
		return
	}
	size, _, _ := strings.Cut(line, ";")
	n, err := strconv.ParseInt(strings.TrimSpace(size), 16, 64)
	switch {
	case err != nil || n < 0:
		f.state = frameLost
	case n == 0:
		f.state = frameTrailer
	default:
		f.state, f.left = frameChunk, n+2
	}
}

// fields returns the header fields of a head in their order and spelling.
func fields(head []byte) []Field {
	var out []Field
	lines := strings.Split(string(head), "\n")
	for _, line := range lines[1:] {
		name, value, ok := strings.Cut(strings.TrimRight(line, "\r"), ":")
		if ok {
			out = append(out, Field{name, strings.Trim(value, " \t")})
		}
	}
	return out
}

// requestLine returns the method and the undecoded target of a head.
func requestLine(head []byte) (method, target string) {
	line, _, _ := strings.Cut(string(head), "\n")
	method, rest, _ := strings.Cut(strings.TrimRight(line, "\r"), " ")
	target, _, _ = strings.Cut(rest, " ")
	return method, target
}
