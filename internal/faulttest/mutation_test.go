package faulttest

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// moduleRoot is where the paths of mutations begin.
const moduleRoot = "../.."

// A mutation breaks one promise of the program, in one file, and names the test
// that must fail and what it must say.
type mutation struct {
	name  string
	file  string
	edits []string // old and new in turn; each old stands there once
	test  string
	says  string
	pkg   string // where the test is, if not here
}

var mutations = []mutation{
	{
		name: "records get ids from the server", file: "logsink/redis_script.go",
		edits: []string{"v .. '-0', 'l', text", "'*', 'l', text",
			"local page = seen[i] or before[i] or fresh[id]", "local page = false"},
		pkg: "./logsink", test: "TestRedisSuite/Single/AppendAgainStoresOnce", says: "is none of ours",
	},
	{
		name: "the client's headers are copied", file: "proxy/head.go",
		edits: []string{"slices.ContainsFunc(hopByHop, func(s string) bool { return is(name, s) }) ||",
			`is(name, "content-length") || is(name, "transfer-encoding") || is(name, "host") ||`,
			"slices.ContainsFunc(h.connection, func(l []byte) bool { return bytes.EqualFold(l, name) })", "slices.ContainsFunc(h.connection, func([]byte) bool { return false })"},
		test: "TestI12_HeadersOfOneConnection", says: "I12: ",
	},
	{
		name: "the prefix is used first and logged later", file: "prefixstore/freeze.go",
		edits: []string{`"fmt"`, "\"fmt\"\n\t\"time\"",
			"won, err := s.log.Freeze(ctx, a)",
			"won, err := a, error(nil)\n\tgo func() { time.Sleep(50 * time.Millisecond); _, _ = s.log.Freeze(context.Background(), a) }()"},
		test: "TestI1_Kill9", says: "I1: ",
	},
	{
		name: "the body is decoded and encoded again", file: "proxy/scan.go",
		edits: []string{`"bytes"`, "\"bytes\"\n\t\"encoding/json\"",
			"x.body = x.raw\n", "var v any\n\tif json.Unmarshal(x.raw, &v) == nil {\n\t\tx.raw, _ = json.Marshal(v)\n\t}\n\tx.body = x.raw\n"},
		test: "TestI2_FirstSuccessFreezes", says: "I3: ",
	},
	{
		name: "the prefix is rendered for each request", file: "proxy/splice.go",
		edits: []string{"bytes := x.epoch.Rendering(x.facts.Rendering)",
			"bytes := append([]byte(`{\"role\":\"user\",\"content\":\"`+x.id+`\"},`), x.epoch.Rendering(x.facts.Rendering)...)"},
		test: "TestI2_FirstSuccessFreezes", says: "I2: ",
	},
	{
		name: "nobody notices that a client leaves", file: "proxy/internal/wire/conn.go",
		edits: []string{"c.gone.Store(true)\n\tc.fire()", "_ = c"},
		test:  "TestI7_LeftBeforeTheAnswer", says: "I7: ",
	},
	{
		name: "a request that was written is sent again", file: "proxy/forward.go",
		edits: []string{"case err == nil:\n\t\t\treturn nil",
			"case err == nil:\n\t\t\tif _, perr := l.br.Peek(1); perr != nil && attempt < maxAttempts {\n\t\t\t\tx.detach(false)\n\t\t\t\tcontinue\n\t\t\t}\n\t\t\treturn nil"},
		test: "TestI9_SentOnce", says: "I9: ",
	},
	{
		name: "the end of the provider's connection is the end of the answer", file: "proxy/relay.go",
		edits: []string{"return io.ErrUnexpectedEOF", "r.ended = true\n\t\treturn nil"},
		test:  "TestI8_CutAtEveryByte", says: "I8: ",
	},
	{
		name: "an error quotes the request", file: "proxy/scan.go",
		edits: []string{`cannot read the request body as %s: %v", x.dialect.Name(), err)`, `cannot read the request body as %s: %v", x.dialect.Name(), string(x.raw))`},
		test:  "TestI12_NoSecret", says: "I12: ",
	},
	{
		name: "a session's later request composes anew after a restart", file: "prefixstore/store.go",
		edits: []string{"e, err := s.read(ctx, w.Key)\n\tswitch {", "e, err := s.read(ctx, w.Key)\n\tif err == nil {\n\t\treturn s.next(ctx, e, w, r)\n\t}\n\tswitch {"},
		test:  "TestI1_Kill9", says: "I2: ",
	},
}

// source returns the file as it is and as it would be.
func (m *mutation) source() (was, now string, err error) {
	b, err := os.ReadFile(filepath.Join(moduleRoot, m.file))
	if err != nil {
		return "", "", err
	}
	was, now = string(b), string(b)
	for i := 0; i < len(m.edits); i += 2 {
		if n := strings.Count(now, m.edits[i]); n != 1 {
			return "", "", fmt.Errorf("%s has %q %d times, want once: the code moved, move the mutation %q along", m.file, m.edits[i], n, m.name)
		}
		now = strings.Replace(now, m.edits[i], m.edits[i+1], 1)
	}
	return was, now, nil
}

// TestMutationsApply: what the mutations change is still there.
func TestMutationsApply(t *testing.T) {
	for _, m := range mutations {
		_, now, err := m.source()
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), m.file, now, parser.SkipObjectResolution); err != nil {
			t.Errorf("mutation %q gives no Go: %v", m.name, err)
		}
	}
}
