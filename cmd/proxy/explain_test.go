package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
)

// missedLog is a log with one session: a hit, a miss that is the client's, one
// that is not, and one without usage.
func missedLog(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "preface.db")
	l, err := logsink.Open(t.Context(), logsink.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	key := logsink.Key{Tenant: strings.Repeat("a1", 16), Session: "s-1"}
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	if _, err := l.Freeze(t.Context(), &logsink.Anchor{V: logsink.Version, Key: key, Epoch: 1, Reason: logsink.ReasonInitial, Decision: logsink.Bare, Time: at}); err != nil {
		t.Fatal(err)
	}
	n := func(i int64) *int64 { return &i }
	offset := 129
	var recs []logsink.Record
	for i, answer := range []logsink.Response{
		{Usage: &logsink.Usage{CacheRead: n(9000)}},
		{Usage: &logsink.Usage{CacheRead: n(0)}, Cause: &logsink.Cause{Name: "system_changed", Owner: "client", Section: "system", Offset: &offset,
			Detail: "volatile token in system[0]\x1b[2J\n: a nonce", Expected: 9000, Missed: 9000, Lost: 51_750_000_000, Waste: true, Against: "req_0"}},
		{Usage: &logsink.Usage{CacheRead: n(4000)}, Cause: &logsink.Cause{Name: "expired", Owner: "client", Detail: "7m0s from start to start", Expected: 5000, Missed: 1000, Lost: 5_750_000_000, Provider: "unavailable"}},
		{},
	} {
		id := "req_" + string(rune('0'+i))
		answer.V, answer.ID, answer.Key, answer.Epoch, answer.Thread, answer.Time = logsink.Version, id, key, 1, "main", at
		recs = append(recs, logsink.Record{Request: &logsink.Request{V: logsink.Version, ID: id, Key: key, Epoch: 1, Thread: "main", Number: int64(i + 1), Model: "claude-opus-5-5", Time: at}},
			logsink.Record{Response: &answer})
	}
	if err := l.Append(t.Context(), recs, nil); err != nil {
		t.Fatal(err)
	}
	return path
}

func explained(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), append([]string{"explain"}, args...), &out, &errs); code != exitOK {
		t.Fatalf("explain %q ends with %d: %s", args, code, errs.String())
	}
	return out.String()
}

func TestExplainSession(t *testing.T) {
	out := explained(t, "-log", missedLog(t), "s-1")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 4 {
		t.Fatalf("explain s-1 prints %d lines, want a head, two misses and sums:\n%s", len(lines), out)
	}
	for i, words := range [][]string{
		{"TIME", "CAUSE", "OWNER", "MISSED", "LOST", "DETAIL"},
		{"#2 req_1", "system_changed", "client", " 9000 ", "$0.0517 avoidable", "a nonce (byte 129)"},
		{"#3 req_2", "expired", " 4000 ", " 1000 ", "$0.0057 ", "from start to start; the provider says unavailable"},
		{"session s-1: 4 requests answered, 2 with a cause, 10,000 tokens missed, $0.0575 lost, $0.0517 of it avoidable; 1 did not report what was read"},
	} {
		for _, w := range words {
			if !strings.Contains(lines[i], w) {
				t.Errorf("line %d = %q, want %q in it", i, lines[i], w)
			}
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Errorf("a control character reaches the terminal: %q", out)
	}
}

func TestExplainSessionJSON(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(explained(t, "-json", "-log", missedLog(t), "s-")), "\n")
	if len(lines) != 2 {
		t.Fatalf("explain -json prints %d lines, want one for each miss: %q", len(lines), lines)
	}
	var got struct {
		ID, Thread, Model, Against string
		Number, Read               int64
		Cause                      logsink.Cause
	}
	if err := json.Unmarshal([]byte(lines[0]), &got); err != nil {
		t.Fatal(err)
	}
	if got.ID != "req_1" || got.Number != 2 || got.Read != 0 || got.Against != "req_0" || got.Model != "claude-opus-5-5" || got.Cause.Name != "system_changed" || *got.Cause.Offset != 129 || got.Cause.Lost != 51_750_000_000 {
		t.Errorf("explain -json gives %s", lines[0])
	}
}
