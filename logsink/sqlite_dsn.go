package logsink

import (
	"net/url"
	"path/filepath"
	"strconv"
)

// dsn names a file to the driver. It must begin with "file:", or the driver
// drops mode and everything else that is SQLite's own.
func dsn(path, mode string, pragmas ...string) string {
	q := url.Values{"mode": {mode}, "_pragma": pragmas, "_dqs": {"0"}}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: q.Encode()}
	return u.String()
}

func pragma(name, value string) string { return name + "(" + value + ")" }

func (s *SQLite) readerDSN() string {
	return dsn(s.path, "ro", s.busyPragma(), pragma("query_only", "1"), pragma("cell_size_check", "1"))
}

func (s *SQLite) writerDSN() string {
	return dsn(s.path, "rw", s.busyPragma(),
		pragma("synchronous", s.config.Sync),
		pragma("journal_mode", "WAL"),
		pragma("wal_autocheckpoint", "2000"),     // 8 MB
		pragma("journal_size_limit", "67108864"), // a WAL that a slow reader made grow shrinks again
		pragma("cache_size", "-16384"),           // KiB; rows of sessions are spread over their tree
		pragma("cell_size_check", "1"),
	)
}

func (s *SQLite) busyPragma() string {
	return pragma("busy_timeout", strconv.FormatInt(max(1, s.config.BusyTimeout.Milliseconds()), 10))
}
