package account

import (
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// hostile is text that tries to be more than text: in a terminal, a table, a
// page, and as a link.
const hostile = "a|b`c`\x1b[31m<script>alert(1)</script>\u202e\u009b2J\n# x\r![i](http://evil/i.png)[l](javascript:0) https://evil.example www.evil.example *b* __u__ ~~s~~ $x$ @team #1 &lt; \\"

func hostileReport(t *testing.T) *Report {
	s := newSample(t)
	s.freeze(logsink.Key{Tenant: sampleTenant, Session: hostile}, 1, "one", sampleEnd.Add(-time.Hour))
	for _, cost := range []*logsink.Cost{{Paid: dollar, Uncached: dollar}, nil} {
		p := logsink.Response{
			Usage: plainUsage(1, 2, 3, 4), Cost: cost, Detail: hostile, Model: hostile,
			Cause: &logsink.Cause{Name: hostile, Owner: hostile, Section: hostile, Detail: hostile, Provider: hostile, Missed: 1, Lost: 1},
		}
		if cost == nil {
			p.Unpriced = usage.NoPrice + hostile
		}
		s.put(made{session: hostile, ago: time.Hour, answer: p})
	}
	for i := range s.recs {
		if q := s.recs[i].Request; q != nil {
			q.Model, q.Route, q.Thread = hostile, hostile, hostile
		}
	}
	s.write()
	r := s.read(func(o *Options) {
		o.Explain = func(k logsink.Key) string { return "proxy explain " + k.Session } // as no caller should
	})
	r.Log, r.Tenant = hostile, hostile
	return r
}

func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b strings.Builder
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	for _, r := range b.String() {
		if r != '\n' && !unicode.IsGraphic(r) {
			t.Errorf("%q could speak to a terminal", r)
		}
	}
	return b.String()
}

// unescaped is a character with a meaning that no backslash takes away.
var unescaped = regexp.MustCompile("(^|[^\\\\])(\\\\\\\\)*[|`*\\[\\]~@#]")

// TestInvariant5_Markdown: every row has as many cells as its table, and no cell
// has markup.
func TestInvariant5_Markdown(t *testing.T) {
	text := written(t, hostileReport(t).WriteMarkdown)
	if link := regexp.MustCompile(`<|[^\\]://|www\.`).FindString(text); link != "" {
		t.Errorf("there is markup or a link in the report: %s", link)
	}
	cells, rows := 0, 0
	for _, line := range strings.Split(text, "\n") {
		inside, isRow := strings.CutPrefix(line, "| ")
		if !isRow {
			cells = 0
			if strings.Contains(line, "evil") && unescaped.MatchString(line) {
				t.Errorf("a line has markup: %s", line)
			}
			continue
		}
		list := strings.Split(strings.TrimSuffix(inside, " |"), " | ")
		if cells == 0 {
			cells = len(list)
		}
		if rows++; len(list) != cells {
			t.Errorf("a row has %d cells, its table %d: %s", len(list), cells, line)
		}
		for _, c := range list {
			if strings.Contains(c, "evil") && unescaped.MatchString(c) {
				t.Errorf("a cell has markup: %s", c)
			}
		}
	}
	if rows < 20 || strings.Count(text, "alert(1)") < 15 {
		t.Fatalf("only %d rows, and the hostile text %d times", rows, strings.Count(text, "alert(1)"))
	}
}

// TestInvariant5_HTML: the hostile text made no element, and nothing is asked of
// another host.
func TestInvariant5_HTML(t *testing.T) {
	text := written(t, hostileReport(t).WriteHTML)
	known := map[string]bool{}
	for _, name := range strings.Fields("!doctype html head meta title style body main h1 h2 dl dt dd div p ul li section table thead tbody tr th td code svg rect") {
		known[name] = true
	}
	for _, tag := range regexp.MustCompile(`<\s*/?\s*([^\s>/]*)`).FindAllStringSubmatch(text, -1) {
		if !known[tag[1]] {
			t.Errorf("there is an element %q", tag[1])
		}
	}
	for _, bad := range []string{"src=", "href=", "url(", "@import", "javascript:0\"", " on"} {
		if i := strings.Index(strings.ToLower(regexp.MustCompile(`>[^<]*<`).ReplaceAllString(text, "><")), bad); i >= 0 {
			t.Errorf("there is %q in the page", bad)
		}
	}
	if strings.Count(text, "alert(1)") < 15 {
		t.Fatal("the hostile text is not in the page")
	}
}

// TestInvariant5_JSON: it can be read, and texts are as they were.
func TestInvariant5_JSON(t *testing.T) {
	text := written(t, hostileReport(t).WriteJSON)
	var r Report
	if err := json.Unmarshal([]byte(regexp.MustCompile(`"tokens": (null|\d+)`).ReplaceAllString(text, `"t": 0`)), &r); err != nil {
		t.Fatal(err)
	}
	if r.DearestSessions[0].Session != hostile || r.Models.Rows[0].Name != hostile {
		t.Errorf("the session is %q, want %q", r.DearestSessions[0].Session, hostile)
	}
	if strings.Contains(text, "<script") {
		t.Error("there is markup in the JSON")
	}
}

func FuzzEscaped(f *testing.F) {
	f.Add(hostile)
	f.Add("a_b_c $12.50 www.a")
	f.Add(`\|`)
	f.Fuzz(func(t *testing.T, s string) {
		got := escaped(plain(s))
		if strings.ContainsAny(got, "<\n\r\x1b") || unescaped.MatchString(got) {
			t.Errorf("escaped(%q) = %q", s, got)
		}
	})
}

func FuzzSpeechless(f *testing.F) {
	f.Add(hostile)
	f.Add("\U000e0001")
	f.Fuzz(func(t *testing.T, s string) {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var want, got string
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		b = speechless(b)
		if err := json.Unmarshal(b, &got); err != nil || got != want {
			t.Errorf("%q comes back as %q: %v", want, got, err)
		}
		for _, r := range string(b) {
			if !unicode.IsGraphic(r) {
				t.Errorf("%q is left in %q", r, b)
			}
		}
	})
}
