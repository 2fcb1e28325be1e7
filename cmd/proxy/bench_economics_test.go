package main

import (
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/bench/economics"
)

// parsed is what a command line says.
func parsed(t *testing.T, line string) (*economicsFlags, *flagSet) {
	t.Helper()
	fs := newFlags("proxy bench economics", "", "")
	var f economicsFlags
	f.register(fs)
	traces, err := fs.parse(strings.Fields(line), io.Discard)
	if err == nil {
		f.traces = append(f.traces, traces...)
		err = f.complete(fs)
	}
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return &f, fs
}

// TestBenchEconomicsOptions sets each option by a flag: one that is added without
// a flag stays zero here.
func TestBenchEconomicsOptions(t *testing.T) {
	f, _ := parsed(t, `-provider gemini,xai -strategy frozen -lifetime 5m,none -opener 7 -change deploy=2h -resumes 0.1 -compactions 0.2 -forks 0.3
		-signed-history -recorded-subagents -subagents 0.4 -subagent-input 8 -burst 9 -burst-hold -marks client -warm 0.5 -shared 0.6 -keepalive 3
		-keepalive-margin 4s -first-token 5s -per-fresh 6s -per-read 7s -price-date 2026-11-02 -seed 11 -capacity 12`)
	want := economics.Options{
		Providers: []string{"gemini", "xai"}, Strategies: []string{"frozen"}, Lifetimes: []string{"5m", "none"}, OpenerTokens: 7,
		Change: economics.Change{Kind: economics.ChangeDeploy, Every: 2 * time.Hour}, Resumes: 0.1, Compactions: 0.2, Forks: 0.3,
		SignedHistory: true, RecordedSubagents: true, Subagents: 0.4, SubagentInput: 8, Burst: 9, BurstHold: true, Marks: economics.MarksClient,
		Warm: 0.5, Shared: 0.6, Keepalive: 3, KeepaliveMargin: 4 * time.Second,
		FirstToken: economics.FirstToken{Base: 5 * time.Second, PerFresh: 6 * time.Second, PerRead: 7 * time.Second},
		PriceDate:  time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC), Seed: 11, Capacity: 12, RowsOnly: true,
	}
	if d := cmp.Diff(want, f.Options); d != "" {
		t.Errorf("options (-want +got):\n%s", d)
	}
	for i, v := 0, reflect.ValueOf(f.Options); i < v.NumField(); i++ {
		if name := v.Type().Field(i).Name; v.Field(i).IsZero() && name != "Trace" && name != "Prices" { // of the trace; -prices is in the script
			t.Errorf("no flag sets %s", name)
		}
	}
	f, _ = parsed(t, "")
	d := economics.Options{RowsOnly: true}.WithDefaults()
	if d := cmp.Diff(d, f.Options); d != "" {
		t.Errorf("without flags (-defaults +got):\n%s", d)
	}
}

func TestBenchEconomicsAgain(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		e, fs := parsed(t, line)
		if got := e.again(fs); got != want {
			t.Errorf("after %q it is made again by %q, want %q", line, got, want)
		}
	}
	f("", "proxy bench economics -o report")
	f("-o x -json -seed 3 -burst-hold -trace /home/me/a.gz b.gz", "proxy bench economics -burst-hold -seed 3 -trace a.gz -trace b.gz -o report")
	f("-provider anthropic/claude-opus-5-5 -o /x -page /y -made-by me it's", `proxy bench economics -provider anthropic/claude-opus-5-5 -trace 'it'\''s' -o report`)
}

func TestTraceName(t *testing.T) {
	f := func(path, want string) {
		t.Helper()
		if got := traceName(path, nil); got != want {
			t.Errorf("traceName(%q) = %q, want %q", path, got, want)
		}
	}
	f("", "sample")
	f("sample", "sample")
	f("/x/cc_traces_rle.jsonl.gz", "cc_traces_rle")
	f("preface.db", "preface")
	f(".db", ".db")
}
