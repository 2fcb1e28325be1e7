package logsink_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/logsink/logtest"
)

// A history is what was asked of the anchors of some sessions, and what was
// answered. It must be that of one register per session and epoch that is
// written once, however many processes, connections and faults were between.
type history struct {
	start time.Time

	mu  sync.Mutex
	ops []porcupine.Operation
}

// A move is the input of an operation: Freeze of a text, or Current for "".
type move struct {
	of   logsink.EpochRef
	text string
}

// An outcome is its output: the text of the anchor that is there, "" if there
// is none. It is unknown if the call failed: then it may or may not have
// happened, at any time since.
type outcome struct {
	text    string
	unknown bool
}

func newHistory() *history { return &history{start: time.Now()} }

// record does an operation and notes it. A Current that failed says nothing.
func (h *history) record(client int, m move, do func() (*logsink.Anchor, error)) (*logsink.Anchor, error) {
	called := time.Since(h.start)
	a, err := do()
	op := porcupine.Operation{ClientId: client, Input: m, Call: int64(called), Return: int64(time.Since(h.start))}
	switch {
	case err == nil:
		op.Output = outcome{text: textOf(a)}
	case errors.Is(err, logsink.ErrNoSession):
		op.Output = outcome{}
	case m.text == "":
		return a, err
	default:
		op.Output, op.Return = outcome{unknown: true}, math.MaxInt64
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, op)
	return a, err
}

// textOf is what a sample anchor was made of, if its bytes are those that it was
// made with.
func textOf(a *logsink.Anchor) string {
	text := a.Messages[0].Text
	want := logtest.Anchor(a.Key, a.Epoch, text)
	for i := range want.Renderings {
		if r := want.Renderings[i]; string(a.Rendering(r.Name)) != string(r.Bytes) {
			return fmt.Sprintf("%s with the bytes %q", text, a.Rendering(r.Name))
		}
	}
	return text
}

var writeOnce = porcupine.Model{
	Partition: func(ops []porcupine.Operation) [][]porcupine.Operation {
		byEpoch := map[logsink.EpochRef][]porcupine.Operation{}
		for _, op := range ops {
			of := op.Input.(move).of
			byEpoch[of] = append(byEpoch[of], op)
		}
		var parts [][]porcupine.Operation
		for _, part := range byEpoch {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		there, m, out := state.(string), input.(move), output.(outcome)
		if there == "" {
			there = m.text
		}
		return out.unknown || out.text == there, there
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v = %+v", input, output) },
}

// firstUnknown leaves out all but the first of failed operations that ask the
// same: whatever a later one has done, the first may have done then. The checker
// would try them in every order.
func firstUnknown(ops []porcupine.Operation) []porcupine.Operation {
	ops = slices.Clone(ops)
	slices.SortStableFunc(ops, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	seen := map[move]bool{}
	return slices.DeleteFunc(ops, func(op porcupine.Operation) bool {
		m, again := op.Input.(move), false
		if op.Output.(outcome).unknown {
			again = seen[m]
			seen[m] = true
		}
		return again
	})
}

// check requires that the history is linearizable.
func (h *history) check(t *testing.T) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, part := range writeOnce.Partition(firstUnknown(h.ops)) {
		result := porcupine.CheckOperationsTimeout(porcupine.Model{Init: writeOnce.Init, Step: writeOnce.Step}, part, 10*time.Second)
		if result == porcupine.Ok {
			continue
		}
		t.Errorf("I5: the history of an anchor is not that of a register that is written once: %s", result)
		for _, op := range part {
			t.Logf("%12v to %12v: client %d: %s", time.Duration(op.Call), time.Duration(op.Return), op.ClientId, writeOnce.DescribeOperation(op.Input, op.Output))
		}
		return
	}
}

// TestHistoryIsJudged: the checker sees two winners, an anchor that is gone, and
// bytes of another; and it lets a call that failed have happened or not.
func TestHistoryIsJudged(t *testing.T) {
	of := logsink.EpochRef{Key: logsink.Key{Tenant: "t", Session: "s"}, Epoch: 1}
	type call struct {
		text string
		outcome
	}
	f := func(name string, want bool, calls ...call) {
		t.Helper()
		var ops []porcupine.Operation
		for i, c := range calls {
			at := int64(10 * i)
			op := porcupine.Operation{ClientId: i, Input: move{of, c.text}, Output: c.outcome, Call: at, Return: at + 5}
			if c.unknown {
				op.Return = math.MaxInt64
			}
			ops = append(ops, op)
		}
		if got := porcupine.CheckOperations(writeOnce, firstUnknown(ops)); got != want {
			t.Errorf("%s: linearizable is %v, want %v", name, got, want)
		}
	}
	says := func(text string) outcome { return outcome{text: text} }
	lost := outcome{unknown: true}
	f("one after the other", true, call{"", says("")}, call{"a", says("a")}, call{"b", says("a")}, call{"", says("a")})
	f("two winners", false, call{"a", says("a")}, call{"b", says("b")})
	f("gone", false, call{"a", says("a")}, call{"", says("")})
	f("from nowhere", false, call{"", says("a")})
	f("lost, and stored", true, call{"a", lost}, call{"", says("a")})
	f("lost, and stored late", true, call{"a", lost}, call{"", says("")}, call{"", says("a")})
	f("lost, and not stored", true, call{"a", lost}, call{"b", says("b")})
	f("lost twice, and stored", true, call{"a", lost}, call{"", says("")}, call{"a", lost}, call{"", says("a")})
	f("lost, and stored and gone", false, call{"a", lost}, call{"", says("a")}, call{"b", says("b")})
}

// callDeadline is what a request would wait for the log.
const callDeadline = time.Second

// within is the context of one such call.
func within() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), callDeadline)
}
