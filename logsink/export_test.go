package logsink

import "context"

// ExecWrite runs a statement on the writing connection.
func (s *SQLite) ExecWrite(ctx context.Context, query string) error {
	return s.do(ctx, func(t *tx) error {
		_, err := t.exec(query)
		return err
	})
}

// RecentMost is the window in which a record that is offered again is known.
const RecentMost = recentMost

// NetworkName is what is refused of file system types.
func NetworkName(magic uint32) string { return networkMagic[magic] }
