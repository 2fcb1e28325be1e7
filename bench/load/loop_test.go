package load

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func answered() reply { return reply{first: time.Now()} }

// TestInvariant1_OpenLoadCountsWaiting: one request stalls for a second; those
// that were due meanwhile are as late as they are.
func TestInvariant1_OpenLoadCountsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		m := openLoop(t.Context(), 1, 2*time.Second, 10, func(int) reply {
			if calls++; calls == 1 {
				time.Sleep(time.Second)
			}
			return answered()
		})
		var want []time.Duration
		for i := range 20 {
			want = append(want, max(0, time.Second-time.Duration(i)*100*time.Millisecond))
		}
		if !slices.Equal(m.total, want) || !slices.Equal(m.first, want) {
			t.Errorf("latencies are %v and, to the first byte, %v; want %v", m.total, m.first, want)
		}
	})
}

func TestOpenLoadIsSentAtFixedTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		sent := make(chan time.Duration, 10)
		m := openLoop(t.Context(), 4, time.Second, 4, func(int) reply {
			sent <- time.Since(start)
			time.Sleep(300 * time.Millisecond)
			return answered()
		})
		close(sent)
		var at []time.Duration
		for s := range sent {
			at = append(at, s)
		}
		if want := []time.Duration{0, 250 * time.Millisecond, 500 * time.Millisecond, 750 * time.Millisecond}; !slices.Equal(at, want) {
			t.Errorf("sent at %v, want %v", at, want)
		}
		if m.took != 1050*time.Millisecond {
			t.Errorf("took %v, want 1.05s", m.took)
		}
	})
}

// TestOpenLoadCountsWhatIsNeverSent: what found no free connection before the end
// has failed, and is not left out.
func TestOpenLoadCountsWhatIsNeverSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		m := openLoop(ctx, 1, time.Second, 10, func(int) reply {
			<-ctx.Done()
			return reply{err: errors.New("cut")}
		})
		if m.failed != 10 || len(m.total) != 0 || m.err == nil || m.err.Error() != "cut" {
			t.Errorf("%d failed, the first with %v, and %d were answered; want 10, cut, 0", m.failed, m.err, len(m.total))
		}
	})
}

func TestClosedLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := closedLoop(t.Context(), 3, time.Second, func(int) reply {
			time.Sleep(100 * time.Millisecond)
			return answered()
		})
		if f := m.figures(); len(m.total) != 30 || f.perSecond != 30 || f.p50 != 100_000 || f.p99 != 100_000 {
			t.Errorf("%d answers, %+v; want 30 of 100 ms each", len(m.total), f)
		}
	})
}

// TestInvariant2_LoopsEndWithTheirContext: both ends before their time.
func TestInvariant2_LoopsEndWithTheirContext(t *testing.T) {
	for name, loop := range map[string]func(context.Context, shot) measurement{
		"closed": func(ctx context.Context, do shot) measurement { return closedLoop(ctx, 2, time.Hour, do) },
		"open":   func(ctx context.Context, do shot) measurement { return openLoop(ctx, 2, time.Hour, 10, do) },
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			m := loop(ctx, func(int) reply {
				time.Sleep(10 * time.Millisecond)
				return answered()
			})
			if m.took > 1010*time.Millisecond {
				t.Errorf("%s: ended after %v, want 1 s", name, m.took)
			}
		})
	}
}

func TestPercentile(t *testing.T) {
	times := func(n int) (out []time.Duration) {
		for i := range n {
			out = append(out, time.Duration(i+1)*time.Microsecond)
		}
		return out
	}
	f := func(n, percent int, want float64) {
		t.Helper()
		if got := percentile(times(n), percent); got != want {
			t.Errorf("percentile %d of 1..%d is %v, want %v", percent, n, got, want)
		}
	}
	f(0, 50, 0)
	f(1, 50, 1)
	f(1, 99, 1)
	f(2, 50, 1)
	f(100, 50, 50)
	f(100, 99, 99)
	f(101, 99, 100)
	f(1000, 99, 990)
}

func TestSpread(t *testing.T) {
	f := func(want Spread, values ...float64) {
		t.Helper()
		if got := spread(values); got != want {
			t.Errorf("spread(%v) = %v, want %v", values, got, want)
		}
	}
	f(Spread{})
	f(Spread{3, 3, 3}, 3)
	f(Spread{2, 1, 9}, 9, 1, 2)
	f(Spread{2.5, 1, 9}, 9, 1, 2, 3)
}

// TestSummarize: what the proxy adds is the median of the differences of each
// round, which is not the difference of the medians.
func TestSummarize(t *testing.T) {
	load := func(n int, each time.Duration) measurement {
		m := measurement{took: time.Second}
		for range n {
			m.total, m.first = append(m.total, each), append(m.first, each/2)
		}
		return m
	}
	us := func(n int) time.Duration { return time.Duration(n) * time.Microsecond }
	s := summarize("closed", []pair{
		{of: [2]measurement{load(100, us(100)), load(50, us(300))}, cpu: us(5000), watched: true},
		{of: [2]measurement{load(100, us(900)), load(80, us(1000))}, cpu: us(16000), watched: true},
		{of: [2]measurement{load(100, us(110)), load(20, us(120))}, cpu: us(6000), watched: true},
	})
	if want := (Spread{100, 10, 200}); s.AddedP50 != want || s.AddedP99 != want {
		t.Errorf("added p50 %v, p99 %v; want %v", s.AddedP50, s.AddedP99, want)
	}
	if want := (Spread{50, 5, 100}); s.AddedFirst != want {
		t.Errorf("added to the first byte: %v, want %v", s.AddedFirst, want)
	}
	if want := (Spread{0.5, 0.2, 0.8}); s.Throughput != want {
		t.Errorf("throughput %v, want %v", s.Throughput, want)
	}
	if want := (Spread{200, 100, 300}); s.CPU == nil || *s.CPU != want {
		t.Errorf("CPU %v, want %v", s.CPU, want)
	}
	if s.Direct.Requests != 300 || s.Proxy.Requests != 150 || s.Direct.P50 != 110 || s.Proxy.P50 != 300 {
		t.Errorf("sides are %+v and %+v", s.Direct, s.Proxy)
	}
}
