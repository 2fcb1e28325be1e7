package contrib_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
)

func catalog(t *testing.T, root string) ([]contrib.Message, error) {
	t.Helper()
	c, err := contrib.New(contrib.Config{Kind: "skills", Root: root, Folder: "skills", MaxBytes: 400})
	if err != nil {
		t.Fatal(err)
	}
	return c.Contribute(t.Context(), contrib.Session{}, nil)
}

func TestSkillsCatalog(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	write(t, root, "skills/zeta/SKILL.md", "---\nname: alpha\ndescription: First by name.\nlicense: any\nmetadata: {a: [1, 2]}\n---\n# Alpha\n---\n")
	write(t, root, "skills/beta/SKILL.md", "\ufeff---\r\ndescription: >\r\n  Folded over\r\n  two lines: yes.\r\n---\r\n")
	write(t, root, "skills/gamma/SKILL.md", "---\nname: 'gamma  tool'\ndescription: |\n  kept\n\n  lines\n---")
	write(t, root, "skills/gamma/deeper/SKILL.md", "---\nname: deeper\ndescription: no\n---\n")
	write(t, root, "skills/big/SKILL.md", "---\nname: big\ndescription: Long body.\n---\n"+strings.Repeat("\xff", 100_000))
	write(t, root, "skills/.hidden/SKILL.md", "not a skill")
	write(t, root, "skills/README.md", "about")
	write(t, root, "skills/empty/notes.md", "no skill here")
	write(t, elsewhere, "linked/SKILL.md", "---\ndescription: By symlink.\n---\n")
	if err := os.Symlink(filepath.Join(elsewhere, "linked"), filepath.Join(root, "skills", "linked")); err != nil {
		t.Fatal(err)
	}
	got, err := catalog(t, root)
	want := []contrib.Message{{Text: "Available skills:\n\n" +
		"- alpha: First by name.\n" +
		"- beta: Folded over two lines: yes.\n" +
		"- big: Long body.\n" +
		"- gamma tool: kept lines\n" +
		"- linked: By symlink.\n"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("the catalog differs, %v (-want +got):\n%s", err, diff)
	}
}

func TestSkillsFolderWithoutSkillsGivesNone(t *testing.T) {
	root := t.TempDir()
	write(t, root, "skills/README.md", "about")
	if got, err := catalog(t, root); len(got) != 0 || err != nil {
		t.Errorf("an empty folder gave %v, %v, want nothing", got, err)
	}
}

func TestSkillsErrorsNameTheFile(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		root := t.TempDir()
		write(t, root, "skills/ok/SKILL.md", "---\nname: ok\ndescription: fine\n---\n")
		write(t, root, "skills/x/SKILL.md", text)
		if _, err := catalog(t, root); fmt.Sprint(err) != want {
			t.Errorf("the catalog with %q = %v\nwant %s", text, err, want)
		}
	}
	at := `cannot list skill "x/SKILL.md": `
	f("", at+`it does not begin with front matter between lines of "---"`)
	f("# Title\n---\n", at+`it does not begin with front matter between lines of "---"`)
	f("---\nname: x\n", at+`its front matter has no closing line "---" in its first 16384 bytes`)
	f("---\n# "+strings.Repeat("a", 17_000)+"\n---\n", at+`its front matter has no closing line "---" in its first 16384 bytes`)
	f("---\nname: x\n---\n", at+`its front matter has no description`)
	f("---\n---\n", at+`its front matter has no description`)
	f("---\ndescription: '  '\n---\n", at+`its front matter has no description`)
	f("---\nname: x\ndescription: [a secret]\n---\n",
		at+`its front matter is not the YAML of a skill: line 3: cannot unmarshal []interface {} into Go struct field frontMatter.Description of type string`)
	f("---\nname: x\ndescription: one: two\n---\n",
		at+`its front matter is not the YAML of a skill: line 3: mapping value is not allowed in this context`)
	f("---\ndescription: \"a\\0b\"\n---\n", at+`text holds a NUL character, which providers refuse`)
	f("---\ndescription: \xff\n---\n", at+`its front matter is not valid UTF-8`)
	f("---\nname: ok\ndescription: again\n---\n", `cannot list skills of ok and x: both have the name "ok"`)
	f("---\ndescription: "+strings.Repeat("a", 500)+"\n---\n", `gave more text than max_bytes=400`)
}

func TestSkillsFolderErrors(t *testing.T) {
	root := t.TempDir()
	if _, err := catalog(t, root); err == nil || !strings.Contains(err.Error(), "cannot list folder") {
		t.Errorf("an absent folder = %v, want an error about the folder", err)
	}
	if err := os.MkdirAll(filepath.Join(root, "skills", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(root, "skills", "x", "SKILL.md"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := catalog(t, root)
	if want := `cannot list skill "x/SKILL.md": it is p--------- and no regular file`; fmt.Sprint(err) != want {
		t.Errorf("a named pipe = %v, want %s", err, want)
	}
}
