package explain

import (
	"testing"
	"time"
)

func TestChangeAfterAPauseIsExpired(t *testing.T) {
	a := opened(anthropic, opus)
	b := nonced(a.next(), "aaaa1").short(0)
	b.r.Start = noon.Add(time.Hour)
	want{Expired, ByClient, "", "1h0m0s from start to start; the lifetime granted is 5m0s", false}.check(t, observe(t, a, b))
}

func TestLifetimeIsTheGrantedOne(t *testing.T) {
	hour := opened(anthropic, opus)
	hour.r.Marks[0].TTL, hour.r.Marks[1].TTL = "1h", "1h"
	after := func(a ask, d time.Duration) ask {
		b := a.next().short(0)
		b.r.Start = noon.Add(d)
		return b
	}
	want{Provider, ByProvider, "", "", false}.check(t, observe(t, hour, after(hour, 59*time.Minute)))
	want{Expired, ByClient, "", "lifetime granted is 1h0m0s", false}.check(t, observe(t, hour, after(hour, time.Hour)))
	denied := hour
	denied.fiveTold = true
	want{Expired, ByClient, "", "granted is 5m0s, 1h0m0s were asked for", false}.check(t, observe(t, denied, after(denied, 6*time.Minute)))
	// A long answer does not prolong it.
	slow := opened(anthropic, opus)
	slow.r.FirstByte = noon.Add(4 * time.Minute)
	want{Expired, ByClient, "", "5m1s", false}.check(t, observe(t, slow, after(slow, 5*time.Minute+time.Second)))
	for _, f := range []struct {
		model, params string
		gap           time.Duration
		cause         string
	}{
		{sol, ``, 29 * time.Minute, Provider},
		{sol, ``, 30 * time.Minute, Expired},
		{"gpt-6.2-sol", `,"prompt_cache_options":{"ttl":"12h"}`, 11 * time.Hour, Provider},
		{"gpt-6.2-sol", `,"prompt_cache_options":{"ttl":"12h"}`, 12 * time.Hour, Expired},
		{gpt5, ``, 4 * time.Minute, Provider},
		{gpt5, ``, 6 * time.Minute, Expired},
		{gpt5, `,"prompt_cache_retention":"24h"`, 23 * time.Hour, Provider},
		{"gpt-5.5", ``, 23 * time.Hour, Provider},
		{"gpt-5.5", ``, 24 * time.Hour, Expired},
		{"qwen3-coder", ``, 24 * time.Hour, Provider},
	} {
		a := opened(responses, f.model)
		a.params += f.params
		if v := observe(t, a, after(a, f.gap)); v.Cause != f.cause {
			t.Errorf("%s after %v: %s (%s), want %s", f.model, f.gap, v.Cause, v.Detail, f.cause)
		}
	}
}

func TestLifetimeOfSeveral(t *testing.T) {
	both := opened(anthropic, opus)
	both.r.Marks[0].TTL, both.r.Marks[1].TTL = "1h", "5m"
	r, late := both.made(), both.next().short(0)
	r.Usage.Write1h = r.Usage.Write5m
	late.r.Start = noon.Add(6 * time.Minute)
	tr := NewTracker(Options{})
	tr.Observe("t", r)
	v, _ := tr.Observe("t", late.made())
	want{Expired, ByClient, "", "granted is 5m0s", false}.check(t, v)

	r.Marks = []Mark{{InSystem, 1, 0, "1h"}, {InMessages, 2, 0, "1h"}} // the other class is a server tool's
	tr = NewTracker(Options{})
	tr.Observe("t", r)
	v, _ = tr.Observe("t", late.made())
	want{Provider, ByProvider, "", "", false}.check(t, v)

	a := opened(responses, "gpt-6.2-sol")
	b := a.next()
	b.params += `,"prompt_cache_options":{"ttl":"12h"}`
	c := b.next().short(0)
	c.r.Start = noon.Add(2 * time.Hour)
	want{Provider, ByProvider, "", "", false}.check(t, observe(t, a, b, c))
}
