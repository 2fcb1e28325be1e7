package explain

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drawAsk is a request with a little of everything, from few enough values for
// requests to be alike in part.
func drawAsk(t *rapid.T) ask {
	f := rapid.SampledFrom(families).Draw(t, "family")
	a := opened(f.dialect, f.model)
	pick := func(name string, values ...string) string { return rapid.SampledFrom(values).Draw(t, name) }
	a.r.ID = pick("id", "r1", "r2", "r3")
	a.r.Host, a.r.Account, a.r.Key = pick("host", "a", "b"), pick("account", "a", "b"), pick("key", "", "k")
	a.r.Betas, a.r.Prefix, a.r.Epoch = pick("betas", "", "x,y"), pick("prefix", "", "p"), rapid.IntRange(0, 1).Draw(t, "epoch")
	a.params += pick("params", "", `,"speed":"fast"`, `,"thinking":{"type":"adaptive"}`, `,"what":[1]`, `,"prompt_cache_options":{"mode":"explicit"}`)
	a.system = pick("system", a.system, "", `"x"`, `[{"type":"text","text":"2026-11-30"}]`, `[{"type":"text","text":"2026-12-01"}]`, "{", `,,"`)
	a.tools = pick("tools", a.tools, "", `[{"name":"x"}]`, `[{"name":"x"},{}]`, `[[`)
	a.says = a.says[:0]
	for range rapid.IntRange(0, 6).Draw(t, "messages") {
		a.says = append(a.says, say{
			Role(rapid.IntRange(0, 4).Draw(t, "role")), pick("text", "a", "b", "c"), Holds(rapid.IntRange(0, 15).Draw(t, "holds")), pick("as", "", "x"),
		})
	}
	a.r.Marks = nil
	for range rapid.IntRange(0, 3).Draw(t, "marks") {
		a.r.Marks = append(a.r.Marks, Mark{Place(rapid.IntRange(0, 3).Draw(t, "place")), rapid.IntRange(0, 9).Draw(t, "index"), rapid.IntRange(0, 3).Draw(t, "block"), pick("ttl", "", "5m", "1h")})
	}
	a.bare, a.untold, a.unsplit = rapid.Bool().Draw(t, "bare"), rapid.Bool().Draw(t, "untold"), rapid.Bool().Draw(t, "unsplit")
	n := func(name string) int64 { return rapid.Int64Range(0, 20_000).Draw(t, name) }
	a.read, a.written, a.fresh = n("read"), n("written"), n("fresh")
	a.r.Continues = rapid.Bool().Draw(t, "continues")
	a.r.Start, a.r.FirstByte = drawTime(t), drawTime(t)
	return a
}

func drawTime(t *rapid.T) time.Time {
	if rapid.IntRange(0, 9).Draw(t, "no time") == 0 {
		return time.Time{}
	}
	return noon.Add(time.Duration(rapid.IntRange(0, 7200).Draw(t, "second")) * time.Second)
}

// changed are the causes that name a change of the client's.
var namesChange = map[string]bool{
	ModelChanged: true, ToolsChanged: true, SystemChanged: true, PrefixChanged: true, ParameterChanged: true,
	KeyChanged: true, UpstreamChanged: true, MarkMoved: true, LookbackExceeded: true,
}

// Whatever comes, in whatever order, a verdict has sane numbers, names a cause
// with an owner, and nothing grows beyond its bound.
func TestVerdictsAreSane(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := NewTracker(Options{Threads: 2, Messages: 60, Texts: 2000, Openings: 3})
		for range rapid.IntRange(1, 12).Draw(t, "requests") {
			a := drawAsk(t)
			r := a.made()
			v, _ := tr.Observe(rapid.SampledFrom([]string{"t", "u", "v"}).Draw(t, "thread"), r)
			if v.Missed < 0 || v.Expected < 0 || v.Missed > v.Expected || v.Offset < -1 || v.Index < -1 {
				t.Fatalf("numbers: %+v", v)
			}
			if (v.Cause == "") != (v.Owner == "") || v.Cause == "" && v != none || v.Cause != "" && v.Detail == "" || v.Cause == Unknown {
				t.Fatalf("verdict: %+v", v)
			}
			if !r.Usage.CacheRead.Known && v != none {
				t.Fatalf("usage is not reported, verdict %+v", v)
			}
		}
		if len(tr.threads) > 2 || tr.texts.used > 2000 || len(tr.openings.by) > 3 {
			t.Fatalf("kept %d threads, %d bytes, %d openings", len(tr.threads), tr.texts.used, len(tr.openings.by))
		}
	})
}

// Two equal requests never differ, and Compare finds nothing in them but that
// marks are missing.
func TestEqualRequestsNameNoChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAsk(t)
		b := a
		b.r.Start, b.read = a.r.Start.Add(time.Second), rapid.Int64Range(0, 20_000).Draw(t, "second read")
		tr := NewTracker(Options{})
		tr.Observe("t", a.made())
		if v, _ := tr.Observe("t", b.made()); namesChange[v.Cause] || v.Cause == HistoryRewritten && a.r.Continues {
			t.Fatalf("equal requests: %+v", v)
		}
		if v := Compare(a.made(), b.made(), nil, nil); v.Cause != "" && v.Cause != NoMark {
			t.Fatalf("Compare of equal requests: %+v", v)
		}
	})
}

// What is kept of a thread of 500 messages that drifts as much as it can.
func TestI10_MemoryOfAThread(t *testing.T) {
	const threads, limit = 16, 64 << 10
	tr := NewTracker(Options{})
	before := heap()
	for i := range threads {
		a := opened(anthropic, opus)
		a.r.ID = fmt.Sprintf("r%d", i)
		for n := 470; n <= 500; n++ {
			a.says = talk(n)
			last(&a)
			a.says[n/2].text = fmt.Sprintf("drift %d", n%7) // each on a line of its own
			a.r.Start = a.r.Start.Add(time.Second)
			tr.Observe(fmt.Sprintf("thread %d", i), a.made())
		}
	}
	each := (heap() - before) / threads
	if each > limit {
		t.Errorf("a thread of 500 messages takes %d bytes, want %d at most", each, limit)
	}
	t.Logf("%d bytes a thread", each)
	runtime.KeepAlive(tr)
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestObserveOfAHitAllocatesNothing(t *testing.T) {
	for _, f := range families {
		a := opened(f.dialect, f.model)
		tr := NewTracker(Options{})
		tr.Observe("t", a.made())
		b := a
		b.read, b.written = 10_000, 0
		if rulesOf(f.dialect, f.model).kind == byPrefix {
			b.fresh = 0
			b.read = 10_020
		}
		r := b.made()
		tr.Observe("t", r)
		if n := testing.AllocsPerRun(100, func() { tr.Observe("t", r) }); n != 0 {
			t.Errorf("%v: Observe of a hit allocates %v times, want 0", f, n)
		}
	}
}

func BenchmarkObserve(b *testing.B) {
	a := opened(anthropic, opus)
	a.says = talk(501)
	last(&a)
	bench := func(name string, change func(r *Request, i int)) {
		b.Run(name, func(b *testing.B) {
			tr := NewTracker(Options{})
			hit := a
			hit.read, hit.written = 10_000, 0
			tr.Observe("t", a.made())
			r := hit.made()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				change(r, i)
				tr.Observe("t", r)
			}
		})
	}
	bench("hit of 501 messages", func(*Request, int) {})
	bench("history edited at 250", func(r *Request, i int) {
		r.Usage.CacheRead.N = 0
		r.Messages[250].Content[0] = byte(i)
	})
	nonces := make([]Section, 256)
	for i := range nonces {
		nonces[i] = nonced(a, fmt.Sprintf("%05x", 0xb0000+i)).made().System
	}
	bench("nonce in the system prompt", func(r *Request, i int) {
		r.Usage.CacheRead.N = 0
		r.System = nonces[i%256]
	})
}
