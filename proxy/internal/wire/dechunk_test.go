package wire

import (
	"bytes"
	"fmt"
	"io"
	"net/http/httputil"
	"testing"

	"pgregory.net/rapid"
)

// decode feeds the pieces and returns the data, what follows, and whether the
// body ended.
func decode(pieces ...[]byte) (data, rest []byte, done bool, err error) {
	var d Dechunker
	for i, p := range pieces {
		got, after, err := d.Next(bytes.Clone(p))
		data = append(data, got...)
		if err != nil {
			return data, nil, d.Done(), err
		}
		if d.Done() {
			rest = append(rest, after...)
			for _, more := range pieces[i+1:] {
				rest = append(rest, more...)
			}
			break
		}
	}
	return data, rest, d.Done(), nil
}

func TestDechunker(t *testing.T) {
	f := func(in, want, wantRest string, wantDone bool) {
		t.Helper()
		data, rest, done, err := decode([]byte(in))
		if err != nil || string(data) != want || string(rest) != wantRest || done != wantDone {
			t.Errorf("Next(%q) = %q, %q, done %v, %v; want %q, %q, %v", in, data, rest, done, err, want, wantRest, wantDone)
		}
	}
	f("5\r\nhello\r\n0\r\n\r\n", "hello", "", true)
	f("5\r\nhello\r\n0\r\n\r\nHTTP/1.1 ", "hello", "HTTP/1.1 ", true)
	f("0\r\n\r\n", "", "", true)
	f("A;x=\"y\"\r\n0123456789\r\n1 \r\nz\r\n0\r\n\r\n", "0123456789z", "", true)
	f("3\nabc\n0\n\n", "abc", "", true)
	// Trailers are part of the framing.
	f("1\r\na\r\n0\r\nFoo: bar\r\nBaz: 1\r\n\r\nnext", "a", "next", true)
	// A cut body has no end.
	f("5\r\nhello\r\n", "hello", "", false)
	f("5\r\nhello\r\n0\r\n", "hello", "", false)
	f("5\r\nhello\r\n0\r\nFoo: bar\r\n", "hello", "", false)
	f("5\r\nhe", "he", "", false)
	f("", "", "", false)
}

func TestDechunkerRefuses(t *testing.T) {
	f := func(in string) {
		t.Helper()
		if data, _, done, err := decode([]byte(in)); err == nil {
			t.Errorf("Next(%q) = %q, done %v; want an error", in, data, done)
		}
	}
	f("\r\n")
	f("x\r\n")
	f("-1\r\n")
	f("0x5\r\nhello")
	f("5\r\nhelloX\r\n")
	f("5\r\nhello\rX")
	f("ffffffffffffffff\r\n")
	f("5;" + string(bytes.Repeat([]byte{'a'}, maxChunkLine)) + "\r\n")
}

// TestDechunkerAnyPieces: how a body is cut into reads changes nothing.
func TestDechunkerAnyPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var wire, want []byte
		for range rapid.IntRange(0, 8).Draw(t, "chunks") {
			c := rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "chunk")
			want = append(want, c...)
			wire = fmt.Appendf(wire, "%x\r\n%s\r\n", len(c), c)
		}
		wire = append(wire, "0\r\n\r\n"...)
		var pieces [][]byte
		for left := wire; len(left) > 0; {
			n := rapid.IntRange(1, len(left)).Draw(t, "piece")
			pieces, left = append(pieces, left[:n]), left[n:]
		}
		data, rest, done, err := decode(pieces...)
		if err != nil || !done || len(rest) > 0 || !bytes.Equal(data, want) {
			t.Fatalf("pieces of %q = %q, rest %q, done %v, %v; want %q", wire, data, rest, done, err, want)
		}
	})
}

// FuzzDechunker compares with the standard library: where both take a whole
// body, they find the same data.
func FuzzDechunker(f *testing.F) {
	f.Add([]byte("5\r\nhello\r\n0\r\n\r\n"), 3)
	f.Add([]byte("5;a=b\r\nhello\r\n0\r\nT: x\r\n\r\nrest"), 1)
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		cut = max(0, min(cut, len(in)))
		data, _, done, err := decode(in[:cut], in[cut:])
		if err != nil || !done {
			return
		}
		want, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(in)))
		if err == nil && !bytes.Equal(data, want) {
			t.Errorf("Next(%q) = %q, want %q", in, data, want)
		}
	})
}
