package logsink

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// ExecWrite runs a statement on the writing connection.
func (s *SQLite) ExecWrite(ctx context.Context, query string) error {
	return s.do(ctx, func(t *tx) error {
		_, err := t.exec(query)
		return err
	})
}

// NoGrace has blobs dropped as soon as nothing names them.
func (s *Redis) NoGrace() { s.grace = -time.Minute }

// EachMaster calls f with every server that writes, of the log at a URL.
func EachMaster(ctx context.Context, url string, f func(context.Context, *redis.Client) error) error {
	o, err := redisOptions(url, Config{})
	if err != nil {
		return err
	}
	s := &Redis{client: redis.NewUniversalClient(o)}
	defer s.client.Close()
	return s.eachMaster(ctx, f)
}
