package contrib

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var lintedAt = time.Date(2026, 11, 30, 12, 3, 55, 0, time.UTC)

func TestCaseB15_VolatileTextIsFound(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		var got []string
		for _, v := range volatileAt(text, lintedAt) {
			got = append(got, v.Kind+": "+v.Text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Volatile(%q) differs (-want +got):\n%s", text, diff)
		}
	}
	f("Today is 2026-11-30.", "date: 2026-11-30")
	f("date=2026-11-30\n", "date: 2026-11-30")
	f("Now: 2026-11-30T12:03:55.123Z", "date: 2026-11-30", "time: 12:03:55.123Z")
	f("(2026-11-30 12:03:55 +0100)", "date: 2026-11-30", "time: 12:03:55")
	f("Today's date: 2026/11/30", "date: 2026/11/30")
	f("on 11/30/2026 and 30.11.2026", "date: 11/30/2026", "date: 30.11.2026")
	f("Nov 30 2026 or November 30, 2026", "date: Nov 30 2026", "date: November 30, 2026")
	f("30 Nov 2026, the 30th November 2026", "date: 30 Nov 2026", "date: 30th November 2026")
	f("It is Monday, November 30.", "date: Monday, November 30")
	f("Monday, Nov 30, 2026", "date: Monday, Nov 30")
	f("Mon Nov 30 12:03:55 UTC 2026", "date: Mon Nov 30", "time: 12:03:55")
	f("It is 12:03:55 here", "time: 12:03:55")
	f("started at 1796040235, or 1796040235123, or 1796040235.52", "timestamp: 1796040235", "timestamp: 1796040235123", "timestamp: 1796040235.52")
	f("session 6f9619ff-8b86-4d01-b42d-00cf4fc964ff", "uuid: 6f9619ff-8b86-4d01-b42d-00cf4fc964ff")
	f("cwd /tmp/6F9619FF-8B86-4D01-B42D-00CF4FC964FF/x", "uuid: 6F9619FF-8B86-4D01-B42D-00CF4FC964FF")
	f("nonce: 9f86d081884c7d659a2feaa0c55ad015", "nonce: 9f86d081884c7d659a2feaa0c55ad015")
	f("id 01JDY3VHQZ8M4K7T2N5XWB6C9P", "nonce: 01JDY3VHQZ8M4K7T2N5XWB6C9P")
	f("as req_011CSHoEeqs5C35K2UUqR7Fy", "nonce: req_011CSHoEeqs5C35K2UUqR7Fy")
	f("This is request #12", "counter: request #12")
	f("This is run 17.", "counter: run 17")
	f("Run 17\nnext", "counter: Run 17")
	f("build number 4711, session no. 3", "counter: build number 4711", "counter: session no. 3")
	f("request_count: 8 run-id=9", "counter: request_count: 8", "counter: run-id=9")
}

func TestCaseB15_SteadyTextIsNotReported(t *testing.T) {
	for _, text := range []string{
		"",
		"Use Go 1.26.8 and library v1.2.3, or 10.15.7.",
		"GPT-5.6, claude-sonnet-4-20250514 and gpt-4o-2026-08-06 are models.",
		"anthropic-version: 2026-06-01, api-version=2026-02-01",
		"Since 2026 and in May 2026; RFC 9110 of June 2022; 2025-2026.",
		"Effective 2019-03-01. Cutoff: March 1, 2024.",
		"## [1.4.0] - 2026-11-02",
		"See docs/2026-11-30-decision.md, /blog/2026/11/30/post and notes_2026-11-30.txt, log.2026-11-30.gz.",
		"https://example.org/a?d=2026-11-30&t=1796040235 and https://h/6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
		"Listen on port 8787 or 127.0.0.1:65535; fe80::12:34:56; 00:1a:2b:3c:4d:5e; 12:34:56:78:9a:bc.",
		"Office hours are 09:00 to 17:30, never at 3 PM; a day is 00:00:00 to 23:59:59.",
		"Time: 2018-10-22T18:45:39Z, logged 2022/03/18 17:04:40, Fri, 01 May 2015 23:06:56 GMT, 12:13:22 EDT 2021.",
		"See merge request #113. Key DD792F5973C6DE52C432CBDAC77ABFA00DDBF2B7.",
		"Colours #ff8800 and #1e293b80; U+1F600.",
		"Pinned at 3f786850e387550fdab836ed7e6dc881de23001b and uses: a/b@3f786850e387550fdab836ed7e6dc881de23001b",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"The checksum is 9f86d081884c7d659a2feaa0c55ad015.",
		"00000000-0000-0000-0000-000000000000 and 12345678-1234-1234-1234-123456789012 are examples.",
		"Call +4930123456789 or 1700000000 people; 1234567890; order 17960402351; 3.1796040235 rad.",
		"Run 3 tests. Step 1: build. Step 2: run 4 shards. See issue #12, PR #7 and section 17.",
		"Retry at most 3 requests; request 2 reviewers; attempt 5 times. A session has 12 turns.",
		"run_integration_tests session-management msg_type request-response trace_identifiers run_integrationtestsv2",
		"deadbeefdeadbeefdeadbeefdeadbeef 11111111111111111111111111111111",
		"counter, count: many. max_tokens: 4096, timeout=30",
	} {
		if got := volatileAt(text, lintedAt); len(got) != 0 {
			t.Errorf("Volatile(%q) = %+v, want nothing", text, got)
		}
	}
}

func TestVolatileKnowsTheTime(t *testing.T) {
	now := time.Now().UTC()
	text := "It is " + now.Format(time.RFC3339) + "."
	got := Volatile(text)
	want := []Finding{{"date", 6, now.Format(time.DateOnly)}, {"time", 17, now.Format("15:04:05Z")}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Volatile(%q) differs (-want +got):\n%s", text, diff)
	}
}

func TestVolatileFindingsArePieces(t *testing.T) {
	pieces := rapid.SampledFrom([]string{" ", "-", ":", "T", "\n", "é", "#", "2026-11-30", "12:03:55", "1796040235", "run 17", "request #1",
		"6f9619ff-8b86-4d01-b42d-00cf4fc964ff", "9f86d081884c7d659a2feaa0c55ad015", "Nov 30 2026", "Monday, "})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pieces, 0, 40).Draw(t, "text"), "")
		end := 0
		for _, v := range volatileAt(text, lintedAt) {
			if v.Offset < end || text[v.Offset:v.Offset+len(v.Text)] != v.Text || v.Text == "" {
				t.Fatalf("Volatile(%q) has %+v after byte %d, want pieces of the text in order", text, v, end)
			}
			end = v.Offset + len(v.Text)
		}
	})
}

func TestDiff(t *testing.T) {
	u := func(texts ...string) (ms []Message) {
		for _, x := range texts {
			ms = append(ms, Message{"user", x})
		}
		return ms
	}
	f := func(a, b []Message, offset, message int, differ bool) {
		t.Helper()
		for range 2 { // both ways
			o, m, d := Diff(a, b)
			if o != offset || m != message || d != differ {
				t.Errorf("Diff(%q, %q) = %d, %d, %v, want %d, %d, %v", a, b, o, m, d, offset, message, differ)
			}
			a, b = b, a
		}
	}
	f(nil, nil, 0, 0, false)
	f(u("a", "b"), u("a", "b"), 0, 0, false)
	f(u("a", "abc"), u("a", "abd"), 2, 1, true)
	f(u("ab"), u("abc"), 2, 0, true)
	f(u("a"), u("a", "b"), 0, 1, true)
	f(nil, u("a"), 0, 0, true)
	f(u("a"), []Message{{"system", "a"}}, 0, 0, true)
}
