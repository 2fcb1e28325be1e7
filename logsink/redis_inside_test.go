package logsink

import "github.com/redis/go-redis/v9"

// SessionKey is the key of a session in Redis.
func SessionKey(k Key) string { return keyOf(k).key(kindSession) }

// BlobKey is the key of a blob in Redis.
func BlobKey(d Digest) string { return d.bucket().named(kindBlob, d[:]) }

// AddHook puts a hook between the log and the client library.
func (s *Redis) AddHook(h redis.Hook) { s.client.AddHook(h) }
