package logsink

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// A readPool is a set of connections that only read, with their statements.
type readPool struct {
	db *sql.DB

	// stmts is touched only under mu.
	mu    sync.Mutex
	stmts map[string]*sql.Stmt
}

// readersAtOnce bounds connections, each of which has a page cache of 2 MB.
const readersAtOnce = 4

func newReadPool(dsn string) *readPool {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		panic("BUG: the sqlite driver is not registered: " + err.Error())
	}
	db.SetMaxOpenConns(readersAtOnce)
	db.SetMaxIdleConns(readersAtOnce)
	return &readPool{db: db, stmts: map[string]*sql.Stmt{}}
}

func (p *readPool) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if st, ok := p.stmts[query]; ok {
		return st, nil
	}
	st, err := p.db.PrepareContext(ctx, query)
	if err == nil {
		p.stmts[query] = st
	}
	return st, err
}

func (p *readPool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var err error
	for _, st := range p.stmts {
		err = errors.Join(err, st.Close())
	}
	clear(p.stmts)
	return errors.Join(err, p.db.Close())
}

// A row is what a question for one row gives.
type row interface{ Scan(dest ...any) error }

type failedRow struct{ err error }

func (r failedRow) Scan(...any) error { return r.err }

// An asker asks for one row, of the readers or inside a transaction.
type asker func(query string, args ...any) row

func (s *SQLite) readers() *sql.DB { return s.pool.Load().db }

func (s *SQLite) ask(ctx context.Context) asker {
	return func(query string, args ...any) row {
		st, err := s.statement(ctx, query)
		if err != nil {
			return failedRow{err}
		}
		return st.QueryRowContext(ctx, args...)
	}
}

func (s *SQLite) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if s.closed.Load() {
		return nil, errClosed
	}
	return s.pool.Load().prepared(ctx, query)
}

// each calls f for each row of a query.
func (s *SQLite) each(ctx context.Context, query string, args []any, f func(*sql.Rows) error) error {
	st, err := s.statement(ctx, query)
	if err != nil {
		return s.readError(err)
	}
	rows, err := st.QueryContext(ctx, args...)
	if err != nil {
		return s.readError(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return s.readError(err)
		}
	}
	return s.readError(rows.Err())
}

// readError gives an error of a read its meaning, and lets go of connections
// that it makes doubtful.
func (s *SQLite) readError(err error) error {
	if s.closed.Load() && err != nil {
		return errClosed
	}
	err = classify(err)
	if doubtful(err) {
		s.renewReaders()
	}
	return err
}

// renewReaders replaces all reading connections; reads under way end on the old
// ones.
func (s *SQLite) renewReaders() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		return
	}
	old := s.pool.Swap(newReadPool(s.readerDSN()))
	old.close() // its errors are those that led here
}
