package logsink

import "testing"

func TestVersionAtLeast(t *testing.T) {
	f := func(version string, want bool) {
		t.Helper()
		if got := versionAtLeast(version, oldestSQLite); got != want {
			t.Errorf("versionAtLeast(%q, %q) = %v, want %v", version, oldestSQLite, got, want)
		}
	}
	f("3.51.3", true)
	f("3.51.10", true)
	f("3.54.1", true)
	f("4.0.0", true)
	f("3.51.2", false)
	f("3.40.1", false)
	f("3.9.9", false)
	f("2.99.99", false)
	f("3.51", false)
	f("", false)
	f("3.51.x", false)
}

// What a thread's place in a session's row says, against a plain map.
func TestHeads(t *testing.T) {
	h := newHeads()
	for i := range 3 * headsMost {
		thread := threadHash(i % headsMost)
		h = h.set(thread, int64(i+1), 0)
		if i%2 == 0 {
			h = h.set(thread, 0, int64(1000+i))
		}
	}
	for i := range headsMost {
		request, header, sure := h.find(threadHash(i))
		last := 2*headsMost + i
		wantHeader := int64(1000 + last)
		if i%2 == 1 {
			wantHeader = 0
		}
		if request != int64(last+1) || header != wantHeader || !sure {
			t.Errorf("find(%d) = %d, %d, %v; want %d, %d, true", i, request, header, sure, last+1, wantHeader)
		}
	}
	if _, _, sure := h.find(headsMost); !sure {
		t.Errorf("find of an unknown thread is not sure, though all threads are known")
	}
	h = h.set(headsMost, 7, 8) // one too many: the one unheard of for longest goes
	if _, _, sure := h.find(0); sure {
		t.Errorf("find of the thread that had to go is sure")
	}
	if request, _, sure := h.find(1); request == 0 || !sure {
		t.Errorf("find of the next thread = %d, %v; want it known", request, sure)
	}
}

func TestRecentForgetsTheOldest(t *testing.T) {
	r := recent{known: map[recordID]struct{}{}}
	id := func(i int) recordID { return recordID{byte(i), byte(i >> 8), byte(i >> 16)} }
	for i := range recentMost {
		if !r.add(id(i)) {
			t.Fatalf("add(%d) says that it is known", i)
		}
	}
	for _, i := range []int{0, 1, recentMost - 1} {
		if r.add(id(i)) {
			t.Errorf("add(%d) again says that it is new", i)
		}
	}
	r.add(id(recentMost))
	if !r.add(id(0)) || r.add(id(2)) {
		t.Errorf("one more must make the oldest one unknown, and it alone")
	}
	if len(r.known) != recentMost || len(r.order) != recentMost {
		t.Errorf("it holds %d ids in %d places, want %d", len(r.known), len(r.order), recentMost)
	}
}
