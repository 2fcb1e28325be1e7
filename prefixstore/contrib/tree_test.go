package contrib

import (
	"io/fs"
	"testing"
)

func TestEnter(t *testing.T) {
	f := func(pattern, dir string, want error) {
		t.Helper()
		if got := enter(pattern, dir); got != want {
			t.Errorf("enter(%q, %q) = %v, want %v", pattern, dir, got, want)
		}
	}
	f("{AGENTS.md}", "sub", fs.SkipDir)
	f("*/AGENTS.md", "sub", nil)
	f("*/AGENTS.md", "sub/deeper", fs.SkipDir)
	f("**/AGENTS.md", "a/b/c/d", nil)
	f("{a/b,c}/*", "a/b", nil)
	f("**", "a/.git", fs.SkipDir)
	f("**/.git/*", "a/.git", nil)
	f("**/.[g]it/*", ".git", nil)
	f("{.github,docs}/*", ".github", nil)
	f("{.github,docs}/*", ".git", fs.SkipDir)
	f("**/*", "node_modules", fs.SkipDir)
	f("**/node_modules/**", "x/node_modules", nil)
}
