package logsink_test

import (
	"path/filepath"
	"testing"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/logsink/logtest"
)

func TestSQLiteSuite(t *testing.T) {
	t.Parallel()
	logtest.Run(t, sqliteBackend)
}

func sqliteBackend(t testing.TB) logtest.Backend {
	path := filepath.Join(t.TempDir(), "log.db")
	return logtest.Backend{
		Open:   func(t testing.TB) logsink.Log { return openLog(t, path) },
		Reader: func(t testing.TB) logsink.Reader { return openReader(t, path) },
	}
}

func openLog(t testing.TB, path string) *logsink.SQLite {
	t.Helper()
	l, err := logsink.OpenSQLite(t.Context(), path, logsink.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func openReader(t testing.TB, path string) *logsink.SQLite {
	t.Helper()
	r, err := logsink.OpenSQLiteReader(t.Context(), path, logsink.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}
