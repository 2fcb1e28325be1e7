package logsink

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Last implements Log.
func (s *Redis) Last(ctx context.Context, k Key, thread string) (*Request, *Header, error) {
	type found struct {
		req  *Request
		head *Header
	}
	f, err := call(ctx, s, func(ctx context.Context) (f found, err error) {
		f.req, f.head, err = s.last(ctx, k, thread)
		return f, err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("cannot find the last request of thread %q of session %q: %w", thread, k.Session, err)
	}
	return f.req, f.head, nil
}

func (s *Redis) last(ctx context.Context, k Key, thread string) (req *Request, head *Header, err error) {
	at, err := s.client.HGet(ctx, keyOf(k).key(kindThreads), string(hashThread(thread).bytes())).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil, ErrNoThread
	}
	if err != nil {
		return nil, nil, err
	}
	page, rest, _ := strings.Cut(at, " ")
	headPage, _, _ := strings.Cut(rest, " ")
	err = s.eachIn(ctx, keyOf(k), page, func(r Record) {
		if q := r.Request; q != nil && q.Key == k && q.Thread == thread {
			req = q // a later line is newer
		}
	}, []byte(`{"kind":"request"`), needle("thread", thread))
	if err == nil && req == nil {
		err = ErrNoThread
	}
	if err != nil {
		return nil, nil, err
	}
	if headPage == "0" || req.Header == "" {
		return req, nil, nil
	}
	err = s.eachIn(ctx, keyOf(k), headPage, func(r Record) {
		if h := r.Header; h != nil && h.Key == k && h.ID == req.Header {
			head = h
		}
	}, []byte(`{"kind":"header"`), needle("id", req.Header))
	return req, head, err
}

// eachIn calls f with the records of one page whose lines hold all needles. A
// page that retention has dropped has none.
func (s *Redis) eachIn(ctx context.Context, k sessionKey, page string, f func(Record), needles ...[]byte) error {
	id := page + "-0"
	entries, err := s.client.XRange(ctx, k.key(kindPages), id, id).Result()
	if err != nil || len(entries) == 0 {
		return err
	}
	p, err := redisPage(entries[0])
	if err != nil {
		return err
	}
	return p.records(func(_ int, r Record) bool { f(r); return true }, needles...)
}

// redisPage reads an entry of a session's pages.
func redisPage(e redis.XMessage) (*storedPage, error) {
	v, err := parseTick(e.ID)
	lines, ok := e.Values["l"].(string)
	if err == nil && !ok {
		err = torn("page %s has no lines", e.ID)
	}
	return &storedPage{id: int64(v), lines: []byte(lines)}, err
}

// Find implements Log.
func (s *Redis) Find(ctx context.Context, tenant string, lineages []string) (Key, string, error) {
	type found struct {
		k      Key
		thread string
	}
	f, err := call(ctx, s, func(ctx context.Context) (f found, err error) {
		f.k, f.thread, err = s.find(ctx, tenant, lineages)
		return f, err
	})
	if err != nil {
		return Key{}, "", fmt.Errorf("cannot find a session by its history: %w", err)
	}
	return f.k, f.thread, nil
}

func (s *Redis) find(ctx context.Context, tenant string, lineages []string) (Key, string, error) {
	return findDerived(lineages, func(portion []string) (*Request, error) {
		places, err := s.lineagePlaces(ctx, tenant, portion)
		for i := 0; i < len(places) && err == nil; i++ {
			var q *Request
			if q, err = s.derivedRequest(ctx, tenant, portion[i], places[i]); err == nil && q != nil {
				return q, nil
			}
		}
		return nil, err
	})
}

// lineagePlaces returns where each lineage leads: "session page", or "".
func (s *Redis) lineagePlaces(ctx context.Context, tenant string, lineages []string) ([]string, error) {
	got := make([]*redis.StringCmd, len(lineages))
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, l := range lineages {
			id := lineageID(tenant, l)
			got[i] = p.Get(ctx, bucketOf(id[0]).named(kindLineage, id[:]))
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	places := make([]string, len(lineages))
	for i := range got {
		if places[i], err = got[i].Result(); err != nil && !errors.Is(err, redis.Nil) {
			return nil, err
		}
	}
	return places, nil
}

// derivedRequest returns the newest request of a lineage in a page, or nil.
func (s *Redis) derivedRequest(ctx context.Context, tenant, lineage, place string) (found *Request, err error) {
	session, page, _ := strings.Cut(place, " ")
	k, ok := parseSessionKey(session)
	if !ok {
		return nil, nil
	}
	err = s.eachIn(ctx, k, page, func(r Record) {
		if q := r.Request; q != nil && q.Derived && q.Tenant == tenant && q.Lineage == lineage {
			found = q
		}
	}, needle("lineage", lineage))
	return found, err
}

func parseSessionKey(s string) (k sessionKey, ok bool) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(k) {
		return k, false
	}
	return sessionKey(b), true
}

// Secret implements Log.
func (s *Redis) Secret(ctx context.Context, name string) ([]byte, error) {
	fresh := make([]byte, 32)
	rand.Read(fresh) // never fails
	value, err := call(ctx, s, func(ctx context.Context) ([]byte, error) { return s.secret(ctx, name, fresh) })
	if err != nil {
		return nil, fmt.Errorf("cannot get secret %q of the log: %w", name, err)
	}
	return value, nil
}

// secretScript makes a secret unless it is there, and returns the one that is.
//
// KEYS secret
// ARGV 32 random bytes
var secretScript = script(`
redis.call('SETNX', KEYS[1], ARGV[1])
return {KEYS[1], redis.call('GET', KEYS[1])}
`)

// secret is written each time: it is used for ever, so it must be as durable as
// what was made with it.
func (s *Redis) secret(ctx context.Context, name string, fresh []byte) ([]byte, error) {
	there, err := s.write(ctx, step{secretScript, []string{bucket(0).named(kindSecret, []byte(name))}, []any{fresh}})
	if err != nil {
		return nil, err
	}
	value := ""
	if len(there) == 1 {
		value, _ = there[0].(string)
	}
	if len(value) != 32 {
		return nil, torn("secret %q has %d bytes, not 32", name, len(value))
	}
	return []byte(value), nil
}

// formatVersion is the layout of the keys. Another one is refused.
const formatVersion = "1"

// formatScript notes the layout of an empty log.
//
// KEYS format
// ARGV version
var formatScript = script(`
redis.call('SETNX', KEYS[1], ARGV[1])
return {KEYS[1]}
`)

// checkFormat refuses a log that another version laid out. It writes nothing: a
// reader may look at a replica, or have no right to write.
func (s *Redis) checkFormat(ctx context.Context) error {
	v, err := call(ctx, s, func(ctx context.Context) (string, error) {
		v, err := s.client.Get(ctx, bucket(0).key(kindFormat)).Result()
		if errors.Is(err, redis.Nil) {
			return formatVersion, nil // it is empty
		}
		return v, err
	})
	if err == nil && v != formatVersion {
		err = fmt.Errorf("%w: its layout is %q, this program knows %s; use the version that wrote it, or a newer one", ErrNewer, v, formatVersion)
	}
	return err
}

// noteFormat has a log that is written say its layout.
func (s *Redis) noteFormat(ctx context.Context) error {
	_, err := call(ctx, s, func(ctx context.Context) ([]any, error) {
		return s.write(ctx, step{formatScript, []string{bucket(0).key(kindFormat)}, []any{formatVersion}})
	})
	return err
}
