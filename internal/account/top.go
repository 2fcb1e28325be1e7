package account

import "slices"

// A top has the first few of what it was offered, in an order without ties.
type top[T any] struct {
	list  []T
	order func(a, b *T) int
}

// topLength is how many a top has.
const topLength = 10

// wants reports whether x would be among them.
func (t *top[T]) wants(x *T) bool {
	return len(t.list) < topLength || t.order(x, &t.list[topLength-1]) < 0
}

// offer takes x in if it is among them.
func (t *top[T]) offer(x T) {
	if !t.wants(&x) {
		return
	}
	at, _ := slices.BinarySearchFunc(t.list, x, func(a, b T) int { return t.order(&a, &b) })
	t.list = slices.Insert(t.list, at, x)
	t.list = t.list[:min(len(t.list), topLength)]
}
