package contrib

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

func init() { Register("skills", newSkills) }

const skillFile = "SKILL.md"

// catalogHead begins the message of a skills contributor.
const catalogHead = "Available skills:\n"

// A skills contributor gives the catalog of a folder of skills as one message,
// one line for each */SKILL.md, sorted by name:
//
//	Available skills:
//
//	- deploy: Ship a service to staging or production.
//	- review: Review a change the way the team does.
//
// Name and description come from the file's YAML front matter, white space in
// them made single spaces. A skill without a name has that of its folder. One
// without a description, with front matter that is no YAML, or with another's
// name is an error that names the file: a catalog that silently lacks a skill
// would be frozen so. Folders without a SKILL.md and hidden ones are passed
// over; a skill's folder may be a symlink. A folder without skills gives none.
type skills struct {
	folder   string // absolute
	maxBytes int
}

type skill struct {
	name, description, dir string
}

func newSkills(c Config) (Contributor, error) {
	if err := c.allow("folder", "root"); err != nil {
		return nil, err
	}
	if c.Folder == "" {
		return nil, errors.New(`cannot use folder "": a contributor of kind skills needs one`)
	}
	folder := c.Folder
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(c.Root, folder)
	}
	abs, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("cannot use folder %q: %w", c.Folder, err)
	}
	return &skills{folder: abs, maxBytes: c.MaxBytes}, nil
}

func (k *skills) Contribute(ctx context.Context, _ Session, list []Message) ([]Message, error) {
	all, err := k.read(ctx)
	if err != nil || len(all) == 0 {
		return list, err
	}
	slices.SortFunc(all, func(a, b skill) int { return cmp.Compare(a.name, b.name) })
	var b strings.Builder
	b.WriteString(catalogHead)
	for i, s := range all {
		if i > 0 && s.name == all[i-1].name {
			return nil, fmt.Errorf("cannot list skills of %s and %s: both have the name %q", all[i-1].dir, s.dir, s.name)
		}
		b.WriteString("\n- " + s.name + ": " + s.description)
	}
	b.WriteByte('\n')
	return append(list, Message{Text: b.String()}), nil
}

// read returns the skills in the order of their folders.
func (k *skills) read(ctx context.Context) ([]skill, error) {
	dirs, err := os.ReadDir(k.folder)
	if err != nil {
		return nil, fmt.Errorf("cannot list folder %q: %w", k.folder, reason(err))
	}
	var all []skill
	left := k.maxBytes
	for _, d := range dirs {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if hidden(d.Name()) {
			continue
		}
		s, err := readSkill(k.folder, d.Name())
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
			continue
		case err != nil:
			return nil, fmt.Errorf("cannot list skill %q: %w", filepath.Join(d.Name(), skillFile), err)
		}
		if left -= len(s.name) + len(s.description); left < 0 {
			return nil, tooLong(k.maxBytes)
		}
		all = append(all, s)
	}
	return all, nil
}

// readSkill reads what the skill in a folder says of itself, at the beginning
// of its file.
func readSkill(folder, dir string) (skill, error) {
	open := func() (*os.File, error) { return os.OpenFile(filepath.Join(folder, dir, skillFile), readOnly, 0) }
	b, err := readRegular(open, maxFrontMatter)
	if err != nil && !errors.Is(err, errLong) {
		return skill{}, err
	}
	return newSkill(dir, b)
}

func newSkill(dir string, b []byte) (skill, error) {
	m, err := parseFrontMatter(b)
	if err != nil {
		return skill{}, err
	}
	s := skill{name: oneLine(m.Name), description: oneLine(m.Description), dir: dir}
	if s.name == "" {
		s.name = oneLine(dir)
	}
	if s.description == "" {
		return skill{}, errors.New("its front matter has no description")
	}
	return s, checkText(s.name + s.description)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
