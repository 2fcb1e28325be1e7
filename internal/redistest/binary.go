package redistest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

var errMissing = errors.New("cannot find redis-server, which this test needs: install it (as root: make tools, or apt-get install redis-server), or name it in PREFACE_REDIS")

// binary finds the server's program.
func binary() (string, error) {
	if path := os.Getenv("PREFACE_REDIS"); path != "" {
		if _, err := exec.LookPath(path); err != nil {
			return "", fmt.Errorf("cannot run PREFACE_REDIS=%q: %w", path, err)
		}
		return path, nil
	}
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errMissing
}
