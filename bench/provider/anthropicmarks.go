package provider

import (
	"slices"
	"time"

	"github.com/seed-9236c7ca/preface/bench/cache"
)

// checkMarks checks the cache_control of every block (facts/providers.md 1.3).
// It reads all of the request, also what a compaction hides from the model.
func (m *messagesRequest) checkMarks() *apiError {
	found := 0
	for _, p := range m.placed {
		if e := checkChildren(p); e != nil {
			return e
		}
		control := markOf(p)
		if control == nil {
			continue
		}
		found++
		if e := checkMark(p, control); e != nil {
			return e
		}
	}
	if m.body.has("cache_control") {
		found++
		if _, ok := lifetimeOf(m.body.obj("cache_control")); !ok {
			return refuse("cache_control: Input should be {'type': 'ephemeral', 'ttl': '5m' or '1h'}")
		}
	}
	if found > cache.MaxMarks {
		return refuse("A maximum of %d blocks with cache_control may be provided. Found %d.", cache.MaxMarks, found)
	}
	if e := m.checkAutomatic(); e != nil {
		return e
	}
	return m.checkMarkOrder()
}

func checkMark(p placed, control object) *apiError {
	switch t := p.block.str("type"); {
	case p.directive:
		return refuse("%s.cache_control: Extra inputs are not permitted", p.path)
	case t == "thinking" || t == "redacted_thinking":
		return refuse("%s.%s.cache_control: Extra inputs are not permitted", p.path, t)
	case t == "text" && p.block.str("text") == "":
		return refuse("%s: cache_control cannot be set for empty text blocks", p.path)
	}
	if _, ok := lifetimeOf(control); !ok {
		return refuse("%s.cache_control: Input should be {'type': 'ephemeral', 'ttl': '5m' or '1h'}", p.path)
	}
	return nil
}

// markOf returns the cache_control of a block: its own, or that of the last
// child of a tool_result, which counts for the parent.
func markOf(p placed) object {
	if control := p.block.obj("cache_control"); control != nil {
		return control
	}
	if children := childrenOf(p.block); len(children) > 0 {
		return children[len(children)-1].obj("cache_control")
	}
	return nil
}

func childrenOf(b object) []object {
	if b.str("type") != "tool_result" {
		return nil
	}
	return objects(b.list("content"))
}

func checkChildren(p placed) *apiError {
	children := childrenOf(p.block)
	for i, c := range children {
		if c.has("cache_control") && i < len(children)-1 {
			return refuse("%s.content.%d.cache_control: only the last block of a tool_result may be marked", p.path, i)
		}
	}
	return nil
}

func lifetimeOf(control object) (time.Duration, bool) {
	if control.str("type") != "ephemeral" {
		return 0, false
	}
	switch ttl := control.str("ttl"); {
	case ttl == "5m" || !control.has("ttl"):
		return cache.Lifetime5m, true
	case ttl == "1h":
		return cache.Lifetime1h, true
	}
	return 0, false
}

func ttlName(d time.Duration) string {
	if d == cache.Lifetime1h {
		return "1h"
	}
	return "5m"
}

// automatic returns the block that a top-level cache_control marks: the last
// that can be marked, or -1.
func automatic(blocks []placed) int {
	for i, p := range slices.Backward(blocks) {
		if !p.directive && checkMark(p, object{"type": "ephemeral"}) == nil {
			return i
		}
	}
	return -1
}

// checkAutomatic refuses a top-level mark on a block that has another lifetime.
func (m *messagesRequest) checkAutomatic() *apiError {
	if !m.body.has("cache_control") {
		return nil
	}
	want, _ := lifetimeOf(m.body.obj("cache_control"))
	at := automatic(m.placed)
	if at < 0 {
		return nil
	}
	if own := markOf(m.placed[at]); own != nil {
		if has, _ := lifetimeOf(own); has != want {
			return refuse("cache_control: the last block is already marked with ttl='%s'", ttlName(has))
		}
	}
	return nil
}

// A marked block is where a mark stands, in render order.
type marked struct {
	placed
	cache.Mark // at an index of the blocks given
}

// marksIn returns the marks of some blocks, the automatic one included.
func (m *messagesRequest) marksIn(blocks []placed) []marked {
	auto := -1
	if m.body.has("cache_control") {
		auto = automatic(blocks)
	}
	var out []marked
	for i, p := range blocks {
		control := markOf(p)
		if control == nil && i == auto {
			control = m.body.obj("cache_control")
		}
		if control != nil {
			lifetime, _ := lifetimeOf(control)
			out = append(out, marked{p, cache.Mark{At: i, Lifetime: lifetime}})
		}
	}
	return out
}

// checkMarkOrder checks that longer lifetimes come first.
func (m *messagesRequest) checkMarkOrder() *apiError {
	placed := m.marksIn(m.placed)
	marks := make([]cache.Mark, len(placed))
	for i, k := range placed {
		marks[i] = k.Mark
	}
	if i := cache.LongAfterShort(marks); i >= 0 {
		return refuse("%s.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.", placed[i].path)
	}
	return nil
}
