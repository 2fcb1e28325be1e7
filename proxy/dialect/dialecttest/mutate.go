package dialecttest

import (
	"bytes"
	"encoding/json"

	"pgregory.net/rapid"
)

// respace returns the document with other white space between its tokens.
func respace(t *rapid.T, doc []byte) []byte {
	spaces := rapid.SliceOfN(rapid.SampledFrom([]string{"", "", " ", "\n", "\t ", "\r\n  "}), 1, 12).Draw(t, "spaces")
	next := 0
	space := func() string { next++; return spaces[next%len(spaces)] }
	var out bytes.Buffer
	inString := false
	for i := 0; i < len(doc); i++ {
		c := doc[i]
		switch {
		case inString && c == '\\':
			out.WriteByte(c)
			i++
			c = doc[i]
		case c == '"':
			inString = !inString
		case inString:
		case bytes.IndexByte([]byte("{}[]:,"), c) >= 0:
			out.WriteString(space())
			out.WriteByte(c)
			out.WriteString(space())
			continue
		case bytes.IndexByte([]byte(" \t\r\n"), c) >= 0:
			continue
		}
		out.WriteByte(c)
	}
	return out.Bytes()
}

func decode(t *rapid.T, body []byte) (tree map[string]any) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		t.Fatalf("cannot decode %s: %v", body, err)
	}
	return tree
}

func encode(t *rapid.T, tree any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(tree); err != nil {
		t.Fatalf("cannot encode: %v", err)
	}
	return b.Bytes()
}

var marks = []string{"cache_control", "prompt_cache_breakpoint"}

// remark changes in a list of messages what clients change between turns: the
// cache marks of messages and of their blocks, and whether a text stands as a
// string or as one block.
func remark(t *rapid.T, list []any) {
	for _, m := range list {
		m, ok := m.(map[string]any)
		if !ok {
			continue
		}
		moveMark(t, m)
		reshape(t, m)
		blocks, _ := m["content"].([]any)
		for _, b := range blocks {
			if b, ok := b.(map[string]any); ok {
				moveMark(t, b)
			}
		}
	}
}

func moveMark(t *rapid.T, o map[string]any) {
	switch name := rapid.SampledFrom(marks).Draw(t, "mark"); rapid.IntRange(0, 3).Draw(t, "move") {
	case 0:
		delete(o, name)
	case 1:
		o[name] = map[string]any{"type": "ephemeral", "ttl": "1h"}
	case 2:
		o[name] = nil
	}
}

func reshape(t *rapid.T, m map[string]any) {
	if !rapid.Bool().Draw(t, "reshape") {
		return
	}
	switch content := m["content"].(type) {
	case string:
		m["content"] = []any{map[string]any{"type": "text", "text": content}}
	case []any:
		if text, ok := onlyText(content); ok {
			m["content"] = text
		}
	}
}

// onlyText returns the text of a list of one block of text without marks.
func onlyText(content []any) (text string, ok bool) {
	if len(content) != 1 {
		return "", false
	}
	b, _ := content[0].(map[string]any)
	text, ok = b["text"].(string)
	return text, ok && len(b) == 2
}
