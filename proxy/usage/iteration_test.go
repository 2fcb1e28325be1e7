package usage

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlus(t *testing.T) {
	all := Usage{Of(1), Of(2), Of(3), Of(4), Of(5), Of(6), Of(7), Of(8), Of(9), true}
	if d := cmp.Diff(Usage{Of(2), Of(4), Of(6), Of(8), Of(10), Of(12), Of(14), Of(16), Of(18), true}, all.Plus(all)); d != "" {
		t.Errorf("twice all (-want +got):\n%s", d)
	}
	// What is always reported is not known where one does not report it.
	some := Usage{CacheRead: Of(2), Write5m: Of(3), Write1h: Of(4), Write30m: Of(5), WriteOther: Of(6), Unsplit: Of(7), Odd: true}
	for _, sum := range []Usage{all.Plus(Usage{}), (Usage{}).Plus(all)} {
		if d := cmp.Diff(some, sum); d != "" {
			t.Errorf("all and nothing (-want +got):\n%s", d)
		}
	}
	if got := SumOf(nil); got != (Usage{}) {
		t.Errorf("the sum of none is %+v", got)
	}
}

// TestI11_BillOfIterations: thresholds hold for each run by itself, and each model
// has its own price.
func TestI11_BillOfIterations(t *testing.T) {
	p, err := NewPrices([]Entry{
		{Models: []string{"m"}, Source: "a test", Date: "2026-10-08", Input: "1", Output: "2", Over: Over{Tokens: 1000, Input: "2", Output: "2"}},
		{Models: []string{"other"}, Source: "a test", Date: "2026-10-08", Input: "10", Output: "20", Read: "1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	run := func(model string, fresh, output int64) Iteration {
		return Iteration{model, Usage{Fresh: Of(fresh), Output: Of(output)}}
	}
	f := func(want Bill, list ...Iteration) {
		t.Helper()
		if got := p.Bill(Query{Model: "m", At: noon}, list); got != want {
			t.Errorf("Bill(%+v) = %+v, want %+v", list, got, want)
		}
	}
	f(Bill{Paid: 1800 * 1e6, Uncached: 1800 * 1e6}, run("", 900, 0), run("", 900, 0))
	f(Bill{Paid: 2002 * 1e6, Uncached: 2002 * 1e6}, run("", 1001, 0))
	f(Bill{Paid: (1 + 2*2 + 3*1) * 1e6, Uncached: (1 + 2*2 + 3*10) * 1e6}, run("", 1, 2), Iteration{"other", Usage{Fresh: Of(0), CacheRead: Of(3), Output: Of(0)}})
	f(Bill{Unpriced: NoPrice}, run("", 1, 2), run("nobody-knows", 1, 2))
	f(Bill{Unpriced: NotReported}, run("", 1, 2), Iteration{})
}
