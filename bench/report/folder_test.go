package report

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// written are the files of a report with one part, whose bytes are text.
func written(t *testing.T, text string) []File {
	t.Helper()
	r := &Report{}
	files := []File{{"part.svg", []byte(text)}}
	list, err := r.manifest(files)
	if err != nil {
		t.Fatal(err)
	}
	return append(files, File{manifest, list})
}

func keep(t *testing.T, name string, files []File) error {
	t.Helper()
	f, err := Create(name)
	if err != nil {
		return err
	}
	defer f.Discard()
	return f.Keep(files)
}

// tree is what is in a folder, with what is in its folders.
func tree(t *testing.T, name string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(name, func(path string, d os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(name, path); rel != "." {
			list = append(list, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestInvariant2_Folder(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "report")
	want := []string{"report", "report/manifest.json", "report/part.svg"}
	for _, text := range []string{"one", "two"} {
		if err := keep(t, name, written(t, text)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(name, "part.svg"))
		if string(got) != text || err != nil || !slices.Equal(tree(t, dir), want) {
			t.Errorf("after the report %q there is %q (%v) in %q", text, got, err, tree(t, dir))
		}
	}
	// A report that cannot be written leaves the one before.
	if err := keep(t, name, append(written(t, "three"), File{"none/x", nil})); err == nil || strings.Contains(err.Error(), ".new") {
		t.Errorf("a file in no folder: error %v, want one without a temporary name", err)
	}
	if got, _ := os.ReadFile(filepath.Join(name, "part.svg")); string(got) != "two" || !slices.Equal(tree(t, dir), want) {
		t.Errorf("after a report that failed there is %q in %q", got, tree(t, dir))
	}
}

func TestInvariant2_ForeignFolder(t *testing.T) {
	f := func(about string, prepare func(name string) error) {
		t.Helper()
		dir := t.TempDir()
		name := filepath.Join(dir, "report")
		if err := prepare(name); err != nil {
			t.Fatal(err)
		}
		before := tree(t, dir)
		if err := keep(t, name, written(t, "new")); err == nil || !slices.Equal(tree(t, dir), before) {
			t.Errorf("%s: error %v, there is %q, was %q", about, err, tree(t, dir), before)
		}
	}
	write := func(name string, file string, text string) error {
		_ = os.Mkdir(name, 0o777)
		return os.WriteFile(filepath.Join(name, file), []byte(text), 0o666)
	}
	f("a stranger's file", func(name string) error { return write(name, "notes.txt", "") })
	f("a stranger's manifest", func(name string) error { return write(name, manifest, `{"format":"x","files":["manifest.json"]}`) })
	f("no JSON", func(name string) error { return write(name, manifest, `x`) })
	f("something added", func(name string) error {
		if err := keep(t, name, written(t, "old")); err != nil {
			return err
		}
		return write(name, "notes.txt", "")
	})
	f("a folder by the name of a part", func(name string) error {
		if err := keep(t, name, written(t, "old")); err != nil {
			return err
		}
		part := filepath.Join(name, "part.svg")
		if err := os.Remove(part); err != nil {
			return err
		}
		return write(part, "notes.txt", "")
	})
	f("a file", func(name string) error { return os.WriteFile(name, nil, 0o666) })
}

// TestFolderAddedLater holds a report back if somebody put a file there while it
// was made.
func TestFolderAddedLater(t *testing.T) {
	name := filepath.Join(t.TempDir(), "report")
	f, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Discard()
	if err := os.Mkdir(name, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(name, "notes.txt"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := f.Keep(written(t, "new")); err == nil || !slices.Equal(tree(t, name), []string{"notes.txt"}) {
		t.Errorf("Keep = %v, there is %q", err, tree(t, name))
	}
}

func TestFolderLink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := keep(t, real, written(t, "old")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", link); err != nil {
		t.Fatal(err)
	}
	if err := keep(t, link, written(t, "new")); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(filepath.Join(real, "part.svg"))
	if to, err := os.Readlink(link); string(got) != "new" || to != "real" {
		t.Errorf("the link leads to %q (%v), there is %q", to, err, got)
	}
}

// TestSwapless is replacing where the system cannot swap two names.
func TestSwapless(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"from", "to"} {
		if err := os.MkdirAll(filepath.Join(dir, n, n), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := replaceInSteps(filepath.Join(dir, "from"), filepath.Join(dir, "to")); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, dir); !slices.Equal(got, []string{"to", "to/from"}) {
		t.Errorf("there is %q", got)
	}
}

// TestWritePage: a page is there whole once it is kept, and before that nothing is.
func TestWritePage(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x.md")
	before := ""
	for _, text := range []string{"one", "two"} {
		p, err := WritePage(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(name); string(got) != before {
			t.Errorf("before it is kept there is %q, want %q", got, before)
		}
		if err := p.Keep(); err != nil {
			t.Fatal(err)
		}
		p.Discard()
		if got, _ := os.ReadFile(name); string(got) != text || !slices.Equal(tree(t, dir), []string{"x.md"}) {
			t.Errorf("there is %q in %q", got, tree(t, dir))
		}
		before = text
	}
	p, err := WritePage(name, []byte("three"))
	if err != nil {
		t.Fatal(err)
	}
	p.Discard()
	for _, bad := range []string{filepath.Join(dir, "none", "x.md"), dir} {
		if _, err := WritePage(bad, nil); err == nil || strings.Contains(err.Error(), ".new") {
			t.Errorf("WritePage(%s) = %v", bad, err)
		}
	}
	if got, _ := os.ReadFile(name); string(got) != before || !slices.Equal(tree(t, dir), []string{"x.md"}) {
		t.Errorf("in the end there is %q in %q", got, tree(t, dir))
	}
}
