package provider

import (
	"encoding/binary"
	"slices"
	"sync"
)

// maxPrints bounds how many requests of one kind later ones can be compared with.
const maxPrints = 4096

// prints keep what is needed to compare requests with later ones, by the ids of
// their answers: digests and counts, no text. An id of another tenant does not
// exist. What was added longest ago goes first; how long the real ones keep
// theirs is not told, so time takes nothing away here.
type prints[T any] struct {
	mu    sync.Mutex
	kept  map[storeKey]T
	order []storeKey
}

func newPrints[T any]() *prints[T] { return &prints[T]{kept: map[storeKey]T{}} }

func (p *prints[T]) add(tenant, id string, print T) {
	key := storeKey{tenant, id}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, again := p.kept[key]; !again {
		p.order = append(p.order, key)
	}
	p.kept[key] = print
	if len(p.order) > maxPrints {
		delete(p.kept, p.order[0])
		p.order = slices.Delete(p.order, 0, 1)
	}
}

func (p *prints[T]) get(tenant, id string) (T, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	print, ok := p.kept[storeKey{tenant, id}]
	return print, ok
}

// brief are the digests of points, cut short: they find differences.
func brief(points []point) []uint64 {
	out := make([]uint64, len(points))
	for i, p := range points {
		out[i] = binary.LittleEndian.Uint64(p.Sum[:])
	}
	return out
}
