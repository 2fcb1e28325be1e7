package explain

import (
	"slices"
	"testing"
	"time"
)

func TestAlarms(t *testing.T) {
	f := func(name string, want []string, asks ...ask) {
		t.Helper()
		_, alarms := alarmed(asks...)
		var got []string
		for _, a := range alarms {
			got = append(got, a.Name+" "+a.Request)
			if a.Thread != "t" || a.Detail == "" {
				t.Errorf("%s: alarm %+v", name, a)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	a := opened(anthropic, opus)
	cold := func(a ask) ask { return a.short(0) }
	b := cold(a.next())
	f("none", nil, a, a.next(), a.next().next())
	f("unread", []string{"writes_unread r2"}, a, b)
	f("unread, doubled", []string{"writes_unread r2", "writes_unread r4"}, a, b, cold(b.next()), cold(b.next().next()), cold(b.next().next().next()))
	f("read between", nil, a, a.next(), cold(a.next().next()))
	pause := b
	pause.r.Start = noon.Add(time.Hour)
	f("after a pause", nil, a, pause)
	f("prefix", []string{"prefix_drift r2"}, a, a.next().with(func(a *ask) { a.r.Prefix = "sha256:bb" }))
	f("prefix gone", []string{"prefix_drift r2"}, a, a.next().with(func(a *ask) { a.r.Prefix = "" }))
	f("new epoch", nil, a, a.next().with(func(a *ask) { a.r.Prefix, a.r.Epoch = "sha256:bb", 2 }))
	untold := a.with(func(a *ask) { a.untold = true })
	f("usage missing", []string{"usage_missing r1", "usage_missing r2"}, untold, untold.next(), untold.next().next())
	f("usage not asked for", nil, untold.with(func(a *ask) { a.r.WantsUsage = false }))
	f("answer cut", nil, untold.with(func(a *ask) { a.r.Complete = false }))
	hour := a.with(func(a *ask) {
		a.r.Marks = []Mark{{InSystem, 1, 0, "1h"}, {InMessages, 2, 0, "1h"}}
		a.fiveTold = true
	})
	f("1h for 5m", []string{"marks_not_granted r1", "marks_not_granted r2"}, hour, hour.next(), hour.next().next())
	f("1h granted", nil, hour.with(func(a *ask) { a.fiveTold = false }))
	f("server tool", nil, hour.with(func(a *ask) {
		replace(&a.tools, `{"name":"run"}`, `{"type":"web_search_20250305","name":"web_search"}`)
	}))
	f("mixed", nil, hour.with(func(a *ask) { a.r.Marks = []Mark{{InSystem, 1, 0, "1h"}, {InMessages, 2, 0, "5m"}} }))
	f("nothing written", []string{"marks_not_granted r1"}, a.with(func(a *ask) { a.written, a.fresh = 0, 9000 }))
	f("too small", nil, a.with(func(a *ask) { a.written, a.fresh = 0, 300 }))
}
