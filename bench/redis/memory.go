package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy"
)

// memory measures what frozen sessions with one opener take in Redis.
type memory struct {
	redis    string
	sessions int
}

// recorded is how many sessions get the records of a request too.
const recorded = 10_000

func (m *memory) measure(t *table) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	l, err := logsink.OpenRedis(ctx, "redis://"+m.redis, logsink.Config{Durability: logsink.DurableMemory})
	if err != nil {
		return err
	}
	defer l.Close()
	anchor, err := opening()
	if err != nil {
		return err
	}
	frozen, err := m.grows(m.sessions, func(i int) error {
		a := *anchor
		a.Session = sessionID(i)
		_, err := l.Freeze(ctx, &a)
		return err
	})
	if err != nil {
		return err
	}
	t.bar(fmt.Sprintf("%d frozen sessions with one opener of 8 KB, each", m.sessions), frozen, "bytes", 2048)
	n := min(recorded, m.sessions)
	records, err := m.grows(n, func(i int) error { return l.Append(ctx, firstRecords(sessionID(i)), nil) })
	t.add("the three records of a session's first request, capture prefix, each", records, "bytes")
	return err
}

// grows calls f for 0, 1, … n-1 and returns how many bytes the server grew by
// for each.
func (m *memory) grows(n int, f func(i int) error) (float64, error) {
	before, err := used(m.redis)
	if err != nil {
		return 0, err
	}
	var callers errgroup.Group
	const at = 16
	for c := range at {
		callers.Go(func() error {
			for i := c; i < n; i += at {
				if err := f(i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := callers.Wait(); err != nil {
		return 0, err
	}
	after, err := used(m.redis)
	return float64(after-before) / float64(n), err
}

// used asks a server for its used_memory.
func used(addr string) (int64, error) {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprint(conn, "INFO memory\r\n")
	for r := bufio.NewScanner(conn); r.Scan(); {
		if v, ok := strings.CutPrefix(r.Text(), "used_memory:"); ok {
			return strconv.ParseInt(v, 10, 64)
		}
	}
	return 0, fmt.Errorf("%s does not tell its used_memory", addr)
}

// openerText is about what an AGENTS.md has, 8 KB.
var openerText = strings.Repeat("- Never touch the billing tables; ask \"who owns this?\" first.\n", 133)[:8192]

const tenant = "5f0c2a9be41d77c35f0c2a9be41d77c3"

func sessionID(i int) string { return fmt.Sprintf("0198c5a4-7f2e-7c1b-9d3e-%012d", i) }

// opening is an anchor as the proxy makes it.
func opening() (*logsink.Anchor, error) {
	msgs := []logsink.Message{{Role: "user", Text: openerText}}
	rs, err := proxy.Render(msgs)
	digest := strings.Repeat("c0", 32)
	return &logsink.Anchor{
		V: logsink.Version, Key: logsink.Key{Tenant: tenant}, Epoch: 1, Reason: logsink.ReasonInitial, Decision: logsink.Inject,
		Prefix: logsink.PrefixHash(msgs), Messages: msgs, Renderings: rs,
		Contributors: []logsink.Contribution{{Name: "AGENTS.md", Kind: "file", SHA256: digest, Bytes: len(openerText), Messages: 1, Took: 123456, Outcome: "ok"}},
		Route:        "anthropic", Source: "header x-claude-code-session-id", Config: digest,
		Preface: "v0.0.0-20260101000000-0123456789ab", Time: time.Now().UTC(),
	}, err
}

// firstRecords are those of a session's first request.
func firstRecords(session string) []logsink.Record {
	k, now := logsink.Key{Tenant: tenant, Session: session}, time.Now().UTC()
	part := func(name string, size int) logsink.Part {
		return logsink.Part{Name: name, Digest: logsink.Sum([]byte(name)), Size: size}
	}
	h := &logsink.Header{
		V: logsink.Version, ID: "h" + session, Key: k, Epoch: 1, Thread: "main", Reason: logsink.ReasonInitial,
		Parts: []logsink.Part{part("system", 12_345), part("tools", 45_678), part("parameters", 123)}, Model: "claude-opus-4-8", Time: now,
	}
	q := &logsink.Request{
		V: logsink.Version, ID: "r" + session, Key: k, Epoch: 1, Thread: "main", Number: 1, Attempt: 1, Header: h.ID,
		Dialect: "anthropic.messages", Route: "anthropic", Path: "/v1/messages", Model: h.Model, Class: "turn", Stream: true, Decision: logsink.Inject,
		Messages: 1, Lineage: strings.Repeat("ab", 16), Splices: []logsink.Splice{{Offset: 70_123, Length: 8642, Kind: "prefix", Rendering: "anthropic.messages"}},
		Body: logsink.Sum([]byte(session)), Size: 81_234, Time: now,
	}
	n := int64(1234)
	p := &logsink.Response{
		V: logsink.Version, ID: q.ID, Key: k, Epoch: 1, Thread: "main", Status: 200, FirstByte: time.Second, Total: 9 * time.Second, Bytes: 12_345,
		End: logsink.EndComplete, UpstreamID: "req_011CQ9ZQ3W7M4X8N2C6V5B", ResponseID: "msg_01K9ZQ3W7M4X8N2C6V5B", StopReason: "end_turn", Time: now,
		Usage: &logsink.Usage{Fresh: &n, CacheRead: &n, Write5m: &n, Output: &n},
	}
	return []logsink.Record{{Header: h}, {Request: q}, {Response: p}}
}
