package cache

// A recency is a list of block numbers, the one touched last first. A number's
// neighbours are at number+1; at 0 are the first and the last of the list.
type recency struct {
	next, prev []int64
	held       int64
}

func (r *recency) reset() {
	r.next, r.prev, r.held = r.next[:0], r.prev[:0], 0
	r.grow(0)
}

// grow makes room for numbers below n.
func (r *recency) grow(n int) {
	for len(r.next) < n+1 {
		r.next, r.prev = append(r.next, 0), append(r.prev, 0)
	}
}

// touch puts a number first.
func (r *recency) touch(number int64, held bool) {
	at := number + 1
	if held {
		r.unlink(at)
	}
	first := r.next[0]
	r.next[0], r.prev[first] = at, at
	r.next[at], r.prev[at] = first, 0
	r.held++
}

// dropOldest takes the last number out. There must be one.
func (r *recency) dropOldest() int64 {
	at := r.prev[0]
	r.unlink(at)
	return at - 1
}

func (r *recency) unlink(at int64) {
	before, behind := r.prev[at], r.next[at]
	r.next[before], r.prev[behind] = behind, before
	r.held--
}
