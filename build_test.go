package preface

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestCrossCompiles builds the program, without cgo, for every platform that it
// is meant for.
func TestCrossCompiles(t *testing.T) {
	for _, target := range [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}} {
		t.Run(target[0]+"/"+target[1], func(t *testing.T) {
			cmd := exec.Command("go", "build", "-o", filepath.Join(t.TempDir(), "preface"), "./cmd/proxy")
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+target[0], "GOARCH="+target[1])
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("go build: %v\n%s", err, bytes.TrimSpace(out))
			}
		})
	}
}
