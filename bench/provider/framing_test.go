package provider

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// framed feeds a connection's bytes in pieces and returns the heads found, and
// how many requests began.
func framed(wire []byte, sizes []int) (heads []string, began int) {
	f := framer{began: func() { began++ }, ended: func(h []byte) { heads = append(heads, string(h)) }}
	for _, n := range sizes {
		n = min(n, len(wire))
		f.feed(wire[:n])
		wire = wire[n:]
	}
	f.feed(wire)
	return heads, began
}

// However the bytes arrive, the framer finds the heads that were sent.
func TestFramerFindsHeadsInAnyCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var wire bytes.Buffer
		var want []string
		for i := range rapid.IntRange(1, 4).Draw(t, "requests") {
			head, body := drawRequest(t, i)
			want = append(want, head)
			wire.WriteString(head + body)
		}
		sizes := rapid.SliceOfN(rapid.IntRange(1, 9), 0, 60).Draw(t, "sizes")
		heads, began := framed(wire.Bytes(), sizes)
		if diff := cmp.Diff(want, heads); diff != "" || began != len(want) {
			t.Fatalf("framer found %d beginnings, heads (-want +got)\n%s", began, diff)
		}
	})
}

// drawRequest returns a head and a body that looks like heads.
func drawRequest(t *rapid.T, i int) (head, body string) {
	text := rapid.SampledFrom([]string{"", "x", "GET / HTTP/1.1\r\n\r\n", "\r\n\r\n", "0\r\n\r\n"}).Draw(t, "text")
	line := fmt.Sprintf("POST /%d HTTP/1.1\r\nHost: h\r\n", i)
	if rapid.Bool().Draw(t, "chunked") {
		head = line + "transfer-encoding: chunked\r\n\r\n"
		for range rapid.IntRange(0, 3).Draw(t, "chunks") {
			if text != "" {
				body += fmt.Sprintf("%X;e=\"1\"\r\n%s\r\n", len(text), text)
			}
		}
		return head, body + "0\r\n" + rapid.SampledFrom([]string{"", "T: 1\r\n"}).Draw(t, "trailer") + "\r\n"
	}
	return fmt.Sprintf("%sContent-Length: %d\r\n\r\n", line, len(text)), text
}

func TestRequestLine(t *testing.T) {
	for head, want := range map[string][2]string{
		"GET /a?b=%20 HTTP/1.1\r\nH: v\r\n\r\n": {"GET", "/a?b=%20"},
		"GET\r\n\r\n":                           {"GET", ""},
		"\n":                                    {"", ""},
	} {
		if method, target := requestLine([]byte(head)); method != want[0] || target != want[1] {
			t.Errorf("requestLine(%q) = %q, %q, want %q", head, method, target, want)
		}
	}
}

// The framer never panics, and the heads it finds are pieces of the wire.
func FuzzFramer(f *testing.F) {
	f.Add([]byte("POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nabGET / HTTP/1.1\n\n"), 3)
	f.Add([]byte("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nab\r\n0\r\nT: 1\r\n\r\n"), 1)
	f.Add([]byte("\r\n\r\nX\r\n\r\n"), 2)
	f.Add([]byte("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n"), 7)
	f.Fuzz(func(t *testing.T, wire []byte, size int) {
		whole, began := framed(wire, nil)
		cut, cutBegan := framed(wire, slicesOf(max(1, size), len(wire)))
		if diff := cmp.Diff(whole, cut); diff != "" || began != cutBegan {
			t.Errorf("in pieces of %d the heads of %q differ (-whole +cut)\n%s", size, wire, diff)
		}
		for _, h := range whole {
			if !strings.Contains(string(wire), h) {
				t.Errorf("head %q is not in %q", h, wire)
			}
			fields([]byte(h))
			requestLine([]byte(h))
		}
	})
}

func slicesOf(size, total int) []int {
	var out []int
	for ; total > 0; total -= size {
		out = append(out, size)
	}
	return out
}
