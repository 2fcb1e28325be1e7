package dialect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var _ UsageFilter = (*chatStream)(nil)

// filter passes the chunks through and returns all that was relayed.
func filter(f UsageFilter, chunks ...string) string {
	var out strings.Builder
	for _, c := range chunks {
		p := []byte(c)
		out.Write(f.Filter(p))
		clear(p)
	}
	out.Write(f.Rest())
	return out.String()
}

func TestFilterTakesOutTheUsageChunk(t *testing.T) {
	for _, r := range recordings(t) {
		if !strings.HasPrefix(r.name, "chat_") {
			continue
		}
		if r.relayed == "" {
			r.relayed = r.stream
		}
		for _, eol := range []string{"\n", "\r\n", "\r"} {
			stream, want := strings.ReplaceAll(r.stream, "\n", eol), strings.ReplaceAll(r.relayed, "\n", eol)
			for _, chunks := range [][]string{{stream}, bytesOf(stream)} {
				m := newChatMeter(Turn, true).(UsageFilter)
				if diff := cmp.Diff(want, filter(m, chunks...)); diff != "" {
					t.Errorf("%s with %q in %d chunks relays (-want +got):\n%s", r.name, eol, len(chunks), diff)
				}
				if diff := cmp.Diff(r.report, show(m.Report())); diff != "" {
					t.Errorf("%s with %q in %d chunks reports (-want +got):\n%s", r.name, eol, len(chunks), diff)
				}
			}
		}
	}
}

// usageChunk has every sign of one in its text too.
const usageChunk = `data: {"choices":[],"id":"[DONE]","usage":{"prompt_tokens":1,"completion_tokens":2}}`

// Whatever surrounds it and however the stream is cut, all but the usage chunk
// is relayed, in order and unchanged.
func TestI3_FilterKeepsAllElse(t *testing.T) {
	other := rapid.SampledFrom([]string{
		`data: {"choices":[{"index":0,"delta":{"content":"ü\"choices\":[],\"usage\":{}"}}],"usage":null}`,
		`data: {"choices":[],"usage":null}`,
		`data: {"choices":[{"index":0}],"usage":{"prompt_tokens":1}}`,
		`data: {"choices":[],"usage":{"prompt_tokens":}}`, // no JSON
		`data: {"error":{"type":"x"}}`,
		`data: [DONE]`, `data:`, `data`, `id: 7`, `event: x`, `: usage`, ``, `nonsense`,
		`data: {"x":"` + strings.Repeat("y", 700) + `"}`,
	})
	rapid.Check(t, func(t *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "eol")
		var before, after strings.Builder
		for _, b := range []*strings.Builder{&before, &after} {
			for _, line := range rapid.SliceOfN(other, 0, 8).Draw(t, "lines") {
				b.WriteString(line + eol)
				b.WriteString(rapid.SampledFrom([]string{eol, eol, eol + eol}).Draw(t, "blank"))
			}
		}
		comment := rapid.SampledFrom([]string{"", ": c" + eol, ":" + eol + ": c" + eol}).Draw(t, "comment")
		cutOff := rapid.SampledFrom([]string{"", "data: {\"choices\":[],\"usage\":{"}).Draw(t, "cut off")
		stream := before.String() + comment + usageChunk + eol + eol + after.String() + cutOff
		want := before.String() + comment + after.String() + cutOff

		m := newChatMeter(Turn, true).(UsageFilter)
		got := filter(m, chunksOf(t, stream)...)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("Filter of %q relays (-want +got):\n%s", stream, diff)
		}
		plain := newChatMeter(Turn, true)
		feed(plain, stream)
		if diff := cmp.Diff(plain.Report(), m.Report()); diff != "" {
			t.Fatalf("report of %q through Write and Filter (-Write +Filter):\n%s", stream, diff)
		}
	})
}

// The LF that ends the line of a CR goes with the chunk, and only that one.
func TestFilterBetweenCRAndLF(t *testing.T) {
	f := func(want string, chunks ...string) {
		t.Helper()
		m := newChatMeter(Turn, true).(UsageFilter)
		if got := filter(m, chunks...); got != want {
			t.Errorf("Filter of %q relays %q, want %q", chunks, got, want)
		}
	}
	f("data: a\n\n", usageChunk+"\r\n\r", "\ndata: a\n\n")
	f("data: a\n\n", usageChunk+"\r\n\r", "\n", "data: a\n\n")
	f("\n", usageChunk+"\r\n\r", "\n", "\n")
	f("data: a\n\n", usageChunk+"\r\rdata: a", "\n\n")
	f("data: a\n\n", usageChunk+"\r\rdata: a\n", "\n")
	f("data: a\r\r", usageChunk+"\r\r", "data: a\r", "\r")
	f("data: a\r\r\n", usageChunk+"\r\r", "data: a\r\r", "\n")
}

// What cannot be the usage chunk any more is relayed at once.
func TestCaseF2_FilterHoldsBackOnlyWhatMayBeUsage(t *testing.T) {
	var in, out strings.Builder
	m := newChatMeter(Turn, true).(UsageFilter)
	f := func(chunk, wantHeld string) {
		t.Helper()
		in.WriteString(chunk)
		out.Write(m.Filter([]byte(chunk)))
		if got := in.String()[out.Len():]; got != wantHeld {
			t.Errorf("after %.60q held back %.60q, want %.60q", chunk, got, wantHeld)
		}
	}
	f("data: {\"choices\":[{\"index\":0}]}\n\n", "")
	f(": ping\n", "")
	f(": ping\n\n", "")
	f("data: {\"cho", "data: {\"cho")
	f("ices\":", "data: {\"choices\":")
	f("[{\"index\":0", "")
	f(",\"usage\":", "")
	f("null}]}\n", "")
	f("\ndata: [DO", "data: [DO")
	f("NE]\n", "data: [DONE]\n")
	f("\n", "")
	f("data: {\"x\":\"", "data: {\"x\":\"")
	f(strings.Repeat("x", maxUsageChunk), "")
	f("\",\"choices\":[],\"usage\":{}}\n\n", "") // too late to take it out
	if got := m.Rest(); len(got) != 0 || out.String() != in.String() {
		t.Errorf("Rest = %q, want nothing; all relayed = %v", got, out.String() == in.String())
	}
}

// An event that lies whole in what was read is relayed without a copy.
func TestFilterDoesNotCopy(t *testing.T) {
	m := newChatMeter(Turn, true).(UsageFilter)
	p := []byte("data: {\"id\":\"a\",\"model\":\"b\",\"choices\":[{\"index\":0}]}\n\n")
	if got := m.Filter(p); len(got) != len(p) || &got[0] != &p[0] {
		t.Errorf("Filter returned other bytes than those it was given")
	}
	if got := testing.AllocsPerRun(100, func() { m.Filter(p) }); got != 0 {
		t.Errorf("Filter allocates %v times per event, want 0", got)
	}
}

func FuzzFilter(f *testing.F) {
	for _, r := range recordings(f) {
		f.Add([]byte(r.stream), uint8(len(r.stream)%251))
	}
	f.Add([]byte(":\r\n"+usageChunk+"\r\n\r\n\ndata\r\r"), uint8(0))
	f.Fuzz(func(t *testing.T, stream []byte, size uint8) {
		if len(stream) > 1<<14 {
			return
		}
		var chunks []string
		for rest := string(stream); rest != ""; {
			n := min(len(rest), int(size)+1)
			chunks, rest = append(chunks, rest[:n]), rest[n:]
		}
		whole := filter(newChatMeter(Turn, true).(UsageFilter), string(stream))
		parts := filter(newChatMeter(Turn, true).(UsageFilter), chunks...)
		if whole != parts {
			t.Errorf("Filter of %q relays %q whole, %q in parts of %d", stream, whole, parts, size+1)
		}
		if again := filter(newChatMeter(Turn, true).(UsageFilter), whole); again != whole {
			t.Errorf("Filter of %q relays %q, and of that %q", stream, whole, again)
		}
	})
}

func ExampleUsageFilter() {
	m := newChatMeter(Turn, true).(UsageFilter)
	for _, read := range []string{"data: {\"choices\":[{}]}\n\ndata: {\"cho", "ices\":[],\"usage\":{\"prompt_tokens\":3}}\n\n", "data: [DONE]\n\n"} {
		fmt.Printf("%q\n", m.Filter([]byte(read)))
	}
	fmt.Println(m.Report().Usage.Input().N)
	// Output:
	// "data: {\"choices\":[{}]}\n\n"
	// ""
	// "data: [DONE]\n\n"
	// 3
}
