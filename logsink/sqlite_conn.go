package logsink

import (
	"context"
	"database/sql"
	"errors"
)

// A conn is the writing connection with its statements. It belongs to one
// goroutine. Statements run to their end whatever happens to a caller.
type conn struct {
	db    *sql.DB
	c     *sql.Conn
	stmts map[string]*sql.Stmt
}

func openConn(ctx context.Context, dsn string) (*conn, error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	own := &conn{db, c, map[string]*sql.Stmt{}}
	if _, err := own.exec("PRAGMA busy_timeout = 0"); err != nil { // see begin
		return nil, errors.Join(err, own.close())
	}
	return own, nil
}

func (c *conn) prepared(query string) (*sql.Stmt, error) {
	if st, ok := c.stmts[query]; ok {
		return st, nil
	}
	st, err := c.c.PrepareContext(context.Background(), query)
	if err == nil {
		c.stmts[query] = st
	}
	return st, err
}

func (c *conn) exec(query string, args ...any) (sql.Result, error) {
	st, err := c.prepared(query)
	if err != nil {
		return nil, err
	}
	return st.Exec(args...)
}

func (c *conn) row(query string, args ...any) row {
	st, err := c.prepared(query)
	if err != nil {
		return failedRow{err}
	}
	return st.QueryRow(args...)
}

func (c *conn) close() error {
	var err error
	for _, st := range c.stmts {
		err = errors.Join(err, st.Close())
	}
	return errors.Join(err, c.c.Close(), c.db.Close())
}
