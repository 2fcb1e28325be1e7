package logsink

import (
	"strings"
	"testing"
)

// An address without a scheme is no file, and a scheme may be in capitals.
func TestPathOfALog(t *testing.T) {
	f := func(path, want string) {
		t.Helper()
		_, _, err := backend(path)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("backend(%q) = %v, want an error with %q", path, err, want)
		}
	}
	f("preface.db", "")
	f("./127.0.0.1:6379", "")
	f(`C:\preface.db`, "")
	f("SQLite:preface.db", "")
	f("REDIS://127.0.0.1:6379", "")
	f("127.0.0.1:6379", "log.path wants redis://127.0.0.1:6379, or ./127.0.0.1:6379 if it is a file")
	f("[::1]:6379", "log.path wants redis://[::1]:6379")
	f("localhost:6379", `no backend is named "localhost"`)
}
