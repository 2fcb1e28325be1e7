package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/proxy"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
	explaining "github.com/seed-9236c7ca/preface/proxy/explain"
)

// maxSaved is the largest body that is read from a file: what limits.body is by
// default.
const maxSaved = 64 << 20

// A saved request body.
type saved struct {
	path    string
	body    []byte
	dialect string
	request *explaining.Request
	said    explaining.Bodies
}

// bodies compares two saved bodies.
func (f *explainFlags) bodies(before, after string, stdout io.Writer) error {
	a, err := f.read(before)
	if err != nil {
		return err
	}
	b, err := f.read(after)
	if err != nil {
		return err
	}
	if a.dialect != b.dialect {
		return fmt.Errorf("cannot compare %s with %s: one looks like %s and the other like %s; if both are of one, -dialect says which", shown(before), shown(after), a.dialect, b.dialect)
	}
	for _, s := range []*saved{a, b} {
		if s.request, s.said, err = proxy.ReadBody(s.dialect, s.body); err != nil {
			return fmt.Errorf("cannot explain %s: %w", shown(s.path), err)
		}
		s.request.ID = s.path
	}
	v := explaining.Compare(a.request, b.request, a.said, b.said)
	if f.json {
		return printJSON(stdout, foundOf(v, b))
	}
	_, err = io.WriteString(stdout, tellBodies(v, a, b))
	return err
}

// read reads a file that holds a request body.
func (f *explainFlags) read(path string) (*saved, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read a request body: %w", err)
	}
	defer file.Close()
	body, err := io.ReadAll(io.LimitReader(file, maxSaved+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot read a request body: %w", err)
	case len(body) > maxSaved:
		return nil, fmt.Errorf("cannot explain %s: it has more than %d MiB, which no request has", shown(path), maxSaved>>20)
	case len(body) == 0:
		return nil, fmt.Errorf("cannot explain %s: it is empty", shown(path))
	}
	s := &saved{path: path, body: body, dialect: f.dialect}
	if s.dialect == "" {
		s.dialect, err = looksLike(body)
	} else if !slices.Contains(dialect.Names(), s.dialect) {
		err = fmt.Errorf("there is no dialect %q; there are %s", s.dialect, strings.Join(dialect.Names(), ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("cannot explain %s: %w", shown(path), err)
	}
	return s, nil
}

// A glance is what tells dialects apart.
type glance struct {
	Model        any
	Input        json.RawMessage
	Instructions json.RawMessage
	System       json.RawMessage
	Tools        []struct {
		InputSchema json.RawMessage `json:"input_schema"`
		Function    json.RawMessage
	}
	Messages []struct {
		Role      string
		Content   json.RawMessage
		ToolCalls json.RawMessage `json:"tool_calls"`
	}
}

// looksLike guesses the dialect of a body.
func looksLike(body []byte) (string, error) {
	var g glance
	err := json.Unmarshal(body, &g)
	var typed *json.UnmarshalTypeError
	if err != nil && !errors.As(err, &typed) {
		return "", fmt.Errorf("it is not JSON: %w", err)
	}
	switch {
	case g.Messages == nil && (g.Input != nil || g.Instructions != nil):
		return "openai-responses", nil
	case g.Messages == nil:
		return "", errors.New("it has neither messages nor input, so it is no request that is known here; -dialect says what it is")
	case g.anthropic():
		return "anthropic", nil
	}
	return "openai-chat", nil
}

// anthropic reports whether a body with messages is one of the Messages API: by
// what only one of the two has, else by the model's name.
func (g *glance) anthropic() bool {
	if g.System != nil {
		return true
	}
	for _, t := range g.Tools {
		if t.InputSchema != nil || t.Function != nil {
			return t.InputSchema != nil
		}
	}
	for i, m := range g.Messages {
		if i == 0 && (m.Role == "system" || m.Role == "developer") || m.ToolCalls != nil || m.Role == "tool" {
			return false
		}
		var blocks []struct{ Type string }
		if json.Unmarshal(m.Content, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			switch b.Type {
			case "tool_use", "tool_result", "thinking", "redacted_thinking":
				return true
			}
		}
	}
	model, _ := g.Model.(string)
	return strings.HasPrefix(model, "claude")
}

// A found is a verdict on two bodies as JSON.
type found struct {
	Cause   string `json:"cause"` // empty if nothing that a cache minds differs
	Owner   string `json:"owner"`
	Section string `json:"section"`
	Offset  *int   `json:"offset"` // in the second body
	Index   *int   `json:"index"`
	Detail  string `json:"detail"`
	Waste   bool   `json:"waste"`
	Dialect string `json:"dialect"`
}

// nothingDiffers is the detail where there is no cause.
const nothingDiffers = "nothing that a cache minds differs: all that the first one left can be read"

func foundOf(v explaining.Verdict, b *saved) found {
	at := func(n int) *int {
		if n < 0 {
			return nil
		}
		return &n
	}
	if v.Cause == "" {
		v.Detail = nothingDiffers
	}
	return found{v.Cause, v.Owner, v.Section, at(v.Offset), at(v.Index), v.Detail, v.Waste, b.dialect}
}

func tellBodies(v explaining.Verdict, a, b *saved) string {
	if v.Cause == "" {
		return nothingDiffers + "\n"
	}
	var s strings.Builder
	fmt.Fprintf(&s, "%s, by the %s: %s\n", v.Cause, v.Owner, oneLine(v.Detail))
	if v.Offset < 0 {
		return s.String()
	}
	fmt.Fprintf(&s, "from byte %d of %s on, in the order of the prompt, nothing that %s left can be read:\n", v.Offset, shown(b.path), shown(a.path))
	text, mark := excerpt(b.body, v.Offset)
	fmt.Fprintf(&s, "  %s\n  %s^\n", text, strings.Repeat(" ", mark))
	return s.String()
}

// excerpt is the text around byte at on one line, and how many characters of it
// stand before that byte.
func excerpt(body []byte, at int) (text string, before int) {
	const around = 36
	line := func(from, to int) string { return oneLine(strings.ToValidUTF8(string(body[from:to]), "")) }
	head := line(max(0, at-around), at)
	return head + line(at, min(len(body), at+around)), len([]rune(head))
}

// oneLine is visible without line ends and tabs.
func oneLine(s string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(legible.Visible(s))
}
