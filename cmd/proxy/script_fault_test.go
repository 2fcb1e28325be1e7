package main

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"net"
	"os"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// occupy takes a port.
func occupy(ts *testscript.TestScript, neg bool, args []string) {
	require(ts, !neg && len(args) == 0, "occupy")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { ts.Check(l.Close()) })
	ts.Setenv("TAKEN", l.Addr().String())
}

// lock holds the write lock of a log, as a process would that hangs in a write.
func lock(ts *testscript.TestScript, neg bool, args []string) {
	require(ts, !neg && len(args) == 1, "lock FILE")
	db, err := sql.Open("sqlite", "file:"+ts.MkAbs(args[0])+"?mode=rw")
	ts.Check(err)
	conn, err := db.Conn(context.Background())
	ts.Check(err)
	_, err = conn.ExecContext(context.Background(), "BEGIN IMMEDIATE")
	ts.Check(err)
	ts.Defer(func() { ts.Check(errors.Join(conn.Close(), db.Close())) })
}

// patch overwrites bytes of a file.
func patch(ts *testscript.TestScript, neg bool, args []string) {
	require(ts, !neg && len(args) == 3, "patch FILE OFFSET HEX")
	offset, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	b, err := hex.DecodeString(args[2])
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY, 0)
	ts.Check(err)
	_, err = f.WriteAt(b, offset)
	ts.Check(errors.Join(err, f.Close()))
}

func appendTo(ts *testscript.TestScript, neg bool, args []string) {
	require(ts, !neg && len(args) == 2, "append FILE TEXT")
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_WRONLY, 0)
	ts.Check(err)
	_, err = f.WriteString(args[1] + "\n")
	ts.Check(err)
	ts.Check(f.Close())
}
