package logsink

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// What the header of our files holds, at the offsets that the SQLite format
// fixes: 60 and 68.
const (
	schemaVersion = 1          // user_version; a higher one is refused
	applicationID = 0x50524643 // application_id, "PRFC"
)

// schema is the whole layout. It is meant to be read by a stranger:
//
//   - session has one row for each (tenant, session), in the order in which they
//     were first seen: those in use now lie together, however many there are. key
//     is the first 16 bytes of a BLAKE3 of both ids, so that a look-up costs the
//     same however long they are. anchor, tail and heads lead to its anchors and
//     pages without an index (heads.go).
//   - anchor is a frozen epoch; prev is the session's epoch before. doc is the
//     record without its messages, which are a blob, as the renderings are.
//   - page holds request, response and header records as JSON lines: those of
//     one session and one batch in one row. prev is the session's page before.
//     ids are 16 bytes for each record (recent.go).
//   - blob counts who refers to a large value; payload has its bytes, as they
//     are (enc 0) or zstd (enc 1).
//   - lineage leads from a derived session's history to the page that tells of it.
//   - ended and secret are what their names say.
//
// sum is a checksum of the row (checksum.go).
//
// Ids of anchors and pages are never used twice (AUTOINCREMENT), even when the
// newest rows are dropped: other rows and readers' cursors hold them.
const schema = `
CREATE TABLE session (
	id       INTEGER PRIMARY KEY,
	key      BLOB NOT NULL UNIQUE,
	tenant   TEXT NOT NULL,
	since    INTEGER NOT NULL, -- first anchor, or first record; unix ns
	anchored INTEGER NOT NULL, -- latest anchor; 0: none
	last     INTEGER NOT NULL, -- latest record or anchor
	epoch    INTEGER NOT NULL, -- latest; 0: none
	anchor   INTEGER NOT NULL, -- its anchor; 0: none
	tail     INTEGER NOT NULL, -- newest page; 0: none
	heads    BLOB NOT NULL,
	sum      INTEGER NOT NULL,
	session  TEXT NOT NULL
);
CREATE INDEX session_anchored ON session (anchored);

CREATE TABLE anchor (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	prev     INTEGER NOT NULL,
	key      BLOB NOT NULL,
	epoch    INTEGER NOT NULL,
	messages BLOB,             -- digest; NULL if bare
	sum      INTEGER NOT NULL,
	doc      TEXT NOT NULL
);

CREATE TABLE page (
	id    INTEGER PRIMARY KEY AUTOINCREMENT,
	key   BLOB NOT NULL,
	prev  INTEGER NOT NULL,
	time  INTEGER NOT NULL, -- latest of its records; unix ns
	ids   BLOB NOT NULL,
	sum   INTEGER NOT NULL,
	lines TEXT NOT NULL
);

CREATE TABLE blob (
	digest  BLOB PRIMARY KEY,
	refs    INTEGER NOT NULL,
	size    INTEGER NOT NULL, -- of the bytes, uncompressed
	time    INTEGER NOT NULL, -- when last offered while nothing referred to it
	payload INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX blob_orphan ON blob (time) WHERE refs = 0;

CREATE TABLE payload (
	id   INTEGER PRIMARY KEY,
	enc  INTEGER NOT NULL,
	data BLOB NOT NULL
);

CREATE TABLE lineage (
	id   BLOB PRIMARY KEY, -- first 16 bytes of a BLAKE3 of tenant and lineage
	page INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE ended (
	cursor  INTEGER PRIMARY KEY AUTOINCREMENT,
	key     BLOB NOT NULL,
	epoch   INTEGER NOT NULL,
	time    INTEGER NOT NULL,
	tenant  TEXT NOT NULL,
	session TEXT NOT NULL,
	UNIQUE (key, epoch)
);

CREATE TABLE secret (
	name  TEXT PRIMARY KEY,
	value BLOB NOT NULL,
	sum   INTEGER NOT NULL
) WITHOUT ROWID;
`

// createFile makes an empty log at path. It is built beside it under another
// name and then linked: whoever sees the file sees all of it, a crash leaves at
// worst a file named path.new-*, and of two processes that start at once one
// makes the log and the other finds it.
func createFile(ctx context.Context, path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*") // mode 0600
	if err != nil {
		return err
	}
	tmp := f.Name()
	defer os.Remove(tmp)
	if err := f.Close(); err != nil {
		return err
	}
	if err := writeSchema(ctx, tmp); err != nil {
		return err
	}
	if err := os.Link(tmp, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return renameNew(tmp, path, err)
	}
	return syncDir(filepath.Dir(path))
}

// renameNew is for file systems without links. There, two first starts at the
// same moment are not told apart.
func renameNew(tmp, path string, linkErr error) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	if err := os.Rename(tmp, path); err != nil {
		return errors.Join(linkErr, err)
	}
	return syncDir(filepath.Dir(path))
}

func writeSchema(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", dsn(path, "rw", pragma("synchronous", "FULL")))
	if err != nil {
		return err
	}
	// auto_vacuum must come before the first table; the journal mode comes last,
	// so that the switch to WAL leaves everything in the one file.
	script := fmt.Sprintf("PRAGMA auto_vacuum=INCREMENTAL; PRAGMA application_id=%d; PRAGMA user_version=%d; BEGIN; %s COMMIT; PRAGMA journal_mode=WAL;",
		applicationID, schemaVersion, schema)
	_, err = db.ExecContext(ctx, script)
	return errors.Join(err, db.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
