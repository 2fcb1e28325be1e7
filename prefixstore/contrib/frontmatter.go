package contrib

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
)

// maxFrontMatter bounds how far a front matter is read. The YAML library needs
// time by the square of nested brackets: 1.5 s for so many, 22 s for four times
// as many.
const maxFrontMatter = 16 << 10

var (
	errNoFrontMatter = errors.New(`it does not begin with front matter between lines of "---"`)
	errOpenMatter    = fmt.Errorf("its front matter has no closing line %q in its first %d bytes", "---", maxFrontMatter)
)

// A frontMatter is what a skill's file says of itself. Other keys are its own
// business.
type frontMatter struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
}

// parseFrontMatter reads the front matter at the beginning of a file, of which
// b may be a part. Its errors name a key at most, never a value.
func parseFrontMatter(b []byte) (frontMatter, error) {
	var m frontMatter
	y, err := cutFrontMatter(b)
	if err != nil {
		return m, err
	}
	if !utf8.Valid(y) {
		return m, errors.New("its front matter is not valid UTF-8")
	}
	if err := yaml.Unmarshal(y, &m); err != nil {
		return m, notYAML(err)
	}
	return m, nil
}

// notYAML says what is wrong and where, without the excerpt that the YAML
// library adds. Lines count from the file's first.
func notYAML(err error) error {
	var y yaml.Error
	if !errors.As(err, &y) || y.GetToken() == nil || y.GetToken().Position == nil {
		return errors.New("its front matter is not the YAML of a skill")
	}
	line := y.GetToken().Position.Line + 1
	return fmt.Errorf("its front matter is not the YAML of a skill: line %d: %s", line, y.GetMessage())
}

// cutFrontMatter returns the lines between the first line, which must be
// "---", and the next such line.
func cutFrontMatter(b []byte) ([]byte, error) {
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	line, rest, _ := bytes.Cut(b, []byte("\n"))
	if !isFence(line) {
		return nil, errNoFrontMatter
	}
	for at := 0; at < len(rest); {
		line, _, more := bytes.Cut(rest[at:], []byte("\n"))
		if isFence(line) {
			return rest[:at], nil
		}
		at += len(line)
		if more {
			at++
		}
	}
	return nil, errOpenMatter
}

func isFence(line []byte) bool { return string(bytes.TrimRight(line, " \t\r")) == "---" }
