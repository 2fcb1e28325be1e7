package jsonspan_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// common is how many bytes a and b begin with alike.
func common(a, b []byte) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// checkRescan compares a Rescan of body after old with a Scan of body, for all
// that is the same and for less. A Doc that was used is used again.
func checkRescan(t rapid.TB, d *jsonspan.Doc, old, body []byte) {
	t.Helper()
	checkRescanAt(t, d, old, body, benchLevels)
	checkRescanAt(t, d, old, body, nil)
}

func checkRescanAt(t rapid.TB, d *jsonspan.Doc, old, body []byte, depth func([]byte) int) {
	t.Helper()
	var first, want jsonspan.Doc
	if first.Scan(old, depth) != nil {
		return
	}
	index := first.Index()
	wantErr := want.Scan(body, depth)
	same := common(old, body)
	for _, same := range []int{same, max(0, same-1), same / 2, 0} {
		err := d.Rescan(body, depth, index, same)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("Rescan(%q) after %q, %d bytes = %v, want %v as from Scan", body, old, same, err, wantErr)
		}
		if !jsonspan.Same(d, &want) {
			t.Fatalf("Rescan(%q) after %q, %d bytes: another index than Scan's", body, old, same)
		}
	}
}

// TestRescan: what comes after the same bytes is whatever a client may send.
func TestRescan(t *testing.T) {
	const (
		turn   = `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":[1,2,3]}],"tools":[{"name":"t"}],"n":1}`
		middle = `{"model":"m","messages":[{"role":"user","content":"a"}`
	)
	var d jsonspan.Doc
	for _, c := range [][2]string{
		{turn, turn},
		{turn, strings.Replace(turn, `]}],`, `]},{"role":"user"}],`, 1)}, // the next turn
		{turn, strings.Replace(turn, `[1,2,3]`, `[1,2,3,4]`, 1)},         // the last message changed
		{turn, strings.Replace(turn, `"n":1`, `"n":2`, 1)},               // the tail changed
		{turn, strings.Replace(turn, `"n":1`, `"n":12`, 1)},              //
		{turn, strings.Replace(turn, `"n":1`, `"model":1`, 1)},           // a name of before the list again
		{turn, strings.Replace(turn, `"n":1`, `"messages":1`, 1)},        // the list's own
		{turn, strings.Replace(turn, `"n":1`, `"\u006dodel":1`, 1)},      // and escaped
		{turn, turn[:len(turn)-1]},                                       // cut
		{turn, turn + "x"},                                               //
		{turn, strings.Replace(turn, `"a"}`, `"a"}]`, 1)},                // broken in the list
		{turn, strings.Replace(turn, `[1,2,3]}`, `[1,2,3]} x`, 1)},       //
		{turn, strings.Replace(turn, `,"tools"`, ` , "tools"`, 1)},       //
		{turn, middle + `]}`},                                            // a shorter list
		{turn, middle},                                                   //
		{turn, middle + `,`},                                             //
		{turn, middle + `,]}`},                                           //
		{`{"a":[1,2,3]}`, `{"a":[1,2,34]}`},                              // numbers go on
		{`{"a":[1,2,3]}`, `{"a":[1,2,3 ]}`},                              //
		{`{"a":[],"b":[[]]}`, `{"a":[],"b":[[]],"c":[]}`},                // empty lists
		{`{"a":[],"b":1}`, `{"a":[1],"b":1}`},                            //
		{`{"a":[1],"b":[2]}`, `{"a":[1],"b":[3]}`},                       // the second list's first element
		{`{"\u0061":[1,2],"b":1}`, `{"\u0061":[1,2,3],"a":1}`},           // the list's name is escaped
		{`{"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8,"9":9,"l":[1]}`, // many names
			`{"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8,"9":9,"l":[1,2],"3":1}`},
		{`{"a":[1 ,2],"b":3}`, `{"a":[1 ],"b":3}`}, // the list ends sooner
		{`{"a":[1,2],"b":3}`, `{"a":[1,2]}`},       // the object
		{`{"a":[1,2]}`, `{"a":[1,` + lists(jsonspan.MaxDepth-2) + `]}`},
		{`{"a":[1,2]}`, `{"a":[1,` + lists(jsonspan.MaxDepth-1) + `]}`},
		{`{}`, `{"a":1}`},
		{turn, ``},
		{turn, `[]`},
	} {
		checkRescan(t, &d, []byte(c[0]), []byte(c[1]))
	}
}

func lists(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// TestRescanWithoutIndex: nothing kept is nothing saved, and nothing wrong.
func TestRescanWithoutIndex(t *testing.T) {
	var d, want jsonspan.Doc
	body := []byte(sample)
	if err := d.Rescan(body, benchLevels, jsonspan.Index{}, len(body)); err != nil {
		t.Fatal(err)
	}
	if err := want.Scan(body, benchLevels); err != nil || !jsonspan.Same(&d, &want) {
		t.Errorf("Rescan without an index finds another index than Scan, or %v", err)
	}
}

// TestRescanOfEdits: any edit of an agent's body gives what a whole scan gives.
func TestRescanOfEdits(t *testing.T) {
	bodies := [][]byte{agentBody(2 << 10), agentBody(6 << 10)}
	fragments := []string{"", "x", `"`, `\`, "{", "}", "[", "]", ",", ":", " ", "1", `,{"role":"user","content":"more"}`, `,"model":1`, `,"system":[]`, "é", "\xff"}
	rapid.Check(t, func(t *rapid.T) {
		old := rapid.SampledFrom(bodies).Draw(t, "body")
		at := rapid.IntRange(0, len(old)).Draw(t, "at")
		cut := rapid.IntRange(0, min(3, len(old)-at)).Draw(t, "cut")
		body := bytes.Clone(old[:at])
		body = append(body, rapid.SampledFrom(fragments).Draw(t, "put")...)
		body = append(body, old[at+cut:]...)
		checkRescan(t, new(jsonspan.Doc), old, body)
	})
}

// FuzzRescan sets Rescan beside Scan for any two documents.
func FuzzRescan(f *testing.F) {
	for i, c := range hardCases {
		f.Add([]byte(c.body), []byte(hardCases[(i+1)%len(hardCases)].body))
		f.Add([]byte(c.body), []byte(c.body+" "))
	}
	f.Add([]byte(`{"a":[1,{"b":2}],"c":3}`), []byte(`{"a":[1,{"b":2},4],"c":3}`))
	f.Fuzz(func(t *testing.T, old, body []byte) { checkRescan(t, new(jsonspan.Doc), old, body) })
}
