package logsink

import "context"

// ExecWrite runs a statement on the writing connection.
func (s *SQLite) ExecWrite(ctx context.Context, query string) error {
	return s.do(ctx, func(t *tx) error {
		_, err := t.exec(query)
		return err
	})
}
