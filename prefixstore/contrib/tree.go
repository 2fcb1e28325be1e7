package contrib

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A tree is a folder that a glob searches. Folders that are symlinks are not
// entered, so there are no loops; a file that is one counts if it leads to a
// file inside the folder, so that a checkout cannot make text of what lies
// outside it. Names that begin with a dot, and node_modules, are passed over
// unless the pattern has a part that names them: "**/.claude/*.md" does, and
// "**" does not.
type tree struct {
	root *os.Root
}

func openTree(dir string) (tree, error) {
	r, err := os.OpenRoot(dir)
	return tree{r}, err
}

func (t tree) Close() error { return t.root.Close() }

// find returns the files that match pattern, sorted as bytes. What vanishes
// meanwhile was not there; what cannot be read is an error.
func (t tree) find(ctx context.Context, pattern string) ([]string, error) {
	var found []string
	err := fs.WalkDir(t.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil || name == ".":
			return err
		case e.IsDir():
			return enter(pattern, name)
		case !passedOver(pattern, e.Name()) && doublestar.MatchUnvalidated(pattern, name) && t.isFile(name, e):
			found = append(found, name)
		}
		return nil
	})
	slices.Sort(found)
	return found, err
}

// isFile reports whether e is a regular file or a symlink to one inside.
func (t tree) isFile(name string, e fs.DirEntry) bool {
	if e.Type() != fs.ModeSymlink {
		return e.Type().IsRegular()
	}
	info, err := t.root.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// enter returns nil or SkipDir for a folder: one that is passed over, or one
// that a pattern without ** does not reach.
func enter(pattern, dir string) error {
	deep := !strings.Contains(pattern, "**") && strings.Count(dir, "/") >= strings.Count(pattern, "/")
	if deep || passedOver(pattern, path.Base(dir)) {
		return fs.SkipDir
	}
	return nil
}

// passedOver reports whether name is hidden and no part of pattern names it.
func passedOver(pattern, name string) bool {
	if !hidden(name) {
		return false
	}
	parts := strings.FieldsFunc(pattern, func(r rune) bool { return strings.ContainsRune("/{},", r) })
	return !slices.ContainsFunc(parts, func(part string) bool {
		ok, err := path.Match(part, name)
		return hidden(part) && ok && err == nil
	})
}

func hidden(name string) bool { return name[0] == '.' || name == "node_modules" }
