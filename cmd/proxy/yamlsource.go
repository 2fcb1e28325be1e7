package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxConfig bounds a configuration file.
const maxConfig = 4 << 20

// A source is one YAML file as it was read: one document, nothing expanded.
type source struct {
	name string
	text []byte
	root ast.Node // nil if the file says nothing
}

// readSource reads and parses a file; what is it for whoever reads the error.
func readSource(what, name string) (*source, error) {
	text, err := readBounded(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read the %s %s: %w", what, name, err)
	}
	return parseSource(name, text)
}

// readBounded reads a file of at most maxConfig bytes. Its errors do not name it.
func readBounded(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, withoutPath(err)
	}
	if info.Size() > maxConfig {
		return nil, fmt.Errorf("it has %d bytes, more than %d", info.Size(), maxConfig)
	}
	text, err := os.ReadFile(name)
	return text, withoutPath(err)
}

// withoutPath is what went wrong with a file, for an error that names it already.
func withoutPath(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func parseSource(name string, text []byte) (*source, error) {
	s := &source{name: name, text: text}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, s.placed(err)
	}
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
		case s.root != nil:
			return nil, s.wrong(firstToken(doc.Body), "a second document begins here: put everything into one")
		default:
			s.root = doc.Body
		}
	}
	return s, nil
}

// plain returns the file's meaning as maps, lists and scalars, unexpanded.
func (s *source) plain() (any, error) {
	if s.root == nil {
		return nil, nil
	}
	var v any
	if err := yaml.NodeToValue(s.root, &v); err != nil {
		return nil, s.placed(err)
	}
	return v, nil
}

// section returns what the file says under a key at its top.
func (s *source) section(key string) *source {
	part := &source{name: s.name, text: s.text}
	top, ok := s.root.(ast.MapNode)
	if !ok {
		return part
	}
	for each := top.MapRange(); each.Next(); {
		if each.Key().GetToken().Value == key {
			part.root = each.Value()
		}
	}
	return part
}

// into expands the file and writes it over *v. A key that *v does not have, or
// a value of another type, is an error with its place.
func (s *source) into(v any, e *expander) error {
	if s.root == nil {
		return nil
	}
	if err := e.nodes(s); err != nil {
		return err
	}
	if err := s.check(reflect.TypeOf(v).Elem()); err != nil {
		return err
	}
	if err := yaml.NodeToValue(s.root, v, yaml.Strict()); err != nil {
		return s.placed(err)
	}
	return nil
}

// wrong is an error at a token: the place, what is wrong, and the line with a
// caret. Of the file it shows that line alone, as it was written.
func (s *source) wrong(at *token.Token, format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	if at == nil || at.Position == nil {
		return fmt.Errorf("%s: %s", s.name, what)
	}
	p := at.Position
	e := fmt.Sprintf("%s:%d:%d: %s", s.name, p.Line, p.Column, what)
	lines := strings.Split(string(s.text), "\n")
	if p.Line < 1 || p.Line > len(lines) {
		return errors.New(e)
	}
	line := []rune(strings.TrimRight(lines[p.Line-1], "\r"))
	before := line[:min(max(p.Column-1, 0), len(line))]
	margin := fmt.Sprintf("%4d | ", p.Line)
	return fmt.Errorf("%s\n%s%s\n%s%s^", e, margin, string(line), blank(margin), blank(string(before)))
}

// blank returns white space that is as wide as s in a terminal.
func blank(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, s)
}

// placed puts an error of the parser or decoder into the form of wrong.
func (s *source) placed(err error) error {
	var at yaml.Error
	if errors.As(err, &at) {
		return s.wrong(at.GetToken(), "%s", at.GetMessage())
	}
	return fmt.Errorf("%s: %w", s.name, err)
}
