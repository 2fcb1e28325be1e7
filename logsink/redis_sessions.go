package logsink

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Sessions implements Reader. Sessions without an anchor come last.
func (s *Redis) Sessions(ctx context.Context, tenant, prefix string, f func(SessionInfo) bool) error {
	order := newMerge(s)
	for {
		infos, err := call(ctx, s, func(ctx context.Context) ([]SessionInfo, error) { return order.next(ctx) })
		if err != nil {
			return fmt.Errorf("cannot list sessions: %w", err)
		}
		if infos == nil {
			return nil
		}
		for _, info := range infos {
			if tenant != "" && info.Tenant != tenant || !strings.HasPrefix(info.Session, prefix) {
				continue
			}
			if !f(info) {
				return nil
			}
		}
	}
}

// A merge walks through the sessions of all buckets, newest anchor first.
type merge struct {
	s     *Redis
	parts [buckets]part
}

// A part is what was read of one bucket and not yet passed on.
type part struct {
	list []redis.Z
	last float64         // score of the last one read
	at   map[string]bool // those of that score
	over bool
}

func newMerge(s *Redis) *merge {
	m := &merge{s: s}
	for b := range m.parts {
		m.parts[b].last = 1e300
	}
	return m
}

// next returns the next portion, or nil after the last.
func (m *merge) next(ctx context.Context) ([]SessionInfo, error) {
	if err := m.fill(ctx); err != nil {
		return nil, err
	}
	var members []string
	for len(members) < sessionsAtOnce {
		b := m.newest()
		if b < 0 {
			break
		}
		p := &m.parts[b]
		members = append(members, p.list[0].Member.(string))
		if p.list = p.list[1:]; len(p.list) == 0 && !p.over {
			break // what comes next may be in this bucket
		}
	}
	if members == nil {
		return nil, nil
	}
	return m.s.describe(ctx, members)
}

func (m *merge) newest() int {
	best := -1
	for b := range m.parts {
		if l := m.parts[b].list; len(l) > 0 && (best < 0 || l[0].Score > m.parts[best].list[0].Score) {
			best = b
		}
	}
	return best
}

// fill reads on where a bucket has nothing left.
func (m *merge) fill(ctx context.Context) error {
	cmds := map[int]*redis.ZSliceCmd{}
	_, err := m.s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for b := range m.parts {
			part := &m.parts[b]
			if part.over || len(part.list) > 0 {
				continue
			}
			by := redis.ZRangeBy{Min: "-inf", Max: strconv.FormatFloat(part.last, 'g', -1, 64), Count: int64(sessionsAtOnce + len(part.at))}
			cmds[b] = p.ZRevRangeByScoreWithScores(ctx, bucket(b).key(kindAnchored), &by)
		}
		return nil
	})
	if err != nil && len(cmds) > 0 {
		return err
	}
	for b, c := range cmds {
		m.parts[b].take(c.Val())
	}
	return nil
}

// take takes what was read. A portion begins with members that have the score of
// the last one; they were passed on.
func (p *part) take(list []redis.Z) {
	p.over = len(list) < sessionsAtOnce+len(p.at)
	for _, z := range list {
		if z.Score == p.last && p.at[z.Member.(string)] {
			continue
		}
		if z.Score != p.last {
			p.last, p.at = z.Score, map[string]bool{}
		}
		p.at[z.Member.(string)] = true
		p.list = append(p.list, z)
	}
	p.over = p.over || len(p.list) == 0
}

// describe reads what a list says of sessions. One that was dropped just now is
// left out.
func (s *Redis) describe(ctx context.Context, members []string) ([]SessionInfo, error) {
	steps := make([]step, len(members))
	for i, m := range members {
		k, ok := parseSessionKey(m)
		if !ok {
			return nil, torn("%q stands in a list of sessions", m)
		}
		steps[i] = step{describeScript, []string{k.key(kindSession)}, nil}
	}
	got, err := s.readAll(ctx, steps)
	if err != nil {
		return nil, err
	}
	list := []SessionInfo{}
	for i, r := range got {
		info, err := parseInfo(r, steps[i].keys[0])
		if err != nil {
			return nil, err
		}
		if info != nil {
			list = append(list, *info)
		}
	}
	return list, nil
}

// describeScript returns the field m of a session and its latest anchor, or its
// ids if it has none.
//
// KEYS session
var describeScript = script(`
local m = redis.call('HGET', KEYS[1], 'm')
if not m then return {KEYS[1]} end
local epoch = meta(KEYS[1])[4]
if epoch == 0 then return {KEYS[1], m, redis.call('HGET', KEYS[1], 'id') or ''} end
return {KEYS[1], m, redis.call('HGET', KEYS[1], 'a' .. string.format('%.0f', epoch)) or ''}
`)

func parseInfo(r *redis.Cmd, key string) (*SessionInfo, error) {
	reply, err := answeredTexts(r, key)
	if err != nil || len(reply) == 0 {
		return nil, err
	}
	if len(reply) != 2 {
		return nil, torn("a session was answered with %d values", len(reply))
	}
	m, err := parseMeta(reply[0])
	if err != nil {
		return nil, err
	}
	info := &SessionInfo{Epochs: m.epoch, Since: fromMicros(m.since), LastTime: fromMicros(m.last)}
	if m.epoch == 0 {
		if err := json.Unmarshal([]byte(reply[1]), &info.Key); err != nil {
			return nil, torn("a session without an anchor has the ids %q", reply[1])
		}
		return info, nil
	}
	rec, err := ParseRecord([]byte(reply[1]))
	if err != nil || rec.Anchor == nil {
		return nil, torn("a session's anchor cannot be read: %v", err)
	}
	a := rec.Anchor
	info.Key, info.Decision, info.Why, info.Prefix, info.Route, info.Source = a.Key, a.Decision, a.Why, a.Prefix, a.Route, a.Source
	return info, nil
}
