package netfault

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommand(t *testing.T) {
	f := func(in string, words []string, end int, want error) {
		t.Helper()
		got, n, err := command([]byte(in))
		if d := cmp.Diff(words, got); d != "" || n != end || !errors.Is(err, want) {
			t.Errorf("command(%q) = %q, %d, %v; want %q, %d, %v", in, got, n, err, words, end, want)
		}
	}
	f("*2\r\n$3\r\nGET\r\n$2\r\n\r\n\r\n*1", []string{"GET", "\r\n"}, 21, nil)
	f("PING now\r\nPING", []string{"PING", "now"}, 10, nil)
	f("*0\r\n", nil, 4, nil)
	f("*-1\r\n", nil, 5, nil)
	f("\r\n", []string{}, 2, nil)
	f("", nil, 0, errShort)
	f("PING", nil, 0, errShort)
	f("*2\r\n$3\r\nGET\r\n", nil, 0, errShort)
	f("*1\r\n$-1\r\n", nil, 0, errNotRESP)
	f("*1\r\n:5\r\n", nil, 0, errNotRESP)
	f("*1\n", nil, 0, errNotRESP)
	f(strings.Repeat("a", maxLine), nil, 0, errNotRESP)
}

func TestElement(t *testing.T) {
	f := func(in string, end int, want error) {
		t.Helper()
		n, err := element([]byte(in), 0)
		if n != end || !errors.Is(err, want) {
			t.Errorf("element(%q) = %d, %v; want %d, %v", in, n, err, end, want)
		}
	}
	whole := func(in string) { t.Helper(); f(in+"+next\r\n", len(in), nil) }
	whole("+OK\r\n")
	whole("-MOVED 3 127.0.0.1:7000\r\n")
	whole(":-1\r\n")
	whole("_\r\n")
	whole("#t\r\n")
	whole(",1.5\r\n")
	whole("(3492890328409238509324850943850943825024385\r\n")
	whole("$0\r\n\r\n")
	whole("$-1\r\n")
	whole("$6\r\n+a\r\nb\n\r\n")
	whole("!5\r\nERR a\r\n")
	whole("=5\r\ntxt:a\r\n")
	whole("*-1\r\n")
	whole("*0\r\n")
	whole("*2\r\n*1\r\n:1\r\n$1\r\na\r\n")
	whole("~1\r\n:1\r\n")
	whole(">2\r\n+message\r\n+a\r\n")
	whole("%1\r\n+a\r\n*1\r\n:1\r\n")
	whole("|1\r\n+ttl\r\n:5\r\n$1\r\na\r\n")
	whole("*2\r\n|1\r\n+ttl\r\n:5\r\n+a\r\n+b\r\n")

	f("", 0, errShort)
	f("$3\r\nab", 0, errShort)
	f("%1\r\n+a\r\n", 0, errShort)
	f("|1\r\n+ttl\r\n:5\r\n", 0, errShort)
	f("HTTP/1.1 200 OK\r\n", 0, errNotRESP)
	f("\r\n", 0, errNotRESP)
	f("$1\r\nab\r\n", 0, errNotRESP)
	f("$-2\r\n", 0, errNotRESP)
	f("$x\r\n", 0, errNotRESP)
	f("$600000000\r\n", 0, errNotRESP)
	f("$?\r\n", 0, errNotRESP) // streamed strings, which Redis never sends
	f(strings.Repeat("*1\r\n", maxDepth+1), 0, errNotRESP)
	f("+"+strings.Repeat("a", maxLine), 0, errNotRESP)
}

// FuzzFraming holds that where a frame ends does not depend on what is behind it,
// and that it is short at every place before.
func FuzzFraming(f *testing.F) {
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 300 {
			return
		}
		prefixes(t, "element", in, func(b []byte) (int, error) { return element(b, 0) })
		prefixes(t, "command", in, func(b []byte) (int, error) { _, n, err := command(b); return n, err })
	})
}

func prefixes(t *testing.T, name string, in []byte, f func([]byte) (int, error)) {
	t.Helper()
	end, wantErr := f(in)
	if end < 0 || end > len(in) || wantErr == nil && end == 0 {
		t.Fatalf("%s(%q) = %d, %v; it ends outside", name, in, end, wantErr)
	}
	if errors.Is(wantErr, errNotRESP) {
		return // at which byte that shows may differ
	}
	if wantErr != nil {
		end = len(in) + 1
	}
	for i := range len(in) {
		n, err := f(in[:i])
		switch {
		case i < end && !errors.Is(err, errShort):
			t.Fatalf("%s(%q) = %d, %v; want %v, since it ends at %d", name, in[:i], n, err, errShort, end)
		case i >= end && (n != end || err != nil):
			t.Fatalf("%s(%q) = %d, %v; want %d", name, in[:i], n, err, end)
		}
	}
}
