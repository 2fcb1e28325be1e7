package logsink

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// oldestSQLite is the first version without the WAL-reset race, by which two
// connections and a checkpoint could lose commits.
const oldestSQLite = "3.51.3"

func (s *SQLite) checkContent(ctx context.Context, deep bool) error {
	db := s.readers()
	var version string
	var application, layout int64
	if err := db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version); err != nil {
		return err
	}
	if !versionAtLeast(version, oldestSQLite) {
		return fmt.Errorf("this program was built with SQLite %s, which can lose commits: build it with %s or later", version, oldestSQLite)
	}
	// Once more, as the WAL may hold a newer first page than the file.
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&application); err != nil {
		return err
	}
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&layout); err != nil {
		return err
	}
	if err := checkIdentity(application, layout); err != nil {
		return err
	}
	if !deep {
		return nil
	}
	return checkIntegrity(ctx, db)
}

// A start should not wait for minutes, and a damaged page is also found when it
// is read. So small files are checked through, indexes against tables; larger
// ones page by page (quick_check); and after checkTime a file is taken as it is.
const (
	checkWhole = 16 << 20
	checkTime  = 10 * time.Second
)

func checkIntegrity(ctx context.Context, db *sql.DB) error {
	size, err := sizeOf(ctx, db)
	if err != nil {
		return err
	}
	check := "PRAGMA quick_check(1)"
	if size.file <= checkWhole {
		check = "PRAGMA integrity_check(1)"
	}
	limited, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	var verdict string
	err = db.QueryRowContext(limited, check).Scan(&verdict)
	switch {
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		return nil
	case err != nil:
		return err
	case verdict != "ok":
		return damaged("%s", verdict)
	}
	return nil
}

func versionAtLeast(version, least string) bool {
	v, l := strings.Split(version, "."), strings.Split(least, ".")
	for i := range l {
		if i >= len(v) {
			return false
		}
		a, errA := strconv.Atoi(v[i])
		b, errB := strconv.Atoi(l[i])
		if errA != nil || errB != nil || a != b {
			return errA == nil && errB == nil && a > b
		}
	}
	return true
}
