package faulttest

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
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
}

var mutations = []mutation{
	{
		"the prefix is used first and logged later", "prefixstore/freeze.go",
		[]string{`"fmt"`, "\"fmt\"\n\t\"time\"",
			"won, err := s.log.Freeze(ctx, a)",
			"won, err := a, error(nil)\n\tgo func() { time.Sleep(50 * time.Millisecond); _, _ = s.log.Freeze(context.Background(), a) }()"},
		"TestI1_Kill9", "I1: ",
	},
	{
		"the body is decoded and encoded again", "proxy/scan.go",
		[]string{`"bytes"`, "\"bytes\"\n\t\"encoding/json\"",
			"x.body = x.raw\n", "var v any\n\tif json.Unmarshal(x.raw, &v) == nil {\n\t\tx.raw, _ = json.Marshal(v)\n\t}\n\tx.body = x.raw\n"},
		"TestI2_FirstSuccessFreezes", "I3: ",
	},
	{
		"the prefix is rendered for each request", "proxy/splice.go",
		[]string{"bytes := x.epoch.Rendering(x.facts.Rendering)",
			"bytes := append([]byte(`{\"role\":\"user\",\"content\":\"`+x.id+`\"},`), x.epoch.Rendering(x.facts.Rendering)...)"},
		"TestI2_FirstSuccessFreezes", "I2: ",
	},
	{
		"nobody notices that a client leaves", "proxy/internal/wire/conn.go",
		[]string{"c.gone.Store(true)\n\tc.fire()", "_ = c"},
		"TestI7_LeftBeforeTheAnswer", "I7: ",
	},
	{
		"a request that was written is sent again", "proxy/forward.go",
		[]string{"case err == nil:\n\t\t\treturn nil",
			"case err == nil:\n\t\t\tif _, perr := l.br.Peek(1); perr != nil && attempt < maxAttempts {\n\t\t\t\tx.detach(false)\n\t\t\t\tcontinue\n\t\t\t}\n\t\t\treturn nil"},
		"TestI9_SentOnce", "I9: ",
	},
	{
		"the end of the provider's connection is the end of the answer", "proxy/relay.go",
		[]string{"return io.ErrUnexpectedEOF", "r.ended = true\n\t\treturn nil"},
		"TestI8_CutAtEveryByte", "I8: ",
	},
	{
		"an error quotes the request", "proxy/scan.go",
		[]string{`cannot read the request body as %s: %v", x.dialect.Name(), err)`, `cannot read the request body as %s: %v", x.dialect.Name(), string(x.raw))`},
		"TestI12_NoSecret", "I12: ",
	},
	{
		"a session's later request composes anew after a restart", "prefixstore/store.go",
		[]string{"e, err := s.read(ctx, w.Key)\n\tswitch {", "e, err := s.read(ctx, w.Key)\n\tif err == nil {\n\t\treturn s.next(ctx, e, w, r)\n\t}\n\tswitch {"},
		"TestI1_Kill9", "I2: ",
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

// TestMutations: each broken program fails the test that is there to find it.
func TestMutations(t *testing.T) {
	if os.Getenv("PREFACE_MUTATIONS") == "" {
		t.Skip("set PREFACE_MUTATIONS=1 to build a program for each mutation and judge it")
	}
	for i, m := range mutations {
		t.Run(strings.ReplaceAll(m.name, " ", "-"), func(t *testing.T) {
			out := m.judge(t, m.build(t, i))
			for line := range strings.Lines(out) {
				if strings.Contains(line, m.says) {
					t.Logf("%s found it: %.200s", m.test, strings.TrimSpace(line))
					return
				}
			}
			t.Errorf("%s did not say %q:\n%s", m.test, m.says, out)
		})
	}
}

// build builds the program with the mutation laid over the source.
func (m *mutation) build(t *testing.T, i int) string {
	t.Helper()
	_, now, err := m.source()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	real, err := filepath.Abs(filepath.Join(moduleRoot, m.file))
	if err != nil {
		t.Fatal(err)
	}
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	table, err := json.Marshal(map[string]any{"Replace": map[string]string{real: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{changed: now, overlay: string(table)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bin, err := build(fmt.Sprint("mutant-", i), "-tags", "failpoint", "-overlay", overlay)
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// judge runs the test against a broken program, in a process of its own, and
// returns what it said.
func (m *mutation) judge(t *testing.T, bin string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run", "^"+m.test+"$", "-test.short", "-test.count=1", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), "PREFACE_BINARY="+bin, "PREFACE_MUTATIONS=")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("%s passed", m.test)
	}
	return string(out)
}
