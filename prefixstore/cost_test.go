package prefixstore

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
)

// TestI10_OwnPrefixes: sessions whose prefix is their own fill the cache by the
// bytes of it; sessions that share one hardly count.
func TestI10_OwnPrefixes(t *testing.T) {
	const size, sessions = 64 << 10, 300
	text := strings.Repeat("x", size)
	f := func(name string, compose func(s contrib.Session) string, least, most int) {
		t.Helper()
		s := open(t, newMemLog(), Options{CacheBytes: 100 * size})
		r := &Recipe{Render: render, Compose: func(_ context.Context, about contrib.Session) (contrib.Result, error) {
			return contrib.Result{Messages: []contrib.Message{{Role: "user", Text: compose(about)}}}, nil
		}}
		held := 0
		for i := range sessions {
			mustFind(t, s, want(fmt.Sprint(name, i)), r)
			s.cache.Wait()
		}
		for i := range sessions {
			if s.known(want(fmt.Sprint(name, i)).Key) != nil {
				held++
			}
		}
		if held < least || held > most {
			t.Errorf("%s: %d of %d sessions are in a cache with room for 100 such prefixes, want %d to %d", name, held, sessions, least, most)
		}
	}
	f("own", func(s contrib.Session) string { return s.Session + text }, 50, 100)
	f("shared", func(contrib.Session) string { return text }, sessions, sessions)
}
