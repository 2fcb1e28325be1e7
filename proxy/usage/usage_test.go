package usage

import (
	"testing"

	"pgregory.net/rapid"
)

// The numbers of a report in which the written tokens were billed as fresh ones
// too.
func TestCaseD1_WrittenIsNotFresh(t *testing.T) {
	u := Usage{Fresh: Of(3), CacheRead: Of(0), Write5m: Of(12304), Write1h: Of(0), Output: Of(550)}
	f := func(name string, got, want Count) {
		t.Helper()
		if got != want {
			t.Errorf("%s of %+v = %v, want %v", name, u, got, want)
		}
	}
	f("Fresh", u.Fresh, Of(3))
	f("Written", u.Written(), Of(12304))
	f("Input", u.Input(), Of(12307))
	f("Total", u.Total(), Of(12857))
}

func TestCaseD4_TotalIsTheSumOfClasses(t *testing.T) {
	u := Usage{Fresh: Of(1), CacheRead: Of(20), Write5m: Of(300), Write1h: Of(4000), Write30m: Of(50000), WriteOther: Of(600000), Output: Of(7000000), Reasoning: Of(6000000)}
	if got, want := u.Total(), Of(7654321); got != want {
		t.Errorf("Total of %+v = %v, want %v", u, got, want)
	}
}

func TestI11_NotReportedIsNotZero(t *testing.T) {
	f := func(name string, got Count, known bool, n int64) {
		t.Helper()
		if got != (Count{N: n, Known: known}) {
			t.Errorf("%s = %v, want {%d %v}", name, got, n, known)
		}
	}
	var none Usage
	f("Input of nothing", none.Input(), false, 0)
	f("Written of nothing", none.Written(), false, 0)
	f("Total of nothing", none.Total(), false, 0)
	f("Input of fresh 0", Usage{Fresh: Of(0)}.Input(), true, 0)
	f("Input of unsplit", Usage{Unsplit: Of(9), WriteOther: Of(1)}.Input(), true, 10)
	f("Input of reads alone", Usage{CacheRead: Of(9)}.Input(), false, 0)
	f("Written of 0", Usage{WriteOther: Of(0)}.Written(), true, 0)
	f("Total without output", Usage{Fresh: Of(4)}.Total(), false, 0)
	f("known + unknown", Of(4).Plus(Count{}), false, 0)
	f("4 - 3", Of(4).Minus(Of(3)), true, 1)
	f("3 - 4", Of(3).Minus(Of(4)), false, 0)
	f("4 - unknown", Of(4).Minus(Count{}), false, 0)
}

func TestReported(t *testing.T) {
	f := func(u Usage, want bool) {
		t.Helper()
		if got := u.Reported(); got != want {
			t.Errorf("Reported of %+v = %v, want %v", u, got, want)
		}
	}
	f(Usage{}, false)
	f(Usage{Fresh: Of(0)}, true)
	f(Usage{CacheRead: Of(0)}, true)
	f(Usage{Write30m: Of(0)}, true)
	f(Usage{Unsplit: Of(0)}, true)
	f(Usage{Output: Of(0)}, true)
}

func TestInvariant1_Disjoint(t *testing.T) {
	count := rapid.Custom(func(t *rapid.T) Count {
		if !rapid.Bool().Draw(t, "known") {
			return Count{}
		}
		return Of(rapid.Int64Range(0, 1<<53).Draw(t, "n"))
	})
	rapid.Check(t, func(t *rapid.T) {
		d := func(name string) Count { return count.Draw(t, name) }
		u := Usage{d("fresh"), d("read"), d("5m"), d("1h"), d("30m"), d("other"), d("unsplit"), d("output"), d("reasoning"), false}
		var sum int64
		for _, c := range []Count{u.Fresh, u.CacheRead, u.Write5m, u.Write1h, u.Write30m, u.WriteOther, u.Unsplit} {
			sum += c.N
		}
		in := u.Input()
		if in.Known != (u.Fresh.Known || u.Unsplit.Known) || in.Known && in.N != sum {
			t.Fatalf("Input of %+v = %v, want the sum %d", u, in, sum)
		}
		if total := u.Total(); total.Known && total.N != sum+u.Output.N {
			t.Fatalf("Total of %+v = %v, want %d: reasoning is a part of output", u, total, sum+u.Output.N)
		}
	})
}
