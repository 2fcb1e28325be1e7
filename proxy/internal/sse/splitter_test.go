package sse

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// collect feeds the chunks and renders each event as name|data, in order.
func collect(s *Splitter, chunks ...string) []string {
	var got []string
	for _, c := range chunks {
		p := []byte(c)
		s.Feed(p, func(ev Event) { got = append(got, render(ev)) })
		for i := range p { // an event that still points here would show it
			p[i] = '#'
		}
	}
	return got
}

func render(ev Event) string {
	if ev.Oversize {
		return fmt.Sprintf("%s|oversize %d", ev.Name, len(ev.Data))
	}
	return fmt.Sprintf("%s|%s", ev.Name, ev.Data)
}

func TestSplitter(t *testing.T) {
	f := func(name, stream string, want ...string) {
		t.Helper()
		for _, c := range [][]string{{stream}, bytesOf(stream)} {
			if diff := cmp.Diff(want, collect(new(Splitter), c...)); diff != "" {
				t.Errorf("%s: Feed(%q) in %d chunks (-want +got):\n%s", name, stream, len(c), diff)
			}
		}
	}
	f("nothing", "")
	f("one", "data: a\n\n", "|a")
	f("named", "event: x\ndata: a\n\n", "x|a")
	f("name after data", "data: a\nevent: x\n\n", "x|a")
	f("last name wins", "event: x\nevent: y\ndata: a\n\n", "y|a")
	f("name does not outlive its event", "event: x\n\ndata: a\n\n", "|a")
	f("no space", "event:x\ndata:a\n\n", "x|a")
	f("one space is dropped", "data:  a\n\n", "| a")
	f("tab is not dropped", "data:\ta\n\n", "|\ta")
	f("joined", "data: a\ndata: b\n\n", "|a\nb")
	f("empty data is data", "data:\n\ndata\ndata\n\ndata:test\n\n", "|", "|\n", "|test")
	f("empty first line after a longer event", "data: abc\ndata: d\n\ndata\ndata: e\n\n", "|abc\nd", "|\ne")
	f("no data, no event", "event: x\nid: 1\n\nretry: 3\n\n:\n\n")
	f("comments", ": hi\ndata: a\n:data: b\n\n", "|a")
	f("other fields", "id: 1\ndatax: b\nDATA: c\n data: d\neventual: z\nretry: 1\ndata: a\n\n", "|a")
	f("field without colon", "event\ndata: a\n\n", "|a")
	f("CR", "event: x\rdata: a\r\rdata: b\r\r", "x|a", "|b")
	f("CRLF", "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", "x|a", "|b")
	f("mixed", "data: a\r\ndata: b\r\rdata: c\n\r\n", "|a\nb", "|c")
	f("CRLF then an empty line of its own", "data: a\r\n\n", "|a")
	f("mark", "\ufeffdata: a\n\n", "|a")
	f("only one mark", "\ufeff\ufeffdata: a\n\ndata: b\n\n", "|b")
	f("mark later", "data: a\n\n\ufeffdata: b\n\n", "|a")
	f("half a mark", "\xef\xbbdata: a\n\ndata: b\n\n", "|b")
	f("unterminated", "data: a\n\ndata: b\n", "|a")
	f("unterminated line", "data: a\n\ndata: b", "|a")
	f("many blank lines", "\n\n\r\n\rdata: a\n\n\n\n", "|a")
	f("NUL and text", "data: a\x00ü€😀\n\n", "|a\x00ü€😀")
}

// bytesOf cuts between bytes, so inside characters too.
func bytesOf(s string) []string {
	out := make([]string, len(s))
	for i := range len(s) {
		out[i] = s[i : i+1]
	}
	return out
}

func TestSplitterWant(t *testing.T) {
	s := Splitter{Want: func(name []byte) bool { return string(name) != "no" }}
	stream := "event: no\ndata: a\ndata: b\n\nevent: yes\ndata: c\n\ndata: d\nevent: no\n\n"
	want := []string{"yes|c", "no|d"} // the last was asked about before it had a name
	if diff := cmp.Diff(want, collect(&s, bytesOf(stream)...)); diff != "" {
		t.Errorf("Feed(%q) (-want +got):\n%s", stream, diff)
	}
}

func TestInvariant2_UnwantedIsNotKept(t *testing.T) {
	s := Splitter{Want: func([]byte) bool { return false }}
	collect(&s, "event: no\ndata: ")
	for range 64 {
		collect(&s, strings.Repeat("x", 64<<10))
	}
	if n := cap(s.line) + cap(s.dataBuf); n > 64 {
		t.Errorf("%d bytes kept of an unwanted event, want a line's head", n)
	}
}

func TestInvariant2_Limit(t *testing.T) {
	f := func(stream string, want ...string) {
		t.Helper()
		for _, c := range [][]string{{stream}, bytesOf(stream)} {
			s := Splitter{Limit: 8}
			if diff := cmp.Diff(want, collect(&s, c...)); diff != "" {
				t.Errorf("Feed(%q) in %d chunks (-want +got):\n%s", stream, len(c), diff)
			}
			if n := cap(s.line) + cap(s.dataBuf) + cap(s.nameBuf); n > 96 {
				t.Errorf("Feed(%q): %d bytes kept under a limit of 8", stream, n)
			}
		}
	}
	long := strings.Repeat("x", 1000)
	f("data: 12345678\n\n", "|12345678")
	f("data: 123456789\n\ndata: b\n\n", "|oversize 0", "|b")
	f("data:123456789\n\ndata: b\n\n", "|oversize 0", "|b")
	f("event: n\ndata: "+long+"\ndata: c\n\ndata: b\n\n", "n|oversize 0", "|b")
	f("data: 1234\ndata: 567\n\n", "|1234\n567")
	f("data: 1234\ndata: 5678\n\ndata: b\n\n", "|oversize 0", "|b")
	f("event: "+long+"\ndata: a\n\ndata: b\n\n", "|oversize 0", "|b")
	f(":"+long+"\nid: "+long+"\ndata: a\n\n", "|a")
}

func TestInvariant2_BigBuffersAreLetGo(t *testing.T) {
	var s Splitter
	collect(&s, "data: ", strings.Repeat("x", DefaultLimit/2), "\n\n")
	if n := cap(s.line) + cap(s.dataBuf); n > kept {
		t.Errorf("%d bytes kept after a large event, want at most %d", n, kept)
	}
}

func TestOffsets(t *testing.T) {
	f := func(want []string, chunks ...string) {
		t.Helper()
		var s Splitter
		var got []string
		stream := strings.Join(chunks, "")
		for _, c := range chunks {
			s.Feed([]byte(c), func(ev Event) { got = append(got, stream[ev.Start:ev.End]) })
		}
		got = append(got, stream[s.Open():])
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ranges of %q (-want +got):\n%s", chunks, diff)
		}
	}
	f([]string{"data: a\n\n", ":c\ndata: b\n\n", "da"}, "data: a\n\n:c\ndata: b\n\nda")
	f([]string{"data: a\n\n", "data: b\n\n", ""}, "data: a\n\n\n\nda", "ta: b\n", "\n")
	f([]string{"data: a\r\n\r\n", "data: b\r\n\r\n", "x"}, "data: a\r\n\r\ndata: b\r\n\r\nx")
	f([]string{"data: a\r\n\r", "data: b\r\n\r\n", ""}, "data: a\r\n\r", "\ndata: b\r\n\r\n")
	f([]string{"data: a\r\n"}, "data: a", "\r", "\n")
}

// reference is the slow reading of the rules over a whole stream. What is over
// the limit ends the reading of its event.
func reference(stream string, limit int) []string {
	stream = strings.TrimPrefix(stream, "\ufeff")
	stream = strings.ReplaceAll(strings.ReplaceAll(stream, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(stream, "\n")
	var out, data []string
	var name string
	var over bool
	for _, line := range lines[:len(lines)-1] {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if over {
				out = append(out, name+"|oversize 0")
			} else if data != nil {
				out = append(out, name+"|"+strings.Join(data, "\n"))
			}
			name, data, over = "", nil, false
		case over:
		case field == "event" && len(value) > limit:
			name, over = "", true
		case field == "event":
			name = value
		case field == "data":
			data = append(data, value)
			over = len(strings.Join(data, "\n")) > limit
		}
	}
	return out
}

func TestInvariant1_AnyChunking(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"\n", "\r", "\r\n", "\n\n", "\r\n\r\n", "data", "data:", "data: ", "event: ", "event:", ": c", "id: 7", "retry: 1",
		"{\"a\":1}", " ", ":", "x", "ü", "\x00", "\ufeff", "\xef", "longer text than the limit takes", "data: [DONE]\n\n",
	})
	rapid.Check(t, func(t *rapid.T) {
		stream := strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "stream"), "")
		const limit = 24
		want := reference(stream, limit)
		chunks := cut(stream, func(n int) int { return rapid.IntRange(1, n).Draw(t, "cut") })
		s := Splitter{Limit: limit}
		got := collect(&s, chunks...)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("Feed(%q) differs from the reference (-want +got):\n%s", chunks, diff)
		}
		whole := Splitter{Limit: limit}
		if diff := cmp.Diff(collect(&whole, stream), got); diff != "" {
			t.Fatalf("Feed(%q) differs from the whole (-want +got):\n%s", chunks, diff)
		}
	})
}

// cut cuts s into pieces whose lengths next chooses from what is left.
func cut(s string, next func(n int) int) []string {
	var out []string
	for len(s) > 0 {
		n := next(len(s))
		out, s = append(out, s[:n]), s[n:]
	}
	return out
}

func FuzzSplitter(f *testing.F) {
	f.Add([]byte("\ufeffevent: a\r\ndata: {}\r\n\r\n: c\rdata: b\r\rdata\n\n"), uint64(0x5a5a))
	f.Add([]byte("data: [DONE]\n\n"), uint64(1))
	f.Fuzz(func(t *testing.T, stream []byte, cuts uint64) {
		if len(stream) > 4096 {
			return
		}
		chunks := cut(string(stream), func(n int) int {
			cuts = cuts*6364136223846793005 + 1442695040888963407
			return 1 + int(cuts>>33)%min(n, 40)
		})
		want := reference(string(stream), DefaultLimit)
		if diff := cmp.Diff(want, collect(new(Splitter), chunks...)); diff != "" {
			t.Errorf("Feed(%q) (-want +got):\n%s", chunks, diff)
		}
		if diff := cmp.Diff(want, collect(new(Splitter), string(stream))); diff != "" {
			t.Errorf("Feed(%q) whole (-want +got):\n%s", stream, diff)
		}
	})
}

func TestInvariant2_NoAllocation(t *testing.T) {
	stream := bytes.Repeat([]byte("event: content_block_delta\ndata: {\"type\":\"content_block_delta\"}\n\n"), 100)
	var s Splitter
	n := 0
	feed := func() {
		s.Feed(stream[:1000], func(Event) { n++ })
		s.Feed(stream[1000:], func(Event) { n++ })
	}
	feed()
	if got := testing.AllocsPerRun(10, feed); got != 0 {
		t.Errorf("Feed allocates %v times per 100 events, want 0", got)
	}
}
