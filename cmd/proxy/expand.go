package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// An expander replaces ${…} in the string values of a file, after it was
// parsed, so that no value can change the file's structure:
//
//	${NAME}          the environment variable NAME; it must be set
//	${NAME:-text}    the same, or text if it is not set or empty
//	${file:PATH}     the content of a file, without line ends at its end
//	$${              the two characters ${
//
// What is put in is not expanded again, and written takes it out of what is shown.
type expander struct {
	lookup func(name string) (string, bool)
	secret []expansion
}

type expansion struct{ value, written string }

// maxSecret bounds the content of a file that is put in.
const maxSecret = 64 << 10

var reference = regexp.MustCompile(`\$\$\{|\$\{[^}]*\}?`)

// nodes expands all strings of a file.
func (e *expander) nodes(s *source) error {
	v := &stringVisitor{}
	ast.Walk(v, s.root)
	for _, n := range v.found {
		value, err := e.text(n.Value)
		if err != nil {
			return s.wrong(n.GetToken(), "%v", err)
		}
		n.Value = value
	}
	return nil
}

// A stringVisitor collects the strings that are values and not keys.
type stringVisitor struct{ found []*ast.StringNode }

func (v *stringVisitor) Visit(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case *ast.MappingValueNode:
		ast.Walk(v, n.Value)
		return nil
	case *ast.AnchorNode:
		ast.Walk(v, n.Value)
		return nil
	case *ast.AliasNode:
		return nil // its anchor is expanded once
	case *ast.StringNode:
		v.found = append(v.found, n)
	}
	return v
}

// text expands one string.
func (e *expander) text(s string) (string, error) {
	var failed error
	out := reference.ReplaceAllStringFunc(s, func(ref string) string {
		if ref == "$${" {
			return "${"
		}
		value, err := e.value(ref)
		if err != nil && failed == nil {
			failed = err
		}
		if len(value) > 3 { // hiding "1" or "on" would only make errors unreadable
			e.secret = append(e.secret, expansion{value, ref})
		}
		return value
	})
	return out, failed
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (e *expander) value(ref string) (string, error) {
	inner, closed := strings.CutSuffix(ref[2:], "}")
	if !closed {
		return "", fmt.Errorf("%s has no closing brace; for the characters themselves write $${", ref)
	}
	if path, ok := strings.CutPrefix(inner, "file:"); ok {
		return readSecret(path)
	}
	name, def, hasDefault := strings.Cut(inner, ":-")
	if !envName.MatchString(name) {
		return "", fmt.Errorf("%s names no environment variable; for the characters themselves write $${", ref)
	}
	value, set := e.lookup(name)
	switch {
	case hasDefault && value == "":
		return def, nil
	case !set:
		return "", fmt.Errorf("environment variable %s is not set; set it, or give a default: ${%s:-…}", name, name)
	}
	return value, nil
}

func readSecret(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("cannot read ${file:…}: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err != nil {
		return "", fmt.Errorf("cannot read ${file:…}: %w", err)
	}
	if len(b) > maxSecret {
		return "", fmt.Errorf("cannot use ${file:%s}: it has more than %d bytes", path, maxSecret)
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}

// written returns text with what was put in shown as it was written.
func (e *expander) written(text string) string {
	for _, x := range e.secret {
		text = strings.ReplaceAll(text, x.value, x.written)
		quoted := fmt.Sprintf("%q", x.value)
		text = strings.ReplaceAll(text, quoted[1:len(quoted)-1], x.written)
	}
	return text
}

// hide is written for the text of an error.
func (e *expander) hide(err error) error {
	if err == nil {
		return nil
	}
	if text := e.written(err.Error()); text != err.Error() {
		return hiddenError{text, err}
	}
	return err
}

// A hiddenError has another text than the error it wraps.
type hiddenError struct {
	text string
	err  error
}

func (e hiddenError) Error() string { return e.text }
func (e hiddenError) Unwrap() error { return e.err }
