package configs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEmbeddedConfigurationLoads: the program itself takes the preface.yaml of the
// ConfigMap, as it is mounted, and finds nothing to warn of.
func TestEmbeddedConfigurationLoads(t *testing.T) {
	m := readManifests(t)
	_, _, c := m.pod(t)
	place := mountAll(t, m.mounted(t))
	args := []string{"check", "-strict", "-config", place(c.config())}
	out, err := exec.Command(program(t), args...).CombinedOutput()
	if err != nil {
		t.Errorf("proxy check: %v\n%s", err, out)
	}
	if !strings.Contains(string(out), "contributor agents (file): ok") {
		t.Errorf("proxy check does not tell of the opener:\n%s", out)
	}
}

// mountAll lays out files as Kubernetes does, each a link into a folder that is
// swapped as a whole, and returns where a path of the pod is. In the files, paths
// of the pod are changed to that.
func mountAll(t *testing.T, files map[string]string) (place func(string) string) {
	t.Helper()
	root := t.TempDir()
	var moved []string
	for path := range files {
		moved = append(moved, filepath.Dir(path), root+filepath.Dir(path))
	}
	paths := strings.NewReplacer(moved...)
	for path, text := range files {
		dir := filepath.Join(root, filepath.Dir(path))
		if err := os.MkdirAll(filepath.Join(dir, "..2026"), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "..2026"), filepath.Base(path), paths.Replace(text))
		if err := os.Symlink(filepath.Join("..2026", filepath.Base(path)), filepath.Join(root, path)); err != nil {
			t.Fatal(err)
		}
	}
	return func(path string) string { return filepath.Join(root, path) }
}
