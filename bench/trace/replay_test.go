package trace

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/bench/cache"
	"github.com/seed-9236c7ca/preface/logsink"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// A logged is one request of a session, with its answer.
type logged struct {
	second, messages, size int
	thread, header, class  string
	fresh, read, output    int64
	unanswered             bool
	more                   int64 // fresh and output tokens of a second run for the answer
}

func (l logged) records(id string, k logsink.Key) []logsink.Record {
	n := func(n int64) *int64 { return &n }
	at := noon.Add(time.Duration(l.second) * time.Second)
	class := l.class
	if class == "" {
		class = "turn"
	}
	recs := []logsink.Record{{Request: &logsink.Request{
		V: logsink.Version, ID: id, Key: k, Epoch: 1, Thread: l.thread, Attempt: 1, Header: l.header, Model: "m",
		Class: class, Decision: logsink.Inject, Messages: l.messages, Size: l.size, Time: at,
		Splices: []logsink.Splice{{Offset: 10, Length: l.size / 10, Kind: "prefix"}},
	}}}
	if l.unanswered {
		return recs
	}
	answer := &logsink.Response{
		V: logsink.Version, ID: id, Key: k, Epoch: 1, Thread: l.thread, Status: 200, Total: 3 * time.Second, End: logsink.EndComplete,
		Usage: &logsink.Usage{Fresh: n(l.fresh + l.more), CacheRead: n(l.read), Output: n(l.output + l.more)}, Time: at.Add(3 * time.Second),
	}
	if l.more > 0 {
		answer.Iterations = []logsink.Iteration{
			{Usage: &logsink.Usage{Fresh: n(l.fresh), CacheRead: n(l.read), Output: n(l.output)}}, {Usage: &logsink.Usage{Fresh: n(l.more), Output: n(l.more)}},
		}
	}
	return append(recs, logsink.Record{Response: answer})
}

// header is a header record whose tools are 40 % and system prompt 20 % of a body
// of 1,000 bytes.
func header(id, tools string, k logsink.Key) logsink.Record {
	return logsink.Record{Header: &logsink.Header{V: logsink.Version, ID: id, Key: k, Epoch: 1, Thread: "main", Reason: logsink.ReasonInitial, Time: noon, Parts: []logsink.Part{
		{Name: "system", Digest: logsink.Sum([]byte("s")), Size: 200}, {Name: "tools", Digest: logsink.Sum([]byte(tools)), Size: 400},
		{Name: "parameters", Digest: logsink.Sum([]byte("p")), Size: 100},
	}}}
}

// writeLog makes a log of one session and returns its path.
func writeLog(t *testing.T, recs []logsink.Record, k logsink.Key) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "team.db")
	log, err := logsink.OpenSQLite(t.Context(), path, logsink.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Freeze(t.Context(), &logsink.Anchor{V: logsink.Version, Key: k, Epoch: 1, Decision: logsink.Bare, Why: "empty", Time: noon}); err != nil {
		t.Fatal(err)
	}
	if err := log.Append(t.Context(), recs, nil); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestReadsHeaderLogs: what a thread's prompts share is told by its header and by
// how many messages they have.
func TestReadsHeaderLogs(t *testing.T) {
	k := logsink.Key{Tenant: "t", Session: "s"}
	recs := []logsink.Record{header("h1", "a", k), header("h2", "b", k)}
	for id, l := range map[string]logged{
		"r1": {second: 0, messages: 1, size: 1000, thread: "main", header: "h1", fresh: 500, output: 7},
		"r2": {second: 9, messages: 3, size: 2000, thread: "main", header: "h1", fresh: 500, read: 500, output: 8},       // goes on
		"r3": {second: 20, messages: 1, size: 1000, thread: "sub", header: "h1", fresh: 500, output: 1},                  // same tools and system prompt
		"r4": {second: 30, messages: 1, size: 1200, thread: "main", header: "h1", fresh: 600, output: 2, more: 90},       // compacted
		"r5": {second: 40, messages: 3, size: 1400, thread: "main", header: "h2", fresh: 700, output: 3},                 // other tools
		"r6": {second: 50, messages: 3, size: 1000, thread: "main", header: "h2", unanswered: true},                      // leaves nothing in a cache
		"r7": {second: 60, messages: 3, size: 1000, thread: "main", header: "h2", class: "count", fresh: 700, output: 0}, // no call of a model
	} {
		recs = append(recs, l.records(id, k)...)
	}
	r, err := Open(writeLog(t, recs, k))
	if err != nil {
		t.Fatal(err)
	}
	if r.Info().Format != "header-log" || r.Info().Name != "team.db" {
		t.Errorf("Info() = %+v", r.Info())
	}
	got, err := all(t, r)
	if err != nil {
		t.Fatal(err)
	}
	want := func(second int, q Request) Request {
		q.Scope, q.At, q.Took, q.Block, q.Model, q.Reported = "t/s", time.Duration(second)*time.Second, 3*time.Second, 1, "m", true
		return q
	}
	if d := cmp.Diff([]Request{
		want(0, Request{First: true, Input: 500, Output: 7, Tools: 200, System: 100, Runs: []cache.Run{{Start: 0, Count: 500}}}),
		want(9, Request{Input: 1000, Output: 8, Tools: 200, System: 100, CacheRead: 500, Runs: []cache.Run{{Start: 0, Count: 1000}}}),
		want(20, Request{Input: 500, Output: 1, Tools: 200, System: 100, Runs: []cache.Run{{Start: 0, Count: 300}, {Start: 1000, Count: 200}}}),
		want(30, Request{Input: 600, Output: 2, Tools: 200, System: 100, Runs: []cache.Run{{Start: 0, Count: 360}, {Start: 1200, Count: 240}}}),
		want(40, Request{Input: 700, Output: 3, Tools: 200, System: 100, Runs: []cache.Run{{Start: 1440, Count: 700}}}),
	}, got); d != "" {
		t.Errorf("requests differ (-want +got):\n%s", d)
	}
}

// TestClosesHeaderLogsEarly: who has seen enough leaves nothing running.
func TestClosesHeaderLogsEarly(t *testing.T) {
	k := logsink.Key{Tenant: "t", Session: "s"}
	l := logged{messages: 1, size: 1000, thread: "main", header: "h1", fresh: 500}
	r, err := Open(writeLog(t, append([]logsink.Record{header("h1", "a", k)}, l.records("r1", k)...), k))
	if err != nil {
		t.Fatal(err)
	}
	var q Request
	if err := r.Next(&q); err != nil || q.Input != 500 {
		t.Fatalf("Next = %d tokens, %v", q.Input, err)
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	}
}
