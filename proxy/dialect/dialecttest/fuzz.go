package dialecttest

import (
	"bytes"
	"testing"

	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// Fuzz feeds any bytes to a dialect: Read does not panic, and where it finds a
// slot, splicing there keeps the body JSON, puts the opener into the list, and
// changes no byte of the client's.
func Fuzz(f *testing.F, d dialect.Dialect) {
	cases := Cases(f, d.Name())
	list := cases[0].List
	for _, c := range cases {
		f.Add(c.Body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var doc jsonspan.Doc
		if doc.Scan(body, d.Depth) != nil {
			return
		}
		var r dialect.Request
		if d.Read(&doc, dialect.Turn, &r) != nil {
			return
		}
		checkAny(t, d, body, list, &r)
	})
}

func checkAny(t *testing.T, d dialect.Dialect, body []byte, list string, r *dialect.Request) {
	for _, spans := range [][]jsonspan.Span{r.SystemSpans, r.ToolSpans, r.ParameterSpans} {
		for _, s := range spans {
			if s.From < 0 || s.From >= s.To || s.To > len(body) {
				t.Fatalf("Read(%q): span %v is not inside", body, s)
			}
		}
	}
	opener := OpenerFor(t, d, r)
	spliced, inserted := Splice(body, asked(r, opener, "msg_01Ab"))
	if got := Remove(spliced, inserted); !bytes.Equal(got, body) {
		t.Fatalf("body %q without the inserted ranges is %q", body, got)
	}
	if err := valid(spliced); err != nil {
		t.Fatalf("Read(%q): spliced body is no JSON: %v\n%q", body, err, spliced)
	}
	if r.Never != "" {
		return
	}
	index := place(body, spliced, list, opener)
	if index == Never {
		t.Fatalf("Read(%q): opener is not in %s of %q", body, list, spliced)
	}
	checkList(t, body, spliced, list, index, opener)
}
