package contrib_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
)

// files gives the text that a file contributor gives of paths below root.
func files(t *testing.T, root string, paths ...string) (string, error) {
	t.Helper()
	c, err := contrib.New(contrib.Config{Kind: "file", Root: root, Paths: paths, MaxBytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Contribute(t.Context(), contrib.Session{}, nil)
	if err != nil {
		return "", err
	}
	if len(got) != 1 {
		t.Fatalf("file %q gave %d messages, want 1", paths, len(got))
	}
	return got[0].Text, nil
}

// sections returns the paths in the headings of text.
func sections(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "==> "); ok {
			names = append(names, strings.TrimSuffix(name, " <==\n"))
		}
	}
	return names
}

func TestFileAlone_IsGivenByteForByte(t *testing.T) {
	root := t.TempDir()
	for _, text := range []string{"plain", "\ufeffwith mark\r\nand returns\r\n\r\n", "==> odd <==\n", "  spaces \n\n"} {
		write(t, root, "AGENTS.md", text)
		if got, err := files(t, root, "AGENTS.md"); err != nil || got != text {
			t.Errorf("file of %q gave %q, %v", text, got, err)
		}
	}
}

func TestFiles_AreSectionsInOrder(t *testing.T) {
	root := t.TempDir()
	write(t, root, "z.md", "last name, first path\n")
	write(t, root, "docs/b.md", "no newline")
	write(t, root, "docs/a.md", "crlf\r\n")
	write(t, root, "docs/blank.md", " \n")
	write(t, root, "docs/c.txt", "other")
	got, err := files(t, root, "./z.md", "docs/*.md", "docs/a.md", "none/*.md", "docs/../docs/c.txt")
	want := "==> z.md <==\nlast name, first path\n\n" +
		"==> docs/a.md <==\ncrlf\r\n\n" +
		"==> docs/b.md <==\nno newline\n\n" +
		"==> docs/c.txt <==\nother"
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("files gave something else, %v (-want +got):\n%s", err, diff)
	}
}

func TestFileGlobs(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{
		"AGENTS.md", "b/AGENTS.md", "b.x/AGENTS.md", "b/deep/er/AGENTS.md", "B/AGENTS.md",
		".git/AGENTS.md", "node_modules/p/AGENTS.md", "b/node_modules/AGENTS.md", ".claude/AGENTS.md", "b/.claude/x.md", ".env", "b/.env", "b/notes.md",
	} {
		write(t, root, name, "x")
	}
	f := func(pattern string, want ...string) {
		t.Helper()
		write(t, root, "always.txt", "x") // so that there is a heading for one
		got, err := files(t, root, pattern, "always.txt")
		if diff := cmp.Diff(want, without(sections(got), "always.txt")); diff != "" || err != nil {
			t.Errorf("files(%q) found something else, %v (-want +got):\n%s", pattern, err, diff)
		}
	}
	f("**/AGENTS.md", "AGENTS.md", "B/AGENTS.md", "b.x/AGENTS.md", "b/AGENTS.md", "b/deep/er/AGENTS.md")
	f("*/AGENTS.md", "B/AGENTS.md", "b.x/AGENTS.md", "b/AGENTS.md")
	f("{AGENTS.md}", "AGENTS.md")
	f("{ABSENT.md}")
	f("b/**/*.md", "b/AGENTS.md", "b/deep/er/AGENTS.md", "b/notes.md")
	f("{b,B}/*.md", "B/AGENTS.md", "b/AGENTS.md", "b/notes.md")
	f("./b/**", "b/AGENTS.md", "b/deep/er/AGENTS.md", "b/notes.md")
	f("**/.claude/*.md", ".claude/AGENTS.md", "b/.claude/x.md")
	f("{.git,b}/*.md", ".git/AGENTS.md", "b/AGENTS.md", "b/notes.md")
	f(".git/**", ".git/AGENTS.md")
	f("**/node_modules/*.md", "b/node_modules/AGENTS.md")
	f(".*", ".env")
	f("absent/**/*.md")
}

// without leaves name out; an only file has no heading at all.
func without(names []string, name string) []string {
	var rest []string
	for _, n := range names {
		if n != name {
			rest = append(rest, n)
		}
	}
	return rest
}

func TestFileSymlinks(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	write(t, outside, "secret.md", "outside")
	write(t, root, "docs/real.md", "inside")
	link := func(to, at string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(root, at)); err != nil {
			t.Fatal(err)
		}
	}
	link("docs/real.md", "linked.md")
	link(filepath.Join(outside, "secret.md"), "escapes.md")
	link("../../../../../../etc/passwd", "docs/up.md")
	link("nowhere", "dangling.md")
	link("..", "docs/loop")
	link(outside, "dir.md")

	got, err := files(t, root, "**/*.md")
	if diff := cmp.Diff([]string{"docs/real.md", "linked.md"}, sections(got)); diff != "" || err != nil {
		t.Errorf("a glob over symlinks found something else, %v (-want +got):\n%s", err, diff)
	}
	if got, err := files(t, root, "escapes.md"); got != "outside" || err != nil {
		t.Errorf("a named symlink gave %q, %v, want what it leads to", got, err)
	}
}

func TestFileErrorsNameTheFile(t *testing.T) {
	root := t.TempDir()
	write(t, root, "bin.md", "a\x00b")
	write(t, root, "latin.md", "caf\xe9")
	write(t, root, "long.md", strings.Repeat("a", 1001))
	write(t, root, "half1.md", strings.Repeat("a", 600))
	write(t, root, "half2.md", strings.Repeat("b", 600))
	write(t, root, "dir/a\nb.md", "x")
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	f := func(want string, paths ...string) {
		t.Helper()
		_, err := files(t, root, paths...)
		if fmt.Sprint(err) != want {
			t.Errorf("files(%q) = %v, want %s", paths, err, want)
		}
	}
	f(`cannot read file "absent.md": no such file or directory`, "absent.md")
	f(`cannot read file "bin.md": text holds a NUL character, which providers refuse`, "bin.md")
	f(`cannot read file "latin.md": text is not valid UTF-8`, "*atin.md")
	f(`cannot read file "long.md": gave more text than max_bytes=1000`, "long.md")
	f(`cannot read file "half2.md": gave more text than max_bytes=1000`, "half*.md")
	f(`cannot read file "dir": it is d--------- and no regular file`, "dir")
	f(`cannot read file "pipe": it is p--------- and no regular file`, "pipe")
	f(`cannot use file "dir/a\nb.md": its name has a control character`, "dir/*")
}

func TestFileUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	root := t.TempDir()
	write(t, root, "a.md", "x")
	write(t, root, "sub/b.md", "x")
	for _, p := range []string{"a.md", "sub"} {
		if err := os.Chmod(filepath.Join(root, p), 0); err != nil {
			t.Fatal(err)
		}
	}
	defer os.Chmod(filepath.Join(root, "sub"), 0o755)
	if _, err := files(t, root, "a.md"); fmt.Sprint(err) != `cannot read file "a.md": permission denied` {
		t.Errorf("an unreadable file = %v, want an error that names it", err)
	}
	if _, err := files(t, root, "**/b.md"); err == nil || !strings.Contains(err.Error(), "sub") {
		t.Errorf("an unreadable folder = %v, want an error that names it", err)
	}
}

func TestFileRootMustExist(t *testing.T) {
	root := filepath.Join(t.TempDir(), "absent")
	if _, err := files(t, root, "**/*.md"); err == nil || !strings.Contains(err.Error(), "cannot use root") {
		t.Errorf("a glob below no root = %v, want an error about root", err)
	}
}

func TestFileRootIsTheWorkingDirectoryAtStart(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a.md", "here")
	t.Chdir(root)
	c, err := contrib.New(contrib.Config{Kind: "file", Paths: []string{"a.md"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if got, err := c.Contribute(t.Context(), contrib.Session{}, nil); err != nil || got[0].Text != "here" {
		t.Errorf("file gave %v, %v, want what was in the working directory at start", got, err)
	}
}

func TestInvariant3_FilesAreReadWhenComposing(t *testing.T) {
	root := t.TempDir()
	c, err := contrib.New(contrib.Config{Kind: "file", Root: root, Paths: []string{"a.md"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two"} {
		write(t, root, "a.md", text)
		if got, err := c.Contribute(t.Context(), contrib.Session{}, nil); err != nil || got[0].Text != text {
			t.Errorf("file gave %v, %v, want %q", got, err, text)
		}
	}
}

func TestFileSearchStopsWhenCancelled(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a/b.md", "x")
	c, err := contrib.New(contrib.Config{Kind: "file", Root: root, Paths: []string{"**/*.none"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Contribute(ctx, contrib.Session{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled search = %v, want context.Canceled", err)
	}
}
