package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// A Folder is where a report goes: one beside it that becomes it when it is whole.
type Folder struct{ name, temporary string }

// Create begins a folder of that name. It finds out first whether it can be: what
// is there must be empty or a report that this package wrote, with nothing added.
func Create(name string) (*Folder, error) {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real // one that is a link stays one
	}
	if err := replaceable(name); err != nil {
		return nil, err
	}
	temporary, err := os.MkdirTemp(filepath.Dir(filepath.Clean(name)), "."+filepath.Base(name)+".*.new")
	if err == nil {
		err = os.Chmod(temporary, 0o755)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot write a report to %s: %w", name, reason(err))
	}
	return &Folder{name, temporary}, nil
}

// Keep writes the files, and makes the folder the one that was asked for.
func (f *Folder) Keep(files []File) error {
	for _, x := range files {
		if err := writeWhole(filepath.Join(f.temporary, x.Name), x.Data); err != nil {
			return fmt.Errorf("cannot write a report to %s: %w", f.name, reason(err))
		}
	}
	// Somebody may have put something there in the meantime.
	if err := replaceable(f.name); err != nil {
		return err
	}
	if err := replace(f.temporary, f.name); err != nil {
		return fmt.Errorf("cannot write a report to %s: %w", f.name, reason(err))
	}
	return nil
}

// Discard takes away what was not kept, or what was there before.
func (f *Folder) Discard() { _ = os.RemoveAll(f.temporary) }

// replaceable refuses a folder with anything in it that is not ours.
func replaceable(name string) error {
	entries, err := os.ReadDir(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot write a report to %s: %w", name, reason(err))
	}
	ours, err := filesOf(name)
	if err != nil {
		return fmt.Errorf("cannot write a report to %s: it is not empty, and %w", name, err)
	}
	for _, e := range entries {
		if !slices.Contains(ours, e.Name()) || !e.Type().IsRegular() {
			return fmt.Errorf("cannot write a report to %s: %q in it is not of the report that it would replace", name, e.Name())
		}
	}
	return nil
}

// filesOf are the files that a report consists of, by its manifest.
func filesOf(folder string) ([]string, error) {
	data, err := os.ReadFile(filepath.Join(folder, manifest))
	if err != nil {
		return nil, fmt.Errorf("holds no report that could be replaced: cannot read its %s: %w", manifest, reason(err))
	}
	var l listing
	if err := json.Unmarshal(data, &l); err != nil || l.Format != format {
		return nil, fmt.Errorf("holds no report that could be replaced: its %s is not ours", manifest)
	}
	return l.Files, nil
}

// replace makes one folder the other: at once where the system can swap two names,
// and otherwise over a third. A crash in between leaves both, under other names.
func replace(from, to string) error {
	if err := os.Rename(from, to); err == nil || errors.Is(err, fs.ErrNotExist) {
		return err // there was none, or an empty one
	}
	if err := swap(from, to); err == nil {
		return nil
	}
	return replaceInSteps(from, to)
}

func replaceInSteps(from, to string) error {
	old := from + ".old"
	if err := os.Rename(to, old); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return errors.Join(err, os.Rename(old, to))
	}
	return os.RemoveAll(old)
}

// A Page is a file of a report that is written and not there yet.
type Page struct{ name, temporary string }

// WritePage writes a file, which is there whole with Keep or not at all.
func WritePage(name string, data []byte) (*Page, error) {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	p := &Page{name, filepath.Join(filepath.Dir(name), fmt.Sprintf(".%s.%d.new", filepath.Base(name), os.Getpid()))}
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		return nil, fmt.Errorf("cannot write %s: %w", name, syscall.EISDIR)
	}
	if err := writeWhole(p.temporary, data); err != nil {
		p.Discard()
		return nil, fmt.Errorf("cannot write %s: %w", name, reason(err))
	}
	return p, nil
}

// Keep puts the file in its place.
func (p *Page) Keep() error {
	if err := os.Rename(p.temporary, p.name); err != nil {
		return fmt.Errorf("cannot write %s: %w", p.name, reason(err))
	}
	return nil
}

// Discard takes away what was not kept.
func (p *Page) Discard() { _ = os.Remove(p.temporary) }

func writeWhole(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666) // the umask's to narrow
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// reason is an error without the names of temporary files.
func reason(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}
