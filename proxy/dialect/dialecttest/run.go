package dialecttest

import (
	"bytes"
	"encoding/json"
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

var update = flag.Bool("update", false, "rewrite the facts and spliced bodies of dialect cases, and golden files")

// Update reports whether golden files are to be rewritten.
func Update() bool { return *update }

// Opener is the opener that cases are spliced with.
var Opener = []dialect.Message{
	{Role: "developer", Text: "House rules: answer in <b> & \"plain\" words.\n"},
	{Role: "user", Text: "Read AGENTS.md first. Größe: 12 µm."},
	{Role: "assistant", Text: "I have read it."},
}

// Run is the conformance suite. A dialect is done when it passes.
func Run(t *testing.T, d dialect.Dialect) {
	cases := Cases(t, d.Name())
	t.Run("cases", func(t *testing.T) {
		for _, c := range cases {
			t.Run(c.Name, func(t *testing.T) { runCase(t, d, c) })
		}
	})
	t.Run("renderings", func(t *testing.T) { checkRenderings(t, d) })
	t.Run("errors", func(t *testing.T) { checkErrors(t, d) })
	t.Run("paths", func(t *testing.T) { checkPaths(t, d, cases) })
	t.Run("I3_insert_only", func(t *testing.T) { checkInsertOnly(t, d, cases) })
	t.Run("lineage", func(t *testing.T) { checkLineage(t, d, cases) })
	t.Run("reuse", func(t *testing.T) { checkReuse(t, d, cases) })
	t.Run("outline", func(t *testing.T) { checkOutline(t, d, cases) })
}

func runCase(t *testing.T, d dialect.Dialect, c Case) {
	ep := c.endpoint(t, d)
	r := Read(t, d, ep, c.Body)
	c.golden(t, "facts", facts(c.Body, ep, r))
	if (r.Never != "") != (c.Index == Never) {
		t.Fatalf("Read(%s) says never %q, want the place %d of the case", c.Name, r.Never, c.Index)
	}
	opener := OpenerFor(t, d, r)
	spliced, inserted := Splice(c.Body, splices(r, opener))
	if got := Remove(spliced, inserted); !bytes.Equal(got, c.Body) {
		t.Errorf("body without the inserted ranges differs:\n%s", diff(c.Body, got))
	}
	if err := valid(spliced); err != nil {
		t.Errorf("spliced body is no JSON: %v\n%s", err, spliced)
	}
	if c.Index == Never {
		return
	}
	checkList(t, c.Body, spliced, c.List, c.Index, opener)
	c.golden(t, "spliced", spliced)
}

// Read scans and reads a body that the dialect must take.
func Read(t rapid.TB, d dialect.Dialect, ep dialect.Endpoint, body []byte) *dialect.Request {
	t.Helper()
	var doc jsonspan.Doc
	if err := doc.Scan(body, d.Depth); err != nil {
		t.Fatalf("Scan(%s) = %v, want no error", body, err)
	}
	r := &dialect.Request{Outlined: true}
	if err := d.Read(&doc, ep, r); err != nil {
		t.Fatalf("%s.Read(%s) = %v, want no error", d.Name(), body, err)
	}
	return r
}

// OpenerFor returns the Opener in the rendering that a request asks for.
func OpenerFor(t rapid.TB, d dialect.Dialect, r *dialect.Request) []byte {
	t.Helper()
	all, err := d.Renderings(Opener)
	if err != nil {
		t.Fatalf("%s.Renderings(%q) = %v, want no error", d.Name(), Opener, err)
	}
	opener := rendered(all, r.Rendering)
	if opener == nil {
		t.Fatalf("Read asks for the rendering %q, of which Renderings has none: %v", r.Rendering, all)
	}
	return opener
}

// equalRequests compares what is exported.
var equalRequests = cmp.Options{cmpopts.IgnoreUnexported(dialect.Request{}, dialect.Question{}), cmpopts.EquateEmpty()}

// checkReuse: a Request that held another one reads like a new one.
func checkReuse(t *testing.T, d dialect.Dialect, cases []Case) {
	used := &dialect.Request{Outlined: true}
	for _, c := range slices.Concat(cases, cases) {
		ep := c.endpoint(t, d)
		var doc jsonspan.Doc
		if err := doc.Scan(c.Body, d.Depth); err != nil {
			t.Fatal(err)
		}
		if err := d.Read(&doc, ep, used); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(Read(t, d, ep, c.Body), used, equalRequests); diff != "" {
			t.Errorf("%s read into a used Request differs (-new +used):\n%s", c.Name, diff)
		}
	}
}

// checkErrors: an error of ours is JSON with our message in error.message, and
// has a status that is an error.
func checkErrors(t *testing.T, d dialect.Dialect) {
	const message = "cannot read <body> \"x\": routes.policy=enforced"
	for kind := dialect.ErrInvalid; kind <= dialect.ErrOverloaded; kind++ {
		var got struct {
			Error struct{ Type, Message string }
		}
		b := d.Error(kind, message)
		if err := json.Unmarshal(b, &got); err != nil || valid(b) != nil {
			t.Errorf("Error(%d) = %s, want JSON", kind, b)
		}
		if got.Error.Message != "preface: "+message || got.Error.Type == "" {
			t.Errorf("Error(%d) = %s, want a type, and the message after %q", kind, b, "preface: ")
		}
		if s := dialect.Status(kind); s < 400 || s > 599 {
			t.Errorf("Status(%d) = %d, want an error", kind, s)
		}
	}
}

// checkPaths: a path is claimed with and without /v1, and nothing longer is.
func checkPaths(t *testing.T, d dialect.Dialect, cases []Case) {
	for _, c := range cases {
		bare := strings.TrimPrefix(c.Path, "/v1")
		want := c.endpoint(t, d)
		for _, p := range []string{bare, "/v1" + bare} {
			if ep, ok := d.Match(p); !ok || ep != want {
				t.Errorf("Match(%q) = %v, %v, want %v, true", p, ep, ok, want)
			}
		}
		for _, p := range []string{"", "/", bare + "/", bare + "/x1", "/v1/v1" + bare, "/v2" + bare, "/v1" + bare[1:], bare[1:], strings.ToUpper(bare)} {
			if ep, ok := d.Match(p); ok {
				t.Errorf("Match(%q) = %v, true, want false", p, ep)
			}
		}
	}
}
