package economics

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9236c7ca/preface/bench/cache"
)

// A lru is a cache of texts with room for so many blocks, in as few words as
// possible.
type lru struct {
	room  int
	order []string // the one used longest ago first
}

func (l *lru) read(blocks []string) (warm int64) {
	texts := make([]string, len(blocks))
	for i := range blocks {
		texts[i] = strings.Join(blocks[:i+1], " ")
	}
	for warm < int64(len(texts)) && slices.Contains(l.order, texts[warm]) {
		warm++
	}
	for _, text := range slices.Backward(texts) {
		l.order = slices.DeleteFunc(l.order, func(s string) bool { return s == text })
		l.order = append(l.order, text)
		l.order = l.order[max(0, len(l.order)-l.room):]
	}
	return warm * blockSize
}

// TestEngineReadsWhatALRUDoes: with a capacity each strategy reads what a cache of
// the whole text reads, with the opener in it, that drops what was used longest ago.
func TestEngineReadsWhatALRUDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &scene{plan: drawPlan(t)}
		var naive []*lru
		for _, room := range []int{3, 20, 60, 1000} {
			s.plan.capacity = int64(room) * blockSize
			for _, g := range strategies {
				s.add(g, &tier{rules: cache.Rules{Kind: cache.ByBlocks, Step: 1}}, openerBlocks*blockSize)
				naive = append(naive, &lru{room: room})
			}
		}
		pl := player{scenes: []*scene{s}}
		pl.beginScope()
		conv := newConversation()
		for n := range rapid.IntRange(1, 25).Draw(t, "requests") {
			r := conv.next(t)
			before := make([]int64, len(s.cells))
			for i, c := range s.cells {
				before[i] = c.sums.all().read
			}
			pl.prompt.Request = &r
			pl.request(&r)
			for i, c := range s.cells {
				if c.strategy.uncached {
					continue
				}
				want := naive[i].read(insert(c, s, &r, c.given(&pl.prompt, s)))
				if got := c.sums.all().read - before[i]; got != want {
					t.Fatalf("request %d of %s with room for %d blocks reads %d, want %d (plan %+v)", n, c.strategy.name, naive[i].room, got, want, s.plan)
				}
			}
		}
	})
}

// TestCapacityRefused: a capacity is of engines, and of what is simulated with one.
func TestCapacityRefused(t *testing.T) {
	for want, o := range map[string]Options{
		"capacity -1":                   {Capacity: -1},
		"want a provider among vllm":    {Capacity: 5},
		"with room for everything only": {Capacity: 5, Providers: []string{"vllm"}, Keepalive: 1},
	} {
		if _, err := newStage(o.WithDefaults()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("newStage(%+v): error %v, want %s", o, err, want)
		}
	}
}
