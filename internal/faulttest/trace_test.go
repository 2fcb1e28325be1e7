package faulttest

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"testing"
)

// traceFile has real coding sessions as token counts; it is kept beside the
// module.
const traceFile = "../../../shared/data/cc_traces_rle.jsonl.gz"

// A shape is how much each request of a session adds, in bytes.
type shape []int

// builtInShapes are three such sessions, for where the file is not.
var builtInShapes = []shape{
	{28470, 634, 7625, 1984, 306, 170, 180, 307, 302, 110, 454, 196},
	{9100, 2210, 410, 3990, 120, 88, 1530},
	{41200, 77, 95, 12050},
}

// loadShapes reads the sessions' shapes, a tenth of their size, or returns
// the built-in ones.
func loadShapes(t *testing.T) []shape {
	t.Helper()
	f, err := os.Open(traceFile)
	if err != nil {
		t.Logf("no traces at %s: using three built-in shapes", traceFile)
		return builtInShapes
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var shapes []shape
	for lines := bufio.NewReader(z); len(shapes) < 100; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		if s := readShape(line); len(s) > 0 {
			shapes = append(shapes, s)
		}
	}
	if len(shapes) == 0 {
		t.Fatalf("no sessions in %s", traceFile)
	}
	return shapes
}

// readShape reads one session: the input tokens of its requests, at about four
// bytes each, scaled down.
func readShape(line []byte) (s shape) {
	const most, scale = 12, 4.0 / 10
	var session struct {
		Requests []json.RawMessage `json:"requests"`
	}
	if json.Unmarshal(line, &session) != nil {
		return nil
	}
	before := 0.0
	for _, raw := range session.Requests {
		var r []any
		if json.Unmarshal(raw, &r) != nil || len(r) < 2 {
			continue // a subagent's
		}
		tokens, _ := r[1].(float64)
		s = append(s, int(max(20, (tokens-before)*scale)))
		if before = tokens; len(s) == most {
			break
		}
	}
	return s
}
