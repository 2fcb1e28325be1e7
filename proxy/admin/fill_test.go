package admin

import (
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/logsink"
)

// recorded makes a log of two sessions, with answers from before the process and
// from after it began.
func recorded(t *testing.T, began time.Time) (logsink.Reader, []logsink.Record) {
	l, r := openLog(t)
	s := &sample{t: t, log: l, now: began}
	s.versioned(logsink.Key{Tenant: "t1", Session: "a"}, 1, began.Add(-time.Hour))
	s.versioned(logsink.Key{Tenant: "t1", Session: "b"}, 2, began.Add(-48*time.Hour))
	var recs []logsink.Record
	for _, e := range []struct {
		session, id string
		ago         time.Duration
	}{{"b", "older", 30 * time.Hour}, {"b", "b1", 2 * time.Hour}, {"a", "a1", time.Minute}, {"a", "live", -time.Second}} {
		req, resp := exchangeAt(began.Add(-e.ago), e.session, e.id, &logsink.Usage{Fresh: ptr(10), CacheRead: ptr(90)}, cost(5), nil)
		recs = append(recs, logsink.Record{Request: req}, logsink.Record{Response: resp})
	}
	if err := l.Append(t.Context(), recs, nil); err != nil {
		t.Fatal(err)
	}
	return r, recs
}

// TestFillCountsWhatWasBefore: answers that the process observes itself, and
// those that are too old, are not counted from the log.
func TestFillCountsWhatWasBefore(t *testing.T) {
	began := time.Now().UTC()
	r, recs := recorded(t, began)
	o := newOverview(r, func() time.Time { return began.Add(2 * time.Second) })
	o.began = began
	o.Observe(recs[6].Request, recs[7].Response)
	recent, err := o.list(t.Context())
	if err == nil {
		err = o.readPast(t.Context(), recent)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := o.Summary()
	if s.Total.Requests != 3 || s.Hour.Requests != 2 || s.Past.Sessions != 2 || s.Past.Of != 2 {
		t.Errorf("counted %d requests, %d in the last hour, of %d of %d sessions; want 3, 2, 2, 2", s.Total.Requests, s.Hour.Requests, s.Past.Sessions, s.Past.Of)
	}
	got := map[string]int64{}
	for _, x := range s.Recent {
		got[x.Session] = x.Requests
		if x.Prefix == "" || x.Decision != logsink.Inject {
			t.Errorf("session %s has prefix %q, decision %q", x.Session, x.Prefix, x.Decision)
		}
	}
	if d := cmp.Diff(map[string]int64{"a": 2, "b": 1}, got); d != "" {
		t.Errorf("requests differ (-want +got):\n%s", d)
	}
	if s.Recent[0].Session != "a" {
		t.Errorf("the session used last is %q, want a", s.Recent[0].Session)
	}
}

// The log is read in the background until Close, and the prefixes of sessions that
// come are looked up.
func TestI10_FillRunsAndEnds(t *testing.T) {
	l, r := openLog(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s := &sample{t: t, log: l}
	k := logsink.Key{Tenant: "t1", Session: "new"}
	o := NewOverview(r)
	s.versioned(k, 1, time.Now())
	req, resp := exchangeAt(time.Now(), "new", "r", nil, nil, nil)
	for { // the list of sessions may have been read before the anchor was there
		o.Observe(req, resp)
		if got := o.session(k); got.Prefix != "" {
			break
		}
	}
	o.Close()
	o.Close()
	if p := o.pastNow(); !p.Done {
		t.Errorf("after the end: %+v", p)
	}
}

func TestFillSaysWhatItCouldNotRead(t *testing.T) {
	o := NewOverview(&shelf{err: logsink.ErrUnavailable})
	for !o.pastNow().Done {
		runtime.Gosched()
	}
	o.Close()
	if p := o.pastNow(); p.Trouble != logsink.ErrUnavailable.Error() {
		t.Errorf("trouble = %q, want %q", p.Trouble, logsink.ErrUnavailable)
	}
}

func TestDiff(t *testing.T) {
	f := func(a, b []string, want ...Line) {
		t.Helper()
		if d := cmp.Diff(want, diff(a, b), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("diff(%q, %q) differs (-want +got):\n%s", a, b, d)
		}
	}
	f(nil, nil)
	f([]string{"a"}, []string{"a"})
	f([]string{"a"}, nil, Line{"-", "a"})
	f(nil, []string{"a"}, Line{"+", "a"})
	f([]string{"1", "2", "3", "4", "a", "5"}, []string{"1", "2", "3", "4", "b", "5"}, Line{"…", "2 equal lines"}, Line{" ", "3"}, Line{" ", "4"}, Line{"-", "a"}, Line{"+", "b"}, Line{" ", "5"})
	f([]string{"x", "k", "y"}, []string{"k", "z"}, Line{"-", "x"}, Line{" ", "k"}, Line{"-", "y"}, Line{"+", "z"})
	long := make([]string, 3000)
	for i := range long {
		long[i] = string(rune('a' + i%26))
	}
	if got := diff(long, append([]string{"new"}, long[:2999]...)); len(got) > diffLines+2 {
		t.Errorf("a long difference has %d lines, want at most %d", len(got), diffLines)
	}
}

func TestPart(t *testing.T) {
	f := func(a, b string, want *Place) {
		t.Helper()
		if d := cmp.Diff(want, part([]byte(a), []byte(b))); d != "" {
			t.Errorf("part(%q, %q) differs (-want +got):\n%s", a, b, d)
		}
	}
	f("same", "same", nil)
	f("abXcd", "abYYcd", &Place{2, "ab", "X", "YY", "cd"})
	f("", "new", &Place{0, "", "", "new", ""})
	f("aa", "aaa", &Place{2, "aa", "", "a", ""})
	f("\xff\x1b", "\xfe\x1b", &Place{0, "", "\uFFFD", "\uFFFD", "\uFFFD"})
}

func TestReadable(t *testing.T) {
	f := func(part, in string, want ...string) {
		t.Helper()
		if d := cmp.Diff(want, readable(part, []byte(in))); d != "" {
			t.Errorf("readable(%s, %q) differs (-want +got):\n%s", part, in, d)
		}
	}
	f("system", `"one\ntwo"`, "one", "two")
	f("tools", `{"b":1,"a":[true,null,"x"]},{}`, "-", "  b: 1", "  a:", "    true", "    null", "    x", "-")
	f("parameters", `"n":1e400,"o":{"p":"q\u001b"}`, "n: 1e400", "o:", "  p: q\uFFFD")
	f("system", `not JSON`, "not JSON")
	f("system", `"a"] , [`, `"a"] , [`)
	f("system", "\xff", "\uFFFD")
}

// FuzzReadable: whatever a client sent as its system prompt, it is shown, and
// without a character that is not to be.
func FuzzReadable(f *testing.F) {
	f.Add("system", []byte(`"a"`))
	f.Add("parameters", []byte(`"a":{"b":[1,"\n"]}`))
	f.Add("tools", []byte("{\"a\":\"\x1b\"}"))
	f.Fuzz(func(t *testing.T, part string, b []byte) {
		for _, l := range readable(part, b) {
			if l != legible.Visible(l) {
				t.Errorf("readable(%q, %q) has the line %q", part, b, l)
			}
		}
	})
}
