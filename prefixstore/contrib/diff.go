package contrib

// Diff compares what two runs gave. If they differ it returns the place of the
// first difference: the message's index and the offset in bytes in its text. A
// role that differs is at offset 0; a message that only one run has is at its
// own index, offset 0.
func Diff(a, b []Message) (offset, message int, differ bool) {
	for i := range min(len(a), len(b)) {
		if a[i].Role != b[i].Role {
			return 0, i, true
		}
		if a[i].Text != b[i].Text {
			return firstDifference(a[i].Text, b[i].Text), i, true
		}
	}
	if len(a) != len(b) {
		return 0, min(len(a), len(b)), true
	}
	return 0, 0, false
}

// firstDifference returns the length of the longest common beginning.
func firstDifference(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
