//go:build mutations

package faulttest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMutations: each broken program fails the test that is there to find it.
func TestMutations(t *testing.T) {
	for i, m := range mutations {
		t.Run(strings.ReplaceAll(m.name, " ", "-"), func(t *testing.T) {
			out := m.judge(t, i)
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

// overlay lays the mutation over the source, and returns the file that says so.
func (m *mutation) overlay(t *testing.T) string {
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
	return overlay
}

// judge runs the test against the broken program, in a process of its own, and
// returns what it said.
func (m *mutation) judge(t *testing.T, i int) string {
	t.Helper()
	cmd := m.inPackage(m.overlay(t))
	if m.pkg == "" {
		cmd = m.here(t, i)
	}
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("%s passed", m.test)
	}
	return string(out)
}

// inPackage tests a package that has the mutation in it.
func (m *mutation) inPackage(overlay string) *exec.Cmd {
	cmd := exec.Command("go", "test", "-overlay", overlay, "-run", "^"+strings.ReplaceAll(m.test, "/", "$/^")+"$", "-count=1", "-timeout=5m", m.pkg)
	cmd.Dir = moduleRoot
	return cmd
}

// here runs a test of this package against a program that has the mutation.
func (m *mutation) here(t *testing.T, i int) *exec.Cmd {
	t.Helper()
	bin, err := build(fmt.Sprint("mutant-", i), "-tags", "failpoint", "-overlay", m.overlay(t))
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run", "^"+m.test+"$", "-test.short", "-test.count=1", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), "PREFACE_BINARY="+bin)
	return cmd
}
