package explain

import (
	"testing"
	"time"
)

func TestFirstRequestIsCold(t *testing.T) {
	for _, f := range families {
		a := opened(f.dialect, f.model)
		want{Cold, ByClient, "", "first request of its thread", false}.check(t, observe(t, a))
		a.read = 5000 // others have been there
		if v := observe(t, a); v != none {
			t.Errorf("%v: a first request that read something: %+v", f, v)
		}
	}
}

func TestFirstRequestBesideItsLike(t *testing.T) {
	pair := func(f family, start time.Duration, change func(*ask)) Verdict {
		a := opened(f.dialect, f.model)
		b := opened(f.dialect, f.model)
		b.r.ID, b.r.Start, b.r.FirstByte = "r2", noon.Add(start), noon.Add(start+2*time.Second)
		b.says[0].text = "another task"
		change(&b)
		tr := NewTracker(Options{})
		tr.Observe("one", a.made())
		v, _ := tr.Observe("two", b.made())
		return v
	}
	same := func(*ask) {}
	want{ConcurrentCold, ByClient, "", "1s before the answer to r1, with the same opening, began", false}.check(t, pair(claudes[0], time.Second, same))
	want{Provider, ByProvider, "", "diagnosis would tell", false}.check(t, pair(claudes[0], 3*time.Second, same))
	want{Cold, ByClient, "", "last used 6m0s ago and lives for 5m0s", false}.check(t, pair(claudes[0], 6*time.Minute, same))
	want{Cold, ByClient, "", "same tools and another system prompt (volatile token in system[1]", false}.
		check(t, pair(claudes[0], 3*time.Second, func(a *ask) { *a = nonced(*a, "0aaa9") }))
	want{ConcurrentCold, ByClient, "", "", false}.check(t, pair(older[0], time.Second, same))
	// Boundaries end at the latest user message, which is another.
	want{Cold, ByClient, "", "no mark ends on it", false}.check(t, pair(newer[0], time.Second, same))
	want{Cold, ByClient, "", "no mark ends on it", false}.check(t, pair(newer[0], 3*time.Second, same))
	want{ConcurrentCold, ByClient, "", "", false}.check(t, pair(newer[0], time.Second, func(a *ask) { a.says = talk(3) }))
	for _, change := range []func(*ask){
		func(a *ask) { a.r.Account = "beta" }, func(a *ask) { a.r.Model = "claude-opus-5" }, func(a *ask) { a.r.Prefix = "" },
	} {
		want{Cold, ByClient, "", "first request", false}.check(t, pair(claudes[0], time.Second, change))
	}
}
