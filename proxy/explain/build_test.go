package explain

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// The dialects, and a model of each family of rules.
const (
	anthropic = "anthropic"
	chat      = "openai-chat"
	responses = "openai-responses"

	opus   = "claude-opus-5-5"
	sol    = "gpt-5.6-sol"
	gpt5   = "gpt-5.4"
	routed = "anthropic/claude-opus-5.5"
)

// noon is when the first request of a test is sent.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// A say is a message of a test.
type say struct {
	role  Role
	text  string
	holds Holds
	as    string // other spelling of the same, if set
}

func user(text string) say      { return say{role: User, text: text} }
func assistant(text string) say { return say{role: Assistant, text: text} }
func result(text string) say    { return say{role: Tool, text: text, holds: HoldsToolResult} }

// talk is a conversation of so many turns: user, assistant, user, …
func talk(n int) []say {
	out := make([]say, n)
	for i := range out {
		if out[i] = user(fmt.Sprintf("question %d", i)); i%2 == 1 {
			out[i] = assistant(fmt.Sprintf("answer %d", i))
		}
	}
	return out
}

// An ask is a request of a test, before it is made.
type ask struct {
	r        Request
	tools    string // the list
	system   string // its spans
	params   string
	says     []say
	bare     bool // digests only, as at the capture level prefix
	read     int64
	written  int64
	fresh    int64
	untold   bool // reads are not reported
	unsplit  bool // writes are not reported
	fiveTold bool // writes are of the 5m class although 1h was asked for
}

// opened is the first request of a thread in a dialect; it wrote 10,000 tokens.
func opened(dialect, model string) ask {
	a := ask{
		r: Request{ID: "r1", Dialect: dialect, Model: model, Host: "api.example", Account: "acme", Prefix: "sha256:aa", PrefixBytes: 400,
			Start: noon, FirstByte: noon.Add(2 * time.Second), WantsUsage: true, Complete: true, Epoch: 1},
		tools:  `[{"name":"read","description":"Reads a file."},{"name":"write","description":"Writes a file."},{"name":"run"}]`,
		params: fmt.Sprintf(`"model":%q,"max_tokens":1000`, model), says: talk(3), written: 10_000, fresh: 20,
	}
	switch dialect {
	case anthropic:
		a.system = `[{"type":"text","text":"You are an agent."},{"type":"text","text":"Session 36ee5 of today."}]`
	default:
		a.system = `{"role":"system","content":"You are an agent."},{"role":"system","content":"Session 36ee5 of today."}`
		a.tools = `[{"type":"function","function":{"name":"read","description":"Reads a file."}},{"type":"function","function":{"name":"write","description":"Writes a file."}},{"type":"function","function":{"name":"run"}}]`
	}
	if rulesOf(dialect, model).kind == byMarks {
		a.r.Marks = []Mark{{InSystem, 1, 0, ""}, {InMessages, 2, 0, ""}}
	}
	return a
}

// next is the request after a in its thread, which reads all that a left.
func (a ask) next() ask {
	b := a
	b.r.ID = "r" + string(rune(a.r.ID[1]+1))
	b.r.Start, b.r.FirstByte = a.r.Start.Add(20*time.Second), a.r.Start.Add(22*time.Second)
	b.says = append(slices.Clone(a.says), assistant("answer to "+a.r.ID), user("question of "+b.r.ID))
	b.r.Marks = slices.Clone(a.r.Marks)
	if n := len(b.r.Marks); n > 0 && b.r.Marks[n-1].Section == InMessages {
		b.r.Marks[n-1].Index = len(b.says) - 1
	}
	b.read, b.written, b.fresh = a.read+a.written, 500, 20
	if rulesOf(a.r.Dialect, a.r.Model).kind == byPrefix {
		b.read = (a.read + a.written + a.fresh) / 128 * 128
	}
	return b
}

// short is a that read only so much of what it could have.
func (a ask) short(read int64) ask {
	a.written += a.read - read
	a.read = read
	return a
}

func (a ask) with(change func(*ask)) ask { change(&a); return a }

// made is the request. Its body is the sections with a byte between them.
func (a ask) made() *Request {
	r := a.r
	at := 1
	section := func(text string) Section {
		if text == "" {
			return Section{}
		}
		s := Section{Digest: digestOf(text), Bytes: []byte(text), Spans: []Span{{at, at + len(text)}}}
		at += len(text) + 1
		if a.bare {
			s.Bytes, s.Spans = nil, nil
		}
		return s
	}
	r.Parameters, r.Tools, r.System = section(a.params), section(a.tools), section(a.system)
	r.Messages = nil
	for _, s := range a.says {
		m := Message{Content: digestOf(fmt.Sprint(s.role, s.text)), Role: s.role, Holds: s.holds, Blocks: 1, At: int32(at), Size: int32(100 + len(s.text))}
		m.Raw = binary.LittleEndian.Uint64(m.Content[:]) + uint64(len(s.as))
		if s.holds&HoldsImage != 0 {
			m.Images = uint32(len(s.as)) + 1
		}
		at += int(m.Size) + 1
		r.Messages = append(r.Messages, m)
	}
	r.Usage = a.usage()
	return &r
}

func (a ask) usage() usage.Usage {
	u := usage.Usage{Fresh: usage.Of(a.fresh), CacheRead: usage.Of(a.read), Output: usage.Of(100)}
	switch kind := rulesOf(a.r.Dialect, a.r.Model).kind; {
	case a.untold:
		return usage.Usage{}
	case kind == byPrefix || a.unsplit:
		u.Fresh = usage.Of(a.fresh + a.written)
	case kind == byBoundaries:
		u.WriteOther = usage.Of(a.written)
	case len(a.r.Marks) > 0 && a.r.Marks[len(a.r.Marks)-1].TTL == "1h" && !a.fiveTold:
		u.Write1h, u.Write5m = usage.Of(a.written), usage.Of(0)
	default:
		u.Write5m, u.Write1h = usage.Of(a.written), usage.Of(0)
	}
	return u
}

func digestOf(s string) (d Digest) {
	sum := sha256.Sum256([]byte(s))
	copy(d[:], sum[:])
	return d
}

// body is made's body as far as sections go, for offsets.
func (a ask) body() string { return "{" + a.params + "," + a.tools + "," + a.system + "," }

// A want is what a verdict should be.
type want struct {
	cause, owner, section string
	detail                string // a part of it
	waste                 bool
}

func (w want) check(t *testing.T, got Verdict) {
	t.Helper()
	if got.Cause != w.cause || got.Owner != w.owner || got.Section != w.section || got.Waste != w.waste || !strings.Contains(got.Detail, w.detail) {
		t.Errorf("verdict = %s/%s/%s waste=%v %q\nwant %s/%s/%s waste=%v …%q…",
			got.Cause, got.Owner, got.Section, got.Waste, got.Detail, w.cause, w.owner, w.section, w.waste, w.detail)
	}
}

// observe feeds requests of one thread and returns the verdict on the last.
func observe(t *testing.T, asks ...ask) Verdict {
	t.Helper()
	v, _ := alarmed(asks...)
	return v
}

func alarmed(asks ...ask) (Verdict, []Alarm) {
	tr := NewTracker(Options{})
	var v Verdict
	var all []Alarm
	for _, a := range asks {
		var alarms []Alarm
		v, alarms = tr.Observe("t", a.made())
		all = append(all, alarms...)
	}
	return v, all
}
