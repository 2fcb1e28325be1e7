//go:build !linux && !darwin

package logsink

// networkFS cannot tell on this system.
func networkFS(string) (string, error) { return "", nil }
