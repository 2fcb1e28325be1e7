package logsink

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every page must hold the lines of its own session, in order, wherever they lie
// in the buffer that all share.
func TestPackMakesPagesBySession(t *testing.T) {
	f := func(name string, recs []Record, buf []byte, wantPages int) {
		t.Helper()
		want, got := map[Key][]string{}, map[Key][]string{}
		for i := range recs {
			h := recs[i].head()
			want[h.key] = append(want[h.key], string(recs[i].AppendJSON(nil)))
		}
		pages, _, err := pack(recs, buf)
		if err != nil || len(pages) != wantPages {
			t.Errorf("%s: pack gives %d pages, %v; want %d", name, len(pages), err, wantPages)
		}
		for _, p := range pages {
			start := 0
			for _, e := range p.entries {
				got[p.of] = append(got[p.of], strings.TrimSuffix(string(p.lines[start:e.end]), "\n"))
				start = e.end
			}
			if start != len(p.lines) {
				t.Errorf("%s: a page has %d bytes, its entries tell of %d", name, len(p.lines), start)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: lines of sessions differ (-given +packed):\n%s", name, d)
		}
	}
	dirty := []byte(strings.Repeat("x", 100))
	f("none", nil, nil, 0)
	f("one", batchOf(1, 1), dirty, 1)
	f("many sessions", batchOf(300, 7), dirty, 7)
	f("a large buffer", batchOf(300, 7), make([]byte, 1<<20), 7)
	short := make([]Record, 2*pageRecords+1)
	for i := range short {
		short[i].Response = &Response{ID: strconv.Itoa(i)}
	}
	f("more than a page has records", short, nil, 3)
	f("more than a page has bytes", batchOf(1000, 2), nil, 6)
	long := batchOf(4, 2)
	long[2].Request.Path = strings.Repeat("/long", pageBytes)
	f("more than the buffer was made for", long, nil, 3)
}
