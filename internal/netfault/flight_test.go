package netfault

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/internal/redistest"
)

// unlinked is the flight of a connection that is fed by hand.
func unlinked() *flight { return &flight{p: &Proxy{}} }

func arrive(t *testing.T, f *flight, in, want string, wantCut bool) {
	t.Helper()
	if out, cut := f.arrive([]byte(in)); string(out) != want || cut != wantCut {
		t.Errorf("arrive(%q) = %q, %v; want %q, %v", in, out, cut, want, wantCut)
	}
}

func matchWord(word string) func([]string) bool {
	return func(cmd []string) bool { return strings.EqualFold(cmd[0], word) }
}

func TestFlightSwallows(t *testing.T) {
	f := unlinked()
	f.p.SwallowReply(matchWord("set"))
	f.depart([]byte("*1\r\n$3\r\nGET\r\n*1\r\n$3\r"))
	f.depart([]byte("\nSET\r\n"))
	arrive(t, f, "$5\r\nab", "$5\r\nab", false) // what is passed on is passed on as it comes
	arrive(t, f, "cde\r\n+O", "cde\r\n", false)
	arrive(t, f, "K", "", false)
	arrive(t, f, "\r\n", "", true)
	if n := f.p.counts.Swallowed; n != 1 {
		t.Errorf("Counts().Swallowed = %d, want 1", n)
	}
}

func TestFlightSwapsTwo(t *testing.T) {
	f := unlinked()
	f.p.SwapReplies(1)
	f.depart([]byte("GET a\r\n"))
	arrive(t, f, "+a\r\n", "+a\r\n", false) // one in flight
	f.depart([]byte("GET a\r\nGET b\r\nGET c\r\nGET d\r\n"))
	arrive(t, f, "+a", "", false)
	arrive(t, f, "\r\n>1\r\n+push\r\n+b\r", ">1\r\n+push\r\n", false)
	arrive(t, f, "\n+c\r\n+d\r\n", "+b\r\n+a\r\n+c\r\n+d\r\n", false)
	if n := f.p.counts.Swapped; n != 1 {
		t.Errorf("Counts().Swapped = %d, want 1", n)
	}
}

func TestFlightHealedInBetween(t *testing.T) {
	f := unlinked()
	f.p.SwallowReply(matchWord("set"))
	f.depart([]byte("SET a\r\n"))
	f.p.SwallowReply(nil)
	arrive(t, f, "+OK\r\n", "+OK\r\n", false)
}

func TestFlightLetsOthersAlone(t *testing.T) {
	for name, up := range map[string]string{
		"subscriber":  "GET a\r\n*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\na\r\n",
		"no replies":  "CLIENT REPLY OFF\r\n",
		"replication": "PSYNC ? -1\r\n",
		"binary":      "*\x00\r\n",
	} {
		f := unlinked()
		f.p.SwallowReply(func([]string) bool { return true })
		f.p.SwapReplies(1)
		f.depart([]byte(up))
		arrive(t, f, "+a\r\n+b\r\n\x00", "+a\r\n+b\r\n\x00", false)
		if !f.blind {
			t.Errorf("%s: replies are still counted", name)
		}
	}
	f := unlinked()
	arrive(t, f, "+OK\r\nHTTP/1.1 200 OK\r\n", "+OK\r\nHTTP/1.1 200 OK\r\n", false)
	arrive(t, f, "+a", "+a", false)
	arrive(t, f, "b", "b", false)
}

// TestSwallowedWriteIsWritten is the fault as it is met: the command was carried
// out, once, and its client cannot know.
func TestSwallowedWriteIsWritten(t *testing.T) {
	s := redistest.Start(t)
	p := New(t, s.Addr)
	lost := false
	p.SwallowReply(func(cmd []string) bool {
		first := !lost && slices.Equal(cmd, []string{"XADD", "log", "*", "k", "v"})
		lost = lost || first
		return first
	})
	c := dial(t, p)
	send(t, c, "PING\r\n*5\r\n$4\r\nXADD\r\n$3\r\nlog\r\n$1\r\n*\r\n$1\r\nk\r\n$1\r\nv\r\n")
	wantEnd(t, c, "+PONG\r\n")
	c = dial(t, p)
	send(t, c, "XLEN log\r\n")
	want(t, c, ":1\r\n")
}

func TestSwappedRepliesOfAServer(t *testing.T) {
	s := redistest.Single(t)
	p := New(t, s.Addr)
	p.SwapReplies(1)
	c := dial(t, p)
	send(t, c, "ECHO a\r\nECHO b\r\nECHO c\r\n")
	want(t, c, "$1\r\nb\r\n$1\r\na\r\n$1\r\nc\r\n")
}
