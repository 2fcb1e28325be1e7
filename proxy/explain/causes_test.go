package explain

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// A family is a dialect with a model of one kind of rules.
type family struct{ dialect, model string }

var (
	claudes  = []family{{anthropic, opus}}
	byMark   = []family{{anthropic, opus}, {chat, routed}, {responses, routed}}
	newer    = []family{{chat, sol}, {responses, sol}}
	older    = []family{{chat, gpt5}, {responses, gpt5}}
	families = slices.Concat(byMark, newer, older)
	gpts     = slices.Concat(newer, older)
)

func replace(s *string, old, new string) {
	if !strings.Contains(*s, old) {
		panic("test: nothing to replace: " + old)
	}
	*s = strings.Replace(*s, old, new, 1)
}

// One change between two requests, and nothing else, in each dialect where it
// can be.
var changes = []struct {
	name   string
	in     []family
	before func(*ask)
	after  func(*ask)
	read   int64 // what the second request still read
	want   want
}{
	{"model", families, nil, func(a *ask) { a.r.Model += "-mini"; replace(&a.params, `","max`, `-mini","max`) }, 0,
		want{ModelChanged, ByClient, SectionModel, "-mini", true}},
	{"host", families, nil, func(a *ask) { a.r.Host = "other.example" }, 0,
		want{UpstreamChanged, ByUpstream, SectionHost, "api.example → other.example", true}},
	{"account", families, nil, func(a *ask) { a.r.Account = "beta" }, 0,
		want{UpstreamChanged, ByClient, SectionAccount, "credential or workspace", true}},
	{"key", gpts, func(a *ask) { a.r.Key = "k1" }, func(a *ask) { a.r.Key = "k2" }, 0,
		want{KeyChanged, ByClient, SectionKey, "k1 → k2", true}},
	{"key gone", gpts, func(a *ask) { a.r.Key = "k1" }, func(a *ask) { a.r.Key = "" }, 0,
		want{KeyChanged, ByClient, SectionKey, "k1 → none", true}},

	{"tool added", claudes, nil, func(a *ask) { replace(&a.tools, `{"name":"run"}`, `{"name":"run"},{"name":"fetch"}`) }, 0,
		want{ToolsChanged, ByClient, SectionTools, "tools added fetch", true}},
	{"tool added", gpts, nil, func(a *ask) {
		replace(&a.tools, `{"name":"run"}}`, `{"name":"run"}},{"type":"function","function":{"name":"fetch"}}`)
	}, 0, want{ToolsChanged, ByClient, SectionTools, "tools added fetch", true}},
	{"tool removed", claudes, nil, func(a *ask) { replace(&a.tools, `,{"name":"run"}`, ``) }, 0,
		want{ToolsChanged, ByClient, SectionTools, "tools removed run", true}},
	{"tool edited", families, nil, func(a *ask) { replace(&a.tools, "Writes a file.", "Writes files.") }, 0,
		want{ToolsChanged, ByClient, SectionTools, "tools edited write", true}},
	{"tools reordered", claudes, nil, func(a *ask) {
		a.tools = `[{"name":"write","description":"Writes a file."},{"name":"read","description":"Reads a file."},{"name":"run"}]`
	}, 0, want{ToolsChanged, ByClient, SectionTools, "tools reordered: write stands where read stood", true}},
	{"tool keys reordered", claudes, nil, func(a *ask) {
		replace(&a.tools, `{"name":"write","description":"Writes a file."}`, `{"description":"Writes a file.","name":"write"}`)
	}, 0, want{ToolsChanged, ByClient, SectionTools, "write (keys in another order)", true}},
	{"tool formatted otherwise", claudes, nil, func(a *ask) { replace(&a.tools, `{"name":"write","d`, `{ "name": "write", "d`) }, 0,
		want{ToolsChanged, ByClient, SectionTools, "tools edited write (formatted otherwise)", true}},
	{"tool doubled", claudes, nil, func(a *ask) { replace(&a.tools, `{"name":"run"}`, `{"name":"run"},{"name":"run"}`) }, 0,
		want{ToolsChanged, ByClient, SectionTools, "tools added run", true}},
	{"tools gone", families, nil, func(a *ask) { a.tools = "" }, 0, want{ToolsChanged, ByClient, SectionTools, "tools removed read, write, run", true}},

	{"system nonce", families, nil, func(a *ask) { replace(&a.system, "36ee5", "0aaa9") }, 0,
		want{SystemChanged, ByClient, SectionSystem, "volatile token in system[1]: a nonce, 36ee5 → 0aaa9", true}},
	{"system date", families, func(a *ask) { replace(&a.system, "today", "2026-11-30") }, func(a *ask) { replace(&a.system, "2026-11-30", "2026-12-01") }, 0,
		want{SystemChanged, ByClient, SectionSystem, "a date, 2026-11-30 → 2026-12-01", true}},
	{"system time", families, func(a *ask) { replace(&a.system, "today", "12:00:01") }, func(a *ask) { replace(&a.system, "12:00:01", "12:00:21") }, 0,
		want{SystemChanged, ByClient, SectionSystem, "a time, 12:00:01 → 12:00:21", true}},
	{"system uuid", families, func(a *ask) { replace(&a.system, "36ee5", "0198c5a4-7f2e-7c1b-9d3e-aaaaaaaaaaaa") },
		func(a *ask) { replace(&a.system, "9d3e-aaaaaaaaaaaa", "9d3e-bbbbbbbbbbbb") }, 0,
		want{SystemChanged, ByClient, SectionSystem, "a UUID", true}},
	{"system counter", families, func(a *ask) { replace(&a.system, "36ee5", "41") }, func(a *ask) { replace(&a.system, "41", "42") }, 0,
		want{SystemChanged, ByClient, SectionSystem, "a counter, 41 → 42", true}},
	{"system edited", families, nil, func(a *ask) { replace(&a.system, "an agent", "a helper") }, 0,
		want{SystemChanged, ByClient, SectionSystem, "system[0] edited", true}},
	{"system gone", families, nil, func(a *ask) { a.system = "" }, 0, want{SystemChanged, ByClient, SectionSystem, "is gone", true}},
	{"system block added", families, nil, func(a *ask) {
		a.system = strings.TrimSuffix(a.system, "]") + `,{"x":1}` + a.system[len(strings.TrimSuffix(a.system, "]")):]
	}, 0,
		want{SystemChanged, ByClient, SectionSystem, "system[2] was added", true}},

	{"tool_choice", claudes, nil, func(a *ask) { a.params += `,"tool_choice":{"type":"any"}` }, 4000,
		want{ParameterChanged, ByClient, SectionParameters, `tool_choice none → {"type":"any"}`, true}},
	{"disable_parallel_tool_use", claudes, func(a *ask) { a.params += `,"tool_choice":{"type":"any"}` },
		func(a *ask) { replace(&a.params, `"any"`, `"any","disable_parallel_tool_use":true`) }, 4000,
		want{ParameterChanged, ByClient, SectionParameters, "tool_choice", true}},
	{"thinking", claudes, nil, func(a *ask) { a.params += `,"thinking":{"type":"adaptive"}` }, 4000,
		want{ParameterChanged, ByClient, SectionParameters, `thinking.type none → "adaptive"`, true}},
	{"thinking budget", claudes, func(a *ask) { a.params += `,"thinking":{"type":"enabled","budget_tokens":1024}` },
		func(a *ask) { replace(&a.params, "1024", "2048") }, 4000,
		want{ParameterChanged, ByClient, SectionParameters, "thinking.budget_tokens 1024 → 2048", true}},
	{"effort", claudes, nil, func(a *ask) { a.params += `,"output_config":{"effort":"low"}` }, 4000,
		want{ParameterChanged, ByClient, SectionParameters, `output_config.effort none → "low"`, true}},
	{"speed", claudes, nil, func(a *ask) { a.params += `,"speed":"fast"` }, 2000,
		want{ParameterChanged, ByClient, SectionParameters, `speed none → "fast"`, true}},
	{"betas", claudes, func(a *ask) { a.r.Betas = "a-1,b-2" }, func(a *ask) { a.r.Betas = "b-2, c-3" }, 0,
		want{ParameterChanged, ByClient, SectionBetas, "a-1 → c-3", true}},
	{"effort", gpts, nil, func(a *ask) { a.params += `,"reasoning":{"effort":"high"},"reasoning_effort":"high"` }, 0,
		want{ParameterChanged, ByClient, SectionParameters, "effort", true}},
	{"verbosity", gpts, nil, func(a *ask) { a.params += `,"text":{"verbosity":"low"},"verbosity":"low"` }, 0,
		want{ParameterChanged, ByClient, SectionParameters, "verbosity", true}},
	{"format", gpts, nil, func(a *ask) {
		a.params += `,"text":{"format":{"type":"json_object"}},"response_format":{"type":"json_object"}`
	}, 0, want{ParameterChanged, ByClient, SectionParameters, "json_object", true}},
	{"parallel_tool_calls", gpts, nil, func(a *ask) { a.params += `,"parallel_tool_calls":false` }, 0,
		want{ParameterChanged, ByClient, SectionParameters, "parallel_tool_calls none → false", true}},
	{"mode", newer, nil, func(a *ask) {
		a.params += `,"prompt_cache_options":{"mode":"explicit"}`
		a.r.Marks = []Mark{{InMessages, 2, 0, ""}}
	}, 0, want{ParameterChanged, ByClient, SectionParameters, `prompt_cache_options.mode none → "explicit"`, true}},
	{"unheard-of parameter", families, nil, func(a *ask) { a.params += `,"novelty":1` }, 0,
		want{ParameterChanged, ByClient, SectionParameters, "novelty none → 1", true}},
	{"service tier", gpts, nil, func(a *ask) { a.params += `,"service_tier":"flex"` }, 0,
		want{ParameterChanged, ByClient, SectionParameters, "service_tier", true}},

	{"prefix", families, nil, func(a *ask) { a.r.Prefix = "sha256:bb" }, 0, want{PrefixChanged, ByPreface, SectionPrefix, "in one epoch", true}},
	{"prefix of a new epoch", families, nil, func(a *ask) { a.r.Prefix, a.r.Epoch = "sha256:bb", 2 }, 0,
		want{PrefixChanged, ByContributor, SectionPrefix, "in a new epoch", true}},

	{"message edited", families, nil, func(a *ask) { a.says[0].text = "other question" }, 4000,
		want{HistoryRewritten, ByClient, SectionHistory, "message 0: edited, in the opening", true}},
	{"answer edited", families, nil, func(a *ask) { a.says[1].text = "other answer" }, 4000,
		want{HistoryRewritten, ByClient, SectionHistory, "message 1: edited", true}},
	{"message inserted", families, nil, func(a *ask) { a.says = slices.Insert(a.says, 1, user("by the way")) }, 4000,
		want{HistoryRewritten, ByClient, SectionHistory, "1 message inserted before message 1", true}},
	{"messages dropped", families, nil, func(a *ask) { a.says = slices.Delete(a.says, 0, 2) }, 4000,
		want{HistoryRewritten, ByClient, SectionHistory, "2 messages dropped at 0", true}},
	{"messages reordered", families, nil, func(a *ask) { a.says[0], a.says[2] = a.says[2], a.says[0] }, 4000,
		want{HistoryRewritten, ByClient, SectionHistory, "messages reordered from 0", true}},
	{"compacted", families, func(a *ask) { a.says = talk(11); last(a) }, func(a *ask) { a.says = []say{user("a summary"), assistant("ok"), user("go on")} }, 0,
		want{HistoryRewritten, ByClient, SectionHistory, "compacted: 11 messages became 3", false}},
	{"compaction block", families, nil, func(a *ask) {
		a.says, a.written = []say{{User, "summary", HoldsCompaction, ""}, user("go on")}, 3000
	}, 0,
		want{HistoryRewritten, ByClient, SectionHistory, "compacted", false}},
	{"compacted at the provider", byMark, nil, func(a *ask) { a.says[len(a.says)-2].holds = HoldsCompaction }, 3000,
		want{HistoryRewritten, ByProvider, SectionHistory, "stands for those before it", false}},
	{"resumed", families, nil, func(a *ask) { a.says[0].text = "other question"; a.r.Epoch = 2 }, 4000,
		want{HistoryRewritten, ByClient, SectionHistory, "resumed: message 0", true}},
	{"shape only", gpts, nil, func(a *ask) { a.says[1].as = "a list" }, 4000,
		want{HistoryRewritten, ByClient, SectionHistory, "message 1: shape only", true}},
	{"thinking dropped", families, func(a *ask) { a.says[1].holds = HoldsThinking }, func(a *ask) { a.says[1].holds, a.says[1].text = 0, "no thought" }, 4000,
		want{ThinkingDropped, ByClient, SectionHistory, "message 1: its thinking was dropped", true}},
	{"reasoning item dropped", gpts, func(a *ask) { a.says[1].holds = HoldsThinking }, func(a *ask) { a.says = slices.Delete(a.says, 1, 2) }, 4000,
		want{ThinkingDropped, ByClient, SectionHistory, "the thinking of message 1 was dropped", true}},
	{"image removed", families, func(a *ask) { a.says[0].holds = HoldsImage }, func(a *ask) { a.says[0].holds, a.says[0].text = 0, "no image" }, 4000,
		want{ImageChanged, ByClient, SectionHistory, "an image was removed", true}},
	{"image replaced", families, func(a *ask) { a.says[0].holds = HoldsImage }, func(a *ask) { a.says[0].text, a.says[0].as = "other", "x" }, 4000,
		want{ImageChanged, ByClient, SectionHistory, "an image was replaced", true}},
	{"image added", byMark, nil, func(a *ask) { a.says[len(a.says)-1].holds = HoldsImage }, 4000,
		want{ImageChanged, ByClient, SectionHistory, "message 4 brought an image", false}},

	{"marks gone", byMark, nil, func(a *ask) { a.r.Marks, a.written, a.fresh = nil, 0, 10520 }, 0,
		want{NoMark, ByClient, SectionMarks, "the request before had 2 marks", true}},
	{"explicit without a breakpoint", newer, func(a *ask) {
		a.params += `,"prompt_cache_options":{"mode":"explicit"}`
		a.r.Marks = []Mark{{InMessages, 2, 0, ""}}
	}, func(a *ask) { a.r.Marks, a.written, a.fresh = nil, 0, 10520 }, 0, want{NoMark, ByClient, SectionMarks, "no breakpoint", true}},
	{"breakpoint moved", newer, func(a *ask) {
		a.params += `,"prompt_cache_options":{"mode":"explicit"}`
		a.r.Marks = []Mark{{InMessages, 2, 0, ""}}
	}, func(a *ask) { a.r.Marks = []Mark{{InMessages, 4, 0, ""}} }, 0, want{MarkMoved, ByClient, SectionMarks, "no breakpoint at block 0 of message 2", true}},
	{"mark moved", byMark, nil, func(a *ask) { a.r.Marks = a.r.Marks[:1] }, 4000,
		want{MarkMoved, ByClient, SectionMarks, "no mark stands at or behind block 0 of message 2", true}},
	{"look-back", byMark, nil, func(a *ask) { a.says = append(a.says, talk(22)...); last(a) }, 4000,
		want{LookbackExceeded, ByClient, SectionMarks, "24 blocks lie between block 0 of message 2", true}},
	{"look-back", newer, nil, func(a *ask) { a.says = append(a.says, talk(44)...) }, 0,
		want{LookbackExceeded, ByClient, SectionMarks, "23 messages that end at a boundary", true}},
	{"tool group grown", newer, func(a *ask) { a.says = append(a.says, assistant("calls"), result("one")) },
		func(a *ask) { a.says = slices.Insert(slices.Clone(a.says[:5]), 5, result("two"), user("more")) }, 0,
		want{MarkMoved, ByClient, SectionMarks, "group of tool results", true}},

	{"expired", families, nil, func(a *ask) { a.r.Start = noon.Add(25 * time.Hour) }, 0, want{Expired, ByClient, "", "25h0m0s from start to start", false}},
	{"beside each other", families, nil, func(a *ask) { a.r.Start = noon.Add(time.Second) }, 0, want{ConcurrentCold, ByClient, "", "1s before the answer to r1 began", false}},
	{"too small", families, nil, func(a *ask) { a.written, a.fresh = 0, 400 }, 0, want{BelowMinimum, ByClient, "", "the prompt has 400", false}},
	{"nothing changed", families, nil, nil, 0, want{Provider, ByProvider, "", "nothing on our side changed", false}},
	{"nothing changed, a part read", families, nil, nil, 4096, want{Provider, ByProvider, "", "nothing on our side changed", false}},
	{"rounding", older, nil, func(a *ask) { a.read = 9984 }, 9984, want{PartialBlock, ByProvider, "", "rounded down", false}},
	{"other settings", families, nil, func(a *ask) {
		replace(&a.params, "1000", "2000")
		a.params += `,"temperature":0.3,"stream":true,"metadata":{"user_id":"x"}`
	}, 0, want{Provider, ByProvider, "", "nothing on our side changed", false}},
}

func last(a *ask) {
	if n := len(a.r.Marks); n > 0 {
		a.r.Marks[n-1].Index = len(a.says) - 1
	}
}

func TestEachCauseIsNamed(t *testing.T) {
	rows := 0
	for _, test := range changes {
		for _, f := range test.in {
			rows++
			t.Run(test.name+"/"+f.dialect+"/"+f.model, func(t *testing.T) {
				a := opened(f.dialect, f.model)
				if test.before != nil {
					test.before(&a)
				}
				b := a.next().short(test.read)
				if test.after != nil {
					test.after(&b)
				}
				got := observe(t, a, b)
				test.want.check(t, got)
				if got.Cause != BelowMinimum && (got.Missed <= 0 || got.Missed > got.Expected || got.Against != "r1") {
					t.Errorf("missed %d of %d against %q, want some against r1", got.Missed, got.Expected, got.Against)
				}
				if all := b.read + b.written + b.fresh; got.Expected > all && got.Cause != NoMark {
					t.Errorf("%d tokens could have been read, of %d", got.Expected, all)
				}
			})
		}
	}
	if rows < 120 {
		t.Errorf("the table has %d rows, want 120 at least", rows)
	}
}

// The same change does no harm if the provider read everything all the same.
func TestNoShortfallNoVerdict(t *testing.T) {
	for _, test := range changes {
		for _, f := range test.in {
			a := opened(f.dialect, f.model)
			if test.before != nil {
				test.before(&a)
			}
			b := a.next()
			if test.after != nil {
				test.after(&b)
			}
			if b.read = a.next().read; b.r.Dialect != anthropic && rulesOf(f.dialect, f.model).kind == byPrefix {
				b.read = 10_020
			}
			if got := observe(t, a, b); got != none {
				t.Errorf("%s in %s: a request that read all got %+v", test.name, f, got)
			}
		}
	}
}
