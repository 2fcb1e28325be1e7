package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/bench/cache"
)

// all reads a trace to its end.
func all(t testing.TB, r *Reader) ([]Request, error) {
	t.Helper()
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	var list []Request
	for {
		var q Request
		switch err := r.Next(&q); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return list, err
		}
		list = append(list, q)
	}
}

func read(t testing.TB, name, text string) ([]Request, error) {
	t.Helper()
	r, err := NewReader(strings.NewReader(text), name)
	if err != nil {
		return nil, err
	}
	return all(t, r)
}

const ccHead = `{"id":"s1","block_size":64,"hash_id_scope":"local","tool_tokens":128,"system_tokens":64,"requests":`

func TestReadsSessions(t *testing.T) {
	got, err := read(t, "x", ccHead+oneLine(`[
		[0.0,300,10,0,[[1,4]],2.5,0,"m","tool_use","text"],
		{"sub":{"t":4.0,"tool_tokens":64,"system_tokens":0,"requests":[[1.5,130,1,0,[[8,2]],1,0,"h","end_turn","text"]]}},
		[5.0,520,20,3,[[5,3],[10,2]],1,0,"m","tool_use","tool_result"]]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Request{
		{Scope: "s1", First: true, Took: 2500 * time.Millisecond, Input: 300, Output: 10, Block: 64,
			Runs: []cache.Run{{Start: 1, Count: 4}}, Tools: 128, System: 64, Model: "m", Trigger: "user"},
		{Scope: "s1", At: 5 * time.Second, Took: time.Second, Input: 520, Output: 20, Block: 64,
			Runs: []cache.Run{{Start: 1, Count: 3}, {Start: 5, Count: 3}, {Start: 10, Count: 2}}, Tools: 128, System: 64, Model: "m", Trigger: "tool_result"},
		{Scope: "s1", Sub: true, At: 5500 * time.Millisecond, Took: time.Second, Input: 130, Output: 1, Block: 64,
			Runs: []cache.Run{{Start: 8, Count: 2}}, Tools: 64, Model: "h", Trigger: "user"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("requests differ (-want +got):\n%s", d)
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), "") }

func TestReadsArrivals(t *testing.T) {
	got, err := read(t, "kimi", `{"timestamp": 0, "input_length": 600, "output_length": 5, "hash_ids": [0, 1]}

{"timestamp": 1500, "input_length": 1400, "output_length": 7, "hash_ids": [0, 2, 3]}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []Request{
		{Scope: "kimi", First: true, Input: 600, Output: 5, Block: 512, Runs: []cache.Run{{Start: 0, Count: 2}}},
		{Scope: "kimi", At: 1500 * time.Millisecond, Input: 1400, Output: 7, Block: 512, Runs: []cache.Run{{Start: 0, Count: 1}, {Start: 2, Count: 2}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("requests differ (-want +got):\n%s", d)
	}
}

func TestReadsRounds(t *testing.T) {
	round := func(second, input, shared int, kind string) string {
		return fmt.Sprintf(`{"session_id":"a","model":"m","input_tokens_total":%d,"prefix_tokens":%d,"newly_append_tokens":%d,"output_tokens":3,"first_input_event_type":%q,"claude_cache_creation_input_tokens":7,"timing_events":[{"timestamp":"2026-06-01T05:40:%02dZ"},{"timestamp":"2026-06-01T05:40:%02dZ"}]}`+"\n",
			input, shared, input-shared, kind, second, second+2)
	}
	got, err := read(t, "x", round(10, 1000, 400, "user_message")+round(20, 1500, 0, "tool_result")+round(30, 600, 200, "user_message"))
	if err != nil {
		t.Fatal(err)
	}
	want := func(q Request) Request {
		q.Scope, q.Took, q.Output, q.Block, q.Model, q.Reported, q.CacheWrite = "a", 2*time.Second, 3, 1, "m", true, 7
		return q
	}
	if d := cmp.Diff([]Request{
		want(Request{First: true, Input: 1000, CacheRead: 400, Trigger: "user", Runs: []cache.Run{{Start: 0, Count: 1000}}}),
		want(Request{At: 10 * time.Second, Input: 1500, Trigger: "tool_result", Runs: []cache.Run{{Start: 0, Count: 1500}}}),
		want(Request{At: 20 * time.Second, Input: 600, CacheRead: 200, Trigger: "user", Runs: []cache.Run{{Start: 0, Count: 200}, {Start: 1500, Count: 400}}}),
	}, got); d != "" {
		t.Errorf("requests differ (-want +got):\n%s", d)
	}
}

// TestFaults: each names the file, the line and the reason.
func TestFaults(t *testing.T) {
	session := func(requests string) string { return ccHead + "[" + requests + "]}\n" }
	const first = `[0.0,128,1,0,[[1,2]],1,0,"m","end","text"]`
	f := func(text, want string) {
		t.Helper()
		_, err := read(t, "t.jsonl", text)
		if err == nil || err.Error() != want {
			t.Errorf("reading %.60q: error %v, want %s", text, err, want)
		}
	}
	f("", "t.jsonl: the trace is empty")
	f("\n \n", "t.jsonl: the trace is empty")
	f("time,tokens\n", "t.jsonl:1: unknown format: neither JSON lines nor a header log of Preface")
	f(`{"prompt":1}`, "t.jsonl:1: unknown format: its first line has the members of none of cc-traces, mooncake, tracelab")
	f("\n"+session(first)+session(first+`,[1,64,1,3,[],1,0,"m","end","text"]`), `t.jsonl:3: a request of "s1" keeps 3 blocks of the one before, which has 2`)
	f(session(first+`,[1,128,1,2,[],1,0,"m","end"]`), `t.jsonl:1: a request of "s1" is not the array of 10 members that it must be`)
	f(session(first+`,[1,"128",1,2,[],1,0,"m","end","text"]`), `t.jsonl:1: a request of "s1" is not the array of 10 members that it must be`)
	f(session(`[1,128,1,0,[[5,1],[2,1]],1,0,"m","end","text"]`), `t.jsonl:1: a request of "s1": block ids go backwards in a prompt`)
	f(session(`[1,128,1,0,[[-1,2]],1,0,"m","end","text"]`), `t.jsonl:1: a request of "s1": block ids go backwards in a prompt`)
	f(session(`[1,1280,1,0,[[1,2]],1,0,"m","end","text"]`), `t.jsonl:1: a request of "s1": 1280 tokens are 20 blocks of 64, and it has 2: is the block size another one?`)
	f(session(`[1,128,1,0,[[4000000000,2]],1,0,"m","end","text"]`), `t.jsonl:1: a request of "s1": a block has a number beyond 268435456: numbers must be dense`)
	f(session(`[1,128,1,0,[[9223372036854775807,2]],1,0,"m","end","text"]`), `t.jsonl:1: a request of "s1": a block has a number beyond 268435456: numbers must be dense`)
	f(session(`[1,-5,1,0,[],1,0,"m","end","text"]`), `t.jsonl:1: a request of "s1": a number of tokens is negative or beyond belief`)
	f(session(`[5,128,1,0,[[1,2]],1,0,"m","end","text"],`+first), `t.jsonl:1: times out of order: request 2 of "s1" is at 0s, after 5s`)
	f(session(`[-5,128,1,0,[[1,2]],1,0,"m","end","text"]`), `t.jsonl:1: a request of "s1": a time before the beginning`)
	f(session(`{"task":1}`), `t.jsonl:1: an object among the requests of "s1" that is no subagent`)
	f(strings.Replace(session(first), "local", "global", 1), `t.jsonl:1: hash_id_scope is "global"; only block ids of one session are known here`)
	f(strings.Replace(session(first), ":64,", ":0,", 1), `t.jsonl:1: a request of "s1": the block size is no number of tokens from 1 to 1,048,576`)
	f(strings.Replace(session(first), `"tool_tokens":128`, `"tool_tokens":"many"`, 1), `t.jsonl:1: tool_tokens is a string, which it must not be`)
	f(session(first)+"{", "t.jsonl:2: not JSON: unexpected end of JSON input")
	const arrival = `{"timestamp": 10, "input_length": 600, "output_length": 5, "hash_ids": [0, 1]}` + "\n"
	f(arrival+strings.Replace(arrival, "10", "9", 1), "t.jsonl:2: times out of order: 9ms after 10ms")
	f(arrival+strings.Replace(arrival, "[0, 1]", "[0]", 1), "t.jsonl:2: 600 tokens are 2 blocks of 512, and it has 1: is the block size another one?")
	f(arrival+strings.Replace(arrival, "[0, 1]", "[1, 0]", 1), "t.jsonl:2: block ids go backwards in a prompt")
	f(`{"session_id":"","newly_append_tokens":1}`, "t.jsonl:1: a round without session_id")
	f(`{"session_id":"a","newly_append_tokens":1}`, "t.jsonl:1: a round without timing_events, so that nobody knows when it was")
	f(`{"session_id":"a","newly_append_tokens":1,"input_tokens_total":5,"timing_events":[{"timestamp":"2026-06-01T05:40:00Z"}]}`,
		"t.jsonl:1: prefix_tokens 0 and newly_append_tokens 1 are not input_tokens_total 5")
}

func TestPackedTraces(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(sample()); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(bytes.NewReader(b.Bytes()), "t.gz")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := all(t, r)
	if err != nil {
		t.Fatal(err)
	}
	f := func(packed []byte, want string) {
		t.Helper()
		r, err := NewReader(bytes.NewReader(packed), "t.gz")
		var list []Request
		if err == nil {
			list, err = all(t, r)
		}
		if err == nil || err.Error() != want || len(list) >= len(whole) {
			t.Errorf("reading %d of %d bytes: %d requests, error %v; want %s", len(packed), b.Len(), len(list), err, want)
		}
	}
	f([]byte("\x1f\x8b and no more"), "t.gz: it begins as gzip does and is none: gzip: invalid header")
	f(b.Bytes()[:200], "t.gz:1: the file ends in the middle: it is cut off")
	f(b.Bytes()[:b.Len()-20], "t.gz:24: the file ends in the middle: it is cut off")
}

// TestSample: it is the same on each run, valid, and has what a trace can have.
func TestSample(t *testing.T) {
	if !bytes.Equal(sample(), sample()) {
		t.Error("two samples differ")
	}
	r, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	list, err := all(t, r)
	if err != nil {
		t.Fatal(err)
	}
	firsts, subs, triggers, long := 0, 0, map[string]int{}, time.Duration(0)
	for i, q := range list {
		if triggers[q.Trigger]++; q.First {
			firsts++
		} else {
			long = max(long, q.At-list[i-1].At)
		}
		if q.Sub {
			subs++
		}
	}
	if firsts != sampleSessions || subs == 0 || triggers["user"] == 0 || triggers["tool_result"] == 0 || long < time.Hour {
		t.Errorf("sample: %d sessions, %d requests of subagents, triggers %v, longest pause %v", firsts, subs, triggers, long)
	}
}

// TestStreams: memory does not grow with a trace's length.
func TestStreams(t *testing.T) {
	one := sample()
	const times = 400 // some 80 MB
	pr, pw := io.Pipe()
	go func() {
		for range times {
			if _, err := pw.Write(one); err != nil {
				return
			}
		}
		_ = pw.Close() // a pipe's never fails
	}()
	r, err := NewReader(pr, "long")
	if err != nil {
		t.Fatal(err)
	}
	var q Request
	var early, late runtime.MemStats
	n := 0
	for ; r.Next(&q) == nil; n++ {
		if n == 2000 {
			runtime.GC()
			runtime.ReadMemStats(&early)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&late)
	if grown := int64(late.HeapAlloc) - int64(early.HeapAlloc); grown > 4<<20 {
		t.Errorf("after %d requests the heap has grown by %d bytes", n, grown)
	}
	if got := r.Info().Read; got != int64(times*len(one)) {
		t.Errorf("read %d bytes, want %d", got, times*len(one))
	}
}

// TestPublishedTraces reads the real ones: their sizes are those of
// facts/economics.md 3 and 4.
func TestPublishedTraces(t *testing.T) {
	f := func(file, format string, scopes, requests int, input int64) {
		t.Helper()
		path := filepath.Join("..", "..", "..", "shared", "data", file)
		if _, err := os.Stat(path); err != nil {
			t.Skipf("the published traces are not here: %v", err)
		}
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if r.Info().Format != format || r.Info().Size == 0 {
			t.Errorf("%s: %+v, want format %s and a size", file, r.Info(), format)
		}
		list, err := all(t, r)
		if err != nil {
			t.Fatal(err)
		}
		firsts, n, sum := 0, 0, int64(0)
		for _, q := range list {
			if q.First {
				firsts++
			}
			if !q.Sub {
				n++
				sum += q.Input
			}
		}
		if firsts != scopes || n != requests || sum != input {
			t.Errorf("%s: %d scopes, %d requests, %d tokens; want %d, %d, %d", file, firsts, n, sum, scopes, requests, input)
		}
		if i := r.Info(); i.Read != i.Size {
			t.Errorf("%s: at the end %d bytes of %d were read", file, i.Read, i.Size)
		}
	}
	f("cc_traces_rle.jsonl.gz", "cc-traces", 710, 48_658, 6_006_837_305)
	f("mooncake_conversation_trace.jsonl.gz", "mooncake", 1, 12_031, 144_793_823)
	f("mooncake_synthetic_trace.jsonl.gz", "mooncake", 1, 3_993, 61_194_628)
	f("tracelab_sanitized_round_trace.jsonl", "tracelab", 2, 19, 514_012)
}

// FuzzTrace: no bytes make a reader panic, run on for ever, or give a request
// that contradicts itself.
func FuzzTrace(f *testing.F) {
	f.Add([]byte(ccHead + `[[0.0,128,1,0,[[1,2]],1,0,"m","end","text"],{"sub":{"t":1,"requests":[]}}]}`))
	f.Add([]byte(`{"timestamp": 0, "input_length": 600, "output_length": 5, "hash_ids": [0, 1]}`))
	f.Add([]byte(`{"session_id":"a","newly_append_tokens":5,"input_tokens_total":5,"timing_events":[{"timestamp":"2026-06-01T05:40:00Z"}]}`))
	f.Add([]byte("\x1f\x8b\x08\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := NewReader(bytes.NewReader(b), "fuzz")
		if err != nil {
			return
		}
		list, _ := all(t, r) // any error will do
		for _, q := range list {
			if why := q.check(count(q.Runs)); why != "" {
				t.Errorf("a request that contradicts itself: %s", why)
			}
		}
	})
}
