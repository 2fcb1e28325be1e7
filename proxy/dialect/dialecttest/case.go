package dialecttest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/seed-9236c7ca/preface/proxy/dialect"
)

// A Case is one request of a client, from testdata/NAME/*.txtar.
//
// The file's comment says in words what the request is, and has the lines
//
//	path: /v1/messages    what the client asks for
//	list: messages        the member that holds the history
//	index: 0              the opener's place in it, "string" if that member is
//	                      a string that becomes a list, "never" if there is none
//
// Its sections are body, facts and, unless the place is never, spliced.
type Case struct {
	Name  string
	Path  string
	List  string
	Index int // AsString or Never if it is no index
	Body  []byte

	file    string
	archive *txtar.Archive
}

// The places that are no index.
const (
	AsString = -1
	Never    = -2
)

// Cases returns the cases of a dialect, by file name.
func Cases(tb testing.TB, name string) []Case {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", name, "*.txtar"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("cannot find the cases of %s: no testdata/%s/*.txtar: %v", name, name, err)
	}
	cases := make([]Case, len(files))
	for i, f := range files {
		if cases[i], err = readCase(f); err != nil {
			tb.Fatal(err)
		}
	}
	return cases
}

// Find returns one case.
func Find(tb testing.TB, name, caseName string) Case {
	tb.Helper()
	c, err := readCase(filepath.Join("testdata", name, caseName+".txtar"))
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func readCase(file string) (Case, error) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		return Case{}, fmt.Errorf("cannot read case: %w", err)
	}
	c := Case{Name: strings.TrimSuffix(filepath.Base(file), ".txtar"), file: file, archive: archive}
	for line := range strings.Lines(string(archive.Comment)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "path":
			c.Path = value
		case "list":
			c.List = value
		case "index":
			c.Index, err = parseIndex(value)
		}
	}
	c.Body = bytes.TrimSuffix(c.section("body"), []byte("\n"))
	if err != nil || c.Path == "" || c.List == "" || len(c.Body) == 0 {
		return c, fmt.Errorf("cannot read case %s: want path, list, index and a body: %v", file, err)
	}
	return c, nil
}

func parseIndex(s string) (int, error) {
	switch s {
	case "string":
		return AsString, nil
	case "never":
		return Never, nil
	}
	return strconv.Atoi(s)
}

func (c *Case) section(name string) []byte {
	for _, f := range c.archive.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

// golden compares a section with what was found, or rewrites it.
func (c *Case) golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if len(got) > 0 {
		got = append(bytes.Clone(got), '\n')
	}
	if *update {
		c.rewrite(t, name, got)
		return
	}
	if want := c.section(name); !bytes.Equal(got, want) {
		t.Errorf("%s: section %s differs, rewrite it with -update if that is right:\n%s", c.file, name, diff(want, got))
	}
}

func (c *Case) rewrite(t *testing.T, name string, data []byte) {
	files := c.archive.Files[:0:0]
	for _, f := range c.archive.Files {
		if f.Name != name {
			files = append(files, f)
		}
	}
	if len(data) > 0 {
		files = append(files, txtar.File{Name: name, Data: data})
	}
	c.archive.Files = files
	if err := os.WriteFile(c.file, txtar.Format(c.archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// endpoint returns the endpoint of the case's path.
func (c *Case) endpoint(t *testing.T, d dialect.Dialect) dialect.Endpoint {
	t.Helper()
	ep, ok := d.Match(c.Path)
	if !ok {
		t.Fatalf("%s.Match(%q) claims nothing, want an endpoint", d.Name(), c.Path)
	}
	return ep
}
