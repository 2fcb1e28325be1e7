package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/bench/cache"
	"github.com/seed-9236c7ca/preface/bench/trace"
)

// TestDialogue: what requests share stays, and what they do not is written anew.
func TestDialogue(t *testing.T) {
	d := &dialogue{shrink: 1, leastTool: 20}
	f := func(why string, input, output int64, runs []cache.Run, wantHead int, want ...message) {
		t.Helper()
		d.turn(&trace.Request{Input: input, Output: output, Block: 10, Runs: runs, Tools: 40, System: 20})
		if d.head.id != wantHead {
			t.Errorf("%s: head %d, want %d", why, d.head.id, wantHead)
		}
		if diff := cmp.Diff(want, d.history, cmp.AllowUnexported(message{})); diff != "" {
			t.Errorf("%s: history differs (-want +got):\n%s", why, diff)
		}
	}
	first := message{2, false, 45, 105}
	f("the first request", 105, 30, []cache.Run{{Start: 0, Count: 10}}, 1, first)
	second := []message{first, {3, true, 30, 135}, {4, false, 23, 158}}
	f("an answer and what the user said", 158, 8, []cache.Run{{Start: 0, Count: 15}}, 1, second...)
	f("the same again", 158, 8, []cache.Run{{Start: 0, Count: 15}}, 1, second...)
	f("a little more", 163, 500, []cache.Run{{Start: 0, Count: 16}}, 1, append(second, message{5, false, 5, 163})...)
	f("a long answer and a short word", 180, 1, []cache.Run{{Start: 0, Count: 18}}, 1, append(second, message{5, false, 5, 163}, message{6, true, 13, 176}, message{7, false, 4, 180})...)
	f("rewound into the second user's message", 160, 1, []cache.Run{{Start: 0, Count: 14}, {Start: 30, Count: 2}}, 1, first, message{3, true, 30, 135}, message{8, false, 25, 160})
	f("no room behind what is shared", 161, 1, []cache.Run{{Start: 0, Count: 14}, {Start: 30, Count: 2}}, 1, first, message{3, true, 30, 135}, message{9, false, 26, 161})
	f("rewound, and more said than before", 250, 1, []cache.Run{{Start: 0, Count: 14}, {Start: 30, Count: 1}, {Start: 60, Count: 10}}, 1, first, message{3, true, 30, 135}, message{10, false, 115, 250})
	f("compacted: the head is left", 90, 1, []cache.Run{{Start: 0, Count: 6}, {Start: 40, Count: 3}}, 1, message{11, false, 30, 90})
	f("another head", 90, 1, []cache.Run{{Start: 50, Count: 9}}, 12, message{13, false, 30, 90})
	f("a probe has no room for a head", 61, 1, []cache.Run{{Start: 70, Count: 6}}, 14, message{15, false, 61, 61})
}

func TestCommonBlocks(t *testing.T) {
	f := func(a, b []cache.Run, want int64, wantWhole bool) {
		t.Helper()
		if n, whole := commonBlocks(a, b); n != want || whole != wantWhole {
			t.Errorf("commonBlocks(%v, %v) = %d, %v, want %d, %v", a, b, n, whole, want, wantWhole)
		}
	}
	f(nil, []cache.Run{{Start: 1, Count: 2}}, 0, true)
	f([]cache.Run{{Start: 1, Count: 2}}, nil, 0, false)
	f([]cache.Run{{Start: 1, Count: 2}}, []cache.Run{{Start: 1, Count: 5}}, 2, true)
	f([]cache.Run{{Start: 1, Count: 5}}, []cache.Run{{Start: 1, Count: 2}}, 2, false)
	f([]cache.Run{{Start: 1, Count: 2}, {Start: 9, Count: 1}}, []cache.Run{{Start: 1, Count: 2}, {Start: 9, Count: 4}}, 3, true)
	f([]cache.Run{{Start: 1, Count: 2}, {Start: 9, Count: 1}}, []cache.Run{{Start: 1, Count: 3}}, 2, false)
	f([]cache.Run{{Start: 1, Count: 2}, {Start: 9, Count: 1}}, []cache.Run{{Start: 1, Count: 2}, {Start: 10, Count: 1}}, 2, false)
}
