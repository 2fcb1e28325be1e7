package contrib

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

func init() { Register("file", newFile) }

// A file contributor gives the text of files as one message. A single file is
// given as it is, byte for byte. Of several, each is a section that begins with
// its path as head(1) writes it, with an empty line between sections:
//
//	==> AGENTS.md <==
//	text of the first
//
//	==> docs/AGENTS.md <==
//	text of the second
//
// Blank files are left out. A path that names a file may be a symlink; what a
// glob finds is told in tree.go. What cannot be read, is no regular file or is
// no text is an error that names the file.
type file struct {
	root     string   // absolute
	paths    []string // cleaned, with slashes
	maxBytes int
}

func newFile(c Config) (Contributor, error) {
	if err := c.allow("paths", "root"); err != nil {
		return nil, err
	}
	if len(c.Paths) == 0 {
		return nil, errors.New("cannot use paths []: a contributor of kind file needs at least one")
	}
	root, err := filepath.Abs(c.Root)
	if err != nil {
		return nil, fmt.Errorf("cannot use root %q: %w", c.Root, err)
	}
	f := &file{root: root, maxBytes: c.MaxBytes}
	for _, p := range c.Paths {
		if p == "" || !doublestar.ValidatePattern(p) {
			return nil, fmt.Errorf("cannot use %q in paths: it is neither a path nor a glob", p)
		}
		f.paths = append(f.paths, path.Clean(p))
	}
	return f, nil
}

func (f *file) Contribute(ctx context.Context, _ Session, list []Message) ([]Message, error) {
	d := digestOf{left: f.maxBytes, maxBytes: f.maxBytes, seen: map[string]bool{}}
	for _, p := range f.paths {
		add := f.addNamed
		if isGlob(p) {
			add = f.addGlob
		}
		if err := add(ctx, &d, p); err != nil {
			return nil, err
		}
	}
	return append(list, Message{Text: d.text()}), nil
}

func (f *file) addNamed(_ context.Context, d *digestOf, name string) error {
	open := func() (*os.File, error) { return os.OpenFile(f.at(name), readOnly, 0) }
	return d.add(name, f.at(name), open)
}

// addGlob adds what pattern finds. The folder it starts in may be absent, but
// not root itself: that is a mistake in the configuration.
func (f *file) addGlob(ctx context.Context, d *digestOf, pattern string) error {
	base, pattern := doublestar.SplitPattern(pattern)
	t, err := openTree(f.at(base))
	if errors.Is(err, fs.ErrNotExist) {
		return f.checkRoot()
	}
	if err != nil {
		return fmt.Errorf("cannot search %q: %w", base, reason(err))
	}
	defer t.Close()
	names, err := t.find(ctx, pattern)
	if err != nil {
		return fmt.Errorf("cannot search %q: %w", base, err)
	}
	for _, n := range names {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		open := func() (*os.File, error) { return t.root.OpenFile(n, readOnly, 0) }
		if err := d.add(path.Join(base, n), filepath.Join(f.at(base), n), open); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) checkRoot() error {
	if _, err := os.Stat(f.root); err != nil {
		return fmt.Errorf("cannot use root %q: %w", f.root, reason(err))
	}
	return nil
}

// at returns where a name of the configuration is.
func (f *file) at(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(f.root, name)
}

func isGlob(p string) bool { return strings.ContainsAny(p, `*?[{\`) }

// A digestOf is what a file contributor has read.
type digestOf struct {
	left     int // bytes that may still be read
	maxBytes int
	seen     map[string]bool // absolute paths
	names    []string
	texts    []string
}

// add reads one file unless it was read before.
func (d *digestOf) add(name, abs string, open func() (*os.File, error)) error {
	if d.seen[abs] {
		return nil
	}
	d.seen[abs] = true
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("cannot use file %q: its name has a control character", name)
	}
	text, err := readText(open, d.left)
	if errors.Is(err, errLong) {
		return fmt.Errorf("cannot read file %q: %w", name, tooLong(d.maxBytes))
	}
	if err != nil {
		return fmt.Errorf("cannot read file %q: %w", name, err)
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	d.left -= len(text)
	d.names = append(d.names, name)
	d.texts = append(d.texts, text)
	return nil
}

// text returns the sections as one text.
func (d *digestOf) text() string {
	if len(d.texts) == 1 {
		return d.texts[0]
	}
	var b strings.Builder
	for i, t := range d.texts {
		b.WriteString("==> " + d.names[i] + " <==\n" + t)
		if i == len(d.texts)-1 {
			break
		}
		if !strings.HasSuffix(t, "\n") {
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

var errLong = errors.New("longer than its limit")

// readOnly does not wait for the writer of a named pipe, and means nothing to
// a regular file.
const readOnly = os.O_RDONLY | syscall.O_NONBLOCK

// readText reads a regular file of at most limit bytes that is text.
func readText(open func() (*os.File, error), limit int) (string, error) {
	b, err := readRegular(open, limit)
	if err != nil {
		return "", err
	}
	text := string(b)
	return text, checkText(text)
}

// readRegular reads the first limit bytes of a regular file; the error is
// errLong if there are more.
func readRegular(open func() (*os.File, error), limit int) ([]byte, error) {
	f, err := open()
	if err != nil {
		return nil, reason(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, reason(err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it is %v and no regular file", info.Mode().Type())
	}
	b, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, reason(err)
	}
	if len(b) > limit {
		return b[:limit], errLong
	}
	return b, nil
}

// reason takes the path off an error of os: the caller names the file.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
