package logsink

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"modernc.org/sqlite"
)

func init() {
	Register("sqlite", Backend{
		Open: func(ctx context.Context, path string, c Config) (Log, error) {
			return orNil[Log](OpenSQLite(ctx, path, c))
		},
		OpenReader: func(ctx context.Context, path string, c Config) (Reader, error) {
			return orNil[Reader](OpenSQLiteReader(ctx, path, c))
		},
	})
}

// orNil keeps a nil *SQLite from becoming a non-nil interface.
func orNil[T any](s *SQLite, err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return any(s).(T), nil
}

// Settings of the library that hold for the whole process.
var setProcessOptions = sync.OnceFunc(func() {
	// With POSIX locks, any close of any descriptor of the file (a contributor
	// that reads **/* is enough) would drop SQLite's locks unseen.
	sqlite.OFDLocking(true) // Linux; elsewhere there is none
	// fdatasync is as durable as fsync and spares an inode write per commit.
	sqlite.Fdatasync(true) // not on macOS, which syncs with F_FULLFSYNC
})

// OpenSQLite opens a log file for writing and makes it if it is not there.
func OpenSQLite(ctx context.Context, path string, c Config) (*SQLite, error) {
	s, err := openSQLite(ctx, path, c, true)
	if err != nil {
		return nil, fmt.Errorf("cannot open header log %s: %w", path, err)
	}
	return s, nil
}

// OpenSQLiteReader opens a log file that is there, to read only. It never
// writes the file or its -wal; it may make the -wal and -shm that SQLite wants
// beside any open file.
func OpenSQLiteReader(ctx context.Context, path string, c Config) (*SQLite, error) {
	s, err := openSQLite(ctx, path, c, false)
	if err != nil {
		return nil, fmt.Errorf("cannot read header log %s: %w", path, err)
	}
	return s, nil
}

// openSQLite looks before it leaps: everything that can be known about a file
// without writing is found out first, so that a file that is refused stays as
// it is.
func openSQLite(ctx context.Context, path string, c Config, write bool) (_ *SQLite, err error) {
	setProcessOptions()
	c = c.withDefaults()
	path, err = filepath.Abs(strings.TrimPrefix(path, "//"))
	if err != nil {
		return nil, err
	}
	if err := checkPlace(path); err != nil {
		return nil, err
	}
	if err := ensureFile(ctx, path, write); err != nil {
		return nil, classify(err)
	}
	if err := checkHeader(path); err != nil {
		return nil, classify(err)
	}
	s := newSQLite(path, c)
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if err := s.checkContent(ctx, write); err != nil {
		return nil, classify(err)
	}
	if write {
		return s, classify(s.startWriter(ctx))
	}
	return s, nil
}

// checkPlace refuses directories that cannot hold a log.
func checkPlace(path string) error {
	if strings.ContainsRune(path, 0) {
		return errors.New("log.path holds a NUL byte")
	}
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("its directory cannot be used: make it or set log.path: %w", err)
	}
	name, err := networkFS(dir)
	if err != nil {
		return err
	}
	if name != "" {
		return errNetworkFS(name)
	}
	return nil
}

// ensureFile makes the file if it may, and refuses what cannot be one of ours.
func ensureFile(ctx context.Context, path string, write bool) error {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !write:
		return fmt.Errorf("there is none: start the proxy, or set log.path to where it keeps its log: %w", err)
	case errors.Is(err, fs.ErrNotExist):
		return createIfAlone(ctx, path)
	case err != nil:
		return err
	case !st.Mode().IsRegular():
		return fmt.Errorf("%w, but a %s: set log.path to a file", ErrForeign, st.Mode().Type())
	case st.Size() == 0:
		// Ours is never empty, see createFile. SQLite would take an empty file
		// for a new database, and its contents may have been lost.
		return fmt.Errorf("%w: it is empty: remove it to start a new log, or restore a copy", ErrForeign)
	}
	return nil
}

// createIfAlone makes a new log unless one has left its write-ahead log behind:
// SQLite would play that into the new file.
func createIfAlone(ctx context.Context, path string) error {
	if st, err := os.Stat(path + "-wal"); err == nil && st.Size() > 0 {
		return fmt.Errorf("%w: %s-wal is there without it: restore the file beside it, or move the -wal away to start a new log", ErrCorrupt, path)
	}
	return createFile(ctx, path)
}

// opened counts the handles of this process on a path. While there is one the
// file is not opened by other means, since closing it again would drop POSIX
// locks where there are no better ones.
var opened = struct {
	sync.Mutex
	n map[string]int
}{n: map[string]int{}}

// checkHeader reads the first bytes of the file, which is possible without any
// trace even if the file is somebody else's database.
func checkHeader(path string) error {
	opened.Lock()
	defer opened.Unlock()
	if opened.n[path] > 0 {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var h [100]byte
	n, err := io.ReadFull(f, h[:])
	if magic := "SQLite format 3\x00"; string(h[:min(n, 16)]) != magic[:min(n, 16)] {
		return fmt.Errorf("%w, or its first bytes are damaged: set log.path to another file", ErrForeign)
	}
	if err != nil {
		return fmt.Errorf("%w: it is shorter than a header: %s", ErrCorrupt, adviceDamaged)
	}
	return checkIdentity(int64(int32(binary.BigEndian.Uint32(h[68:]))), int64(binary.BigEndian.Uint32(h[60:])))
}

func checkIdentity(application, version int64) error {
	if application != applicationID {
		return fmt.Errorf("%w, but another program's SQLite database: set log.path to another file", ErrForeign)
	}
	if version > schemaVersion {
		return fmt.Errorf("%w: its layout is %d, this program knows up to %d: use the newer program or another log.path", ErrNewer, version, schemaVersion)
	}
	return nil
}
