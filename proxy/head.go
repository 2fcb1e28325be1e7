package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/valyala/fasthttp"
)

// A field is one header line as it came, without its line end. Both slices
// point into the request and live until the handler returns.
type field struct{ name, value []byte }

// A head is the client's header lines in their order and spelling.
type head struct {
	fields  []field
	lengths uint64 // bit n: a name is n bytes long (63: or longer)
	// connection holds the names that the client's Connection header lists.
	connection [][]byte
}

// errFraming is a request whose framing two servers could read differently.
// The connection is closed after it.
var errFraming = errors.New("ambiguous request framing")

// read takes the header lines of a request. fasthttp accepts folded lines,
// names with spaces and both kinds of length together (measured in
// facts/reliability.md 4.2); none of these goes on from here.
func (h *head) read(req *fasthttp.RequestHeader) error {
	h.reset()
	var said framings
	for raw := req.RawHeaders(); len(raw) > 0; {
		line, rest, _ := bytes.Cut(raw, crlf)
		raw = rest
		if len(line) == 0 {
			break
		}
		f, err := fieldOf(line)
		if err != nil {
			return err
		}
		if err := said.note(f); err != nil {
			return err
		}
		h.add(f)
	}
	return said.check()
}

// fieldOf takes a header line apart. An error quotes no value.
func fieldOf(line []byte) (field, error) {
	name, value, ok := bytes.Cut(line, colon)
	if !ok || !isToken(name) {
		return field{}, fmt.Errorf("%w: a header line does not begin with a name and a colon", errFraming)
	}
	if hasControl(value) {
		return field{}, fmt.Errorf("%w: the value of header %q holds a control character", errFraming, name)
	}
	return field{name, trimBlanks(value)}, nil
}

func (h *head) add(f field) {
	h.fields = append(h.fields, f)
	h.lengths |= lengthBit(len(f.name))
	if is(f.name, "connection") {
		h.list(f.value)
	}
}

// framings counts what a head says of where its body ends.
type framings struct{ lengths, codings int }

func (s *framings) note(f field) error {
	switch {
	case is(f.name, "content-length"):
		s.lengths++
	case is(f.name, "transfer-encoding"):
		if s.codings++; !is(f.value, "chunked") {
			return fmt.Errorf("%w: a Transfer-Encoding other than chunked", errFraming)
		}
	}
	return nil
}

func (s *framings) check() error {
	if s.lengths+s.codings > 1 {
		return fmt.Errorf("%w: Content-Length and Transfer-Encoding together, or either twice", errFraming)
	}
	return nil
}

// trimBlanks takes off what may surround a value. bytes.Trim makes a set of its
// second argument, for every line of every request.
func trimBlanks(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func lengthBit(n int) uint64 { return 1 << min(n, 63) }

// reset lets go of the request's lines and keeps their room.
func (h *head) reset() {
	h.fields, h.connection, h.lengths = clear0(h.fields), clear0(h.connection), 0
}

var (
	crlf  = []byte("\r\n")
	colon = []byte(":")
)

// list takes the names in a Connection header.
func (h *head) list(value []byte) {
	for name := range bytes.SplitSeq(value, []byte(",")) {
		if name = trimBlanks(name); len(name) > 0 {
			h.connection = append(h.connection, name)
		}
	}
}

// get returns the first value under a name, or nil. Some forty names are asked
// for in each request, and few of them are there.
func (h *head) get(name string) []byte {
	if h.lengths&lengthBit(len(name)) == 0 {
		return nil
	}
	for _, f := range h.fields {
		if is(f.name, name) {
			return f.value
		}
	}
	return nil
}

// announcesBody reports whether the head says that a body follows.
func (h *head) announcesBody() bool {
	n := h.get("content-length")
	return h.get("transfer-encoding") != nil || n != nil && string(n) != "0"
}

// hopByHop are the headers of one connection; they end here. Those that frame
// the message are written anew.
var hopByHop = []string{
	"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection",
	"te", "trailer", "transfer-encoding", "upgrade", "content-length", "host", "expect",
}

// ends reports whether a client's header ends here: it is hop-by-hop, or the
// client's Connection header lists it, or it is for us.
func (h *head) ends(name []byte) bool {
	return slices.ContainsFunc(hopByHop, func(s string) bool { return is(name, s) }) ||
		len(name) > len(ours) && is(name[:len(ours)], ours) ||
		slices.ContainsFunc(h.connection, func(l []byte) bool { return bytes.EqualFold(l, name) })
}

// ours begins the headers between clients and Preface.
const ours = "x-preface-"

// appendTo appends the header lines that go on, in the client's order and
// spelling. drop says which others stay behind.
func (h *head) appendTo(dst []byte, drop func(name []byte) bool) []byte {
	for _, f := range h.fields {
		if h.ends(f.name) || drop(f.name) {
			continue
		}
		dst = append(dst, f.name...)
		dst = append(dst, ": "...)
		dst = append(dst, f.value...)
		dst = append(dst, crlf...)
	}
	return dst
}

// is compares a header's name with a lower-case one.
func is(name []byte, lower string) bool {
	if len(name) != len(lower) {
		return false
	}
	for i, c := range name {
		if c|0x20 != lower[i] && c != lower[i] {
			return false
		}
		if c < 'A' && c != lower[i] {
			return false
		}
	}
	return true
}

// isToken reports whether b is a header name by RFC 9110.
func isToken(b []byte) bool {
	for _, c := range b {
		if !tokenBytes[c] {
			return false
		}
	}
	return len(b) > 0
}

// hasControl reports whether a value holds what must not be in one. A bare line
// feed ends a line for some servers; fasthttp lets one through at the end of a
// value.
func hasControl(value []byte) bool {
	for _, c := range value {
		if c < ' ' && c != '\t' || c == 0x7f {
			return true
		}
	}
	return false
}

var tokenBytes = func() (t [256]bool) {
	for _, c := range "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" {
		t[c] = true
	}
	return t
}()
