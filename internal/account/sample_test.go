package account

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
)

// sampleEnd is the end of the spans in tests, and of what samples have.
var sampleEnd = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

const sampleTenant = "3f2c9a7b5d1e4f608c7a9b3d2e1f4a5b"

// A sample is a log in a folder of the test.
type sample struct {
	t      testing.TB
	log    logsink.Log
	reader logsink.Reader
	recs   []logsink.Record
	n      int // ids that were given
}

func newSample(t testing.TB) *sample {
	t.Helper()
	c := logsink.DefaultConfig()
	c.Path = filepath.Join(t.TempDir(), "preface.db")
	return openSample(t, c)
}

func openSample(t testing.TB, c logsink.Config) *sample {
	t.Helper()
	l, err := logsink.Open(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	r, err := logsink.OpenReader(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return &sample{t: t, log: l, reader: r}
}

func key(session string) logsink.Key { return logsink.Key{Tenant: sampleTenant, Session: session} }

// freeze writes an anchor whose prefix is of two contributors, the second three
// times as long as the first, and returns its hash.
func (s *sample) freeze(k logsink.Key, epoch int, text string, at time.Time) string {
	s.t.Helper()
	messages := []logsink.Message{{Role: "user", Text: text}}
	a := &logsink.Anchor{
		V: logsink.Version, Key: k, Epoch: epoch, Reason: logsink.ReasonInitial, Decision: logsink.Inject, Messages: messages,
		Prefix: logsink.PrefixHash(messages), Renderings: []logsink.Rendering{logsink.NewRendering("anthropic.messages", []byte(`{"role":"user","content":"`+text+`"}`))},
		Contributors: []logsink.Contribution{
			{Name: "policy", Kind: "text", SHA256: "p", Bytes: 100, Messages: 1, Outcome: "ok"},
			{Name: "workspace", Kind: "http", SHA256: text, Bytes: 300, Messages: 1, Outcome: "ok"},
			{Name: "absent", Kind: "file", Outcome: "empty"},
		},
		Route: "anthropic", Time: at,
	}
	if epoch > 1 {
		a.Reason = logsink.ReasonResume
	}
	if _, err := s.log.Freeze(context.Background(), a); err != nil {
		s.t.Fatal(err)
	}
	return a.Prefix
}

// A made is a request as a test makes it. Its zero value is a turn that carries
// a prefix and is answered with success, and without usage.
type made struct {
	session            string
	epoch              int
	ago                time.Duration // before sampleEnd
	model, class       string
	bare, lone, orphan bool // without a prefix, an answer, a request record
	answer             logsink.Response
}

// put queues the records of a request and returns its id.
func (s *sample) put(m made) string {
	s.n++
	id := fmt.Sprintf("r%06d", s.n)
	k, at := key(m.session), sampleEnd.Add(-m.ago)
	epoch := max(1, m.epoch)
	q := &logsink.Request{
		V: logsink.Version, ID: id, Key: k, Epoch: epoch, Thread: "main", Number: int64(s.n), Attempt: 1, Dialect: "anthropic", Route: "anthropic",
		Path: "/v1/messages", Model: m.model, Class: "turn", Decision: logsink.Inject, Size: 1000, Time: at,
	}
	if m.bare {
		q.Decision, q.Why = logsink.Bare, "empty"
	}
	if m.class != "" {
		q.Class = m.class
	}
	if !m.orphan {
		s.recs = append(s.recs, logsink.Record{Request: q})
	}
	if m.lone {
		return id
	}
	p := m.answer
	p.V, p.ID, p.Key, p.Epoch, p.Thread, p.Time = logsink.Version, id, k, epoch, "main", at.Add(time.Second)
	if p.Status == 0 {
		p.Status = 200
	}
	if p.End == "" {
		p.End = logsink.EndComplete
	}
	s.recs = append(s.recs, logsink.Record{Response: &p})
	return id
}

// write stores what was put.
func (s *sample) write() {
	s.t.Helper()
	if err := s.log.Append(context.Background(), s.recs, nil); err != nil {
		s.t.Fatal(err)
	}
	s.recs = nil
}

// read is the report of the week before sampleEnd.
func (s *sample) read(change func(*Options)) *Report {
	s.t.Helper()
	o := Options{Since: sampleEnd.AddDate(0, 0, -7), Until: sampleEnd, Explain: func(k logsink.Key) string { return "proxy explain " + k.Session }}
	if change != nil {
		change(&o)
	}
	r, err := Read(context.Background(), s.reader, o)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func n(of int64) *int64 { return &of }

func at(of int) *int { return &of }

// plainUsage is fresh input, reads, 5-minute writes, and output.
func plainUsage(fresh, read, write, output int64) *logsink.Usage {
	return &logsink.Usage{Fresh: &fresh, CacheRead: &read, Write5m: &write, Output: &output}
}

// dollar is a dollar in picodollars.
const dollar = 1_000_000_000_000
