package jsonspan

import (
	"fmt"
	"strings"
	"testing"
)

// object is an object with n members whose names format makes, and more behind.
func object(n int, format string, more string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+":%d,", i, i)
	}
	return "{" + strings.TrimSuffix(b.String()+more, ",") + "}"
}

// In objects of every size around the one where hashing begins, a repeated name
// must be found wherever the first one stands.
func TestInvariant1_DuplicatesInObjectsOfEverySize(t *testing.T) {
	var d Doc
	for n := 1; n < 3*smallObject; n++ {
		if err := d.Scan([]byte(object(n, `"k%d"`, "")), nil); err != nil {
			t.Fatalf("Scan of %d members: %v", n, err)
		}
		for k := range n {
			for _, again := range []string{`"k%d":0`, `"\u006b%d":0`} {
				body := object(n, `"k%d"`, fmt.Sprintf(again, k))
				if err := d.Scan([]byte(body), nil); err == nil || err.(*Error).Reason != DuplicateName {
					t.Errorf("Scan(%s) = %v, want a duplicate name", body, err)
				}
			}
		}
	}
}

// Names are told apart by their first eight bytes first, so lengths around eight
// matter, and the last byte of each.
func TestInvariant1_DuplicatesOfEveryLength(t *testing.T) {
	f := func(body string, want bool) {
		t.Helper()
		var d Doc
		err := d.Scan([]byte(body), nil)
		if got := err != nil && err.(*Error).Reason == DuplicateName; got != want {
			t.Errorf("Scan(%s) = %v; want a duplicate name: %v", body, err, want)
		}
	}
	for n := range 40 {
		stem := strings.Repeat("é", n/4) + strings.Repeat("n", n%4+n/4*2)
		for _, a := range []string{"a", `\u0061`} {
			for _, b := range []string{"a", `\u0061`} {
				f(`{"`+stem+a+`":1,"`+stem+b+`":2}`, true)
				f(`{"`+a+stem+`":1,"`+b+stem+`":2}`, true)
			}
			f(`{"`+stem+a+`":1,"`+stem+`b":2,"`+stem+`":3,"`+stem+a+`\u0000":4,"`+stem+`A":5}`, false)
			f(`{"`+a+stem+`":1,"b`+stem+`":2}`, false)
		}
	}
}

func TestInvariant1_DuplicateAmong100000Names(t *testing.T) {
	var d Doc
	f := func(format, more string, at int) {
		t.Helper()
		body := `{"a":` + object(100_000, format, more) + `}`
		err := d.Scan([]byte(body), func([]byte) int { return 0 })
		if at == 0 && err != nil {
			t.Errorf("Scan of 100,000 members and %s = %v, want nil", more, err)
		}
		if at > 0 && (err == nil || *err.(*Error) != Error{DuplicateName, len(body) - at}) {
			t.Errorf("Scan of 100,000 members and %s = %v, want a duplicate name at byte %d", more, err, len(body)-at)
		}
	}
	f(`"%d"`, `"x":0`, 0)
	f(`"%d"`, `"77777":0`, len(`"77777":0}}`))
	f(`"%d"`, `"7\u00377\u00377":0`, len(`"7\u00377\u00377":0}}`))
	f(`"\u00e9%d"`, `"é":0`, 0)
	f(`"\u00e9%d"`, `"é99999":0`, len(`"é99999":0}}`))
}

// Large objects inside large ones, with the same names, share one table. A name
// of an object that was closed, or is outside, is no duplicate; one of the same
// object is, on either side of the inner one.
func TestInvariant1_LargeObjectsInsideEachOther(t *testing.T) {
	const levels = 20
	nest := func(again string, at int) []byte {
		body := "0"
		for level := range levels {
			more := `"in":` + body + `,` + strings.Trim(object(30, `"b\t%d"`, ""), "{}") + `,`
			if level == at {
				more += again
			}
			body = object(30, `"a%d"`, more)
		}
		return []byte(body)
	}
	var d Doc
	for at := range levels {
		if err := d.Scan(nest(`"c":0`, at), nil); err != nil {
			t.Errorf("Scan with another name at level %d = %v, want nil", at, err)
		}
		checkEmpty(t, &d)
		for _, again := range []string{`"a0":0`, `"a29":0`, `"\u0061\u0030":0`, `"in":0`, `"b\t0":0`, `"b\u000929":0`} {
			err := d.Scan(nest(again, at), nil)
			if err == nil || err.(*Error).Reason != DuplicateName {
				t.Errorf("Scan with a second %s at level %d = %v, want a duplicate name", again, at, err)
			}
			checkEmpty(t, &d)
		}
	}
}

// checkEmpty checks that no name is left behind to be met by the next document.
func checkEmpty(t *testing.T, d *Doc) {
	t.Helper()
	s := &d.names
	if len(s.open) != 0 || len(s.text) != 0 || s.used != 0 {
		t.Errorf("%d names, %d bytes and %d slots are left after a Scan", len(s.open), len(s.text), s.used)
	}
	for _, i := range s.slot {
		if i != 0 {
			t.Fatalf("slot of name %d is left after a Scan", i-1)
		}
	}
}

// Names that are equal in nested objects must not fall into one chain of the
// table: 128 objects with the same names would make each look-up 128 long.
func TestInvariant4_EqualNamesOfNestedObjectsSpread(t *testing.T) {
	const depth = 100
	var s nameStack
	doc := []byte("abcdefghijkl")
	for object := range depth {
		for i := range doc {
			n := openName{head: uint64(doc[i]), from: int32(i), size: 1}
			if s.push(doc, n, object*len(doc)) {
				t.Fatalf("push of name %d to object %d finds a duplicate", i, object)
			}
		}
	}
	// In a table that is half full, linear probing passes 1.5 slots on average.
	steps := 0
	for i := range s.open {
		for at := s.home(s.open[i].hash); int(s.slot[at]) != i+1; at = s.after(at) {
			steps++
		}
	}
	if steps > 4*s.used {
		t.Errorf("finding %d names takes %d steps beyond the first, want at most %d", s.used, steps, 4*s.used)
	}
}

func TestInvariant4_ResetKeepsNoLargeBuffers(t *testing.T) {
	f := func(body string) {
		t.Helper()
		var d Doc
		if err := d.Scan([]byte(body), nil); err != nil {
			t.Fatal(err)
		}
		d.Reset()
		s := &d.names
		if cap(d.nodes) > maxKept || cap(s.open) > maxKept || len(s.slot) > 4*maxKept || cap(s.text) > maxKept {
			t.Errorf("room for %d nodes, %d names, %d slots, %d bytes is kept", cap(d.nodes), cap(s.open), len(s.slot), cap(s.text))
		}
	}
	f(object(200_000, `"\u00e9%d"`, ""))
	f(object(1, `"\u00e9%d`+strings.Repeat("x", 2*maxKept)+`"`, ""))
	f(`{"a":[` + strings.Repeat("0,", MaxElements-1) + `0],"b":[0,0]}`)
}
