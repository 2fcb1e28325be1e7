package faulttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/logsink"
)

// anchor reads a session's one anchor from the log, past the replicas, unless it
// was seen there before: the end tells whether it was lost since.
func (j *jury) anchor(s *session) (a *logsink.Anchor, err error) {
	j.mu.Lock()
	a, name := j.anchors[s.id], j.names[s.key]
	j.mu.Unlock()
	if a != nil {
		return a, nil
	}
	within(func() bool { // it may be down just now
		a, name, err = j.trail.st.anchorUnder(name, s.id)
		return !errors.Is(err, logsink.ErrUnavailable)
	})
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.anchors[s.id], j.names[s.key] = a, name
	return a, nil
}

// anchorUnder reads the one anchor of a session of a tenant. One whose name in
// the log is not known yet is looked for among all sessions, which takes long
// when there are many.
func (st *stage) anchorUnder(name, session string) (*logsink.Anchor, string, error) {
	ctx := context.Background()
	r, err := logsink.OpenReader(ctx, logsink.Config{Path: st.judgedPath()})
	if err != nil {
		return nil, name, err
	}
	defer r.Close()
	keys := []logsink.Key{{Tenant: name, Session: session}}
	if name == "" {
		all, err := keysIn(ctx, r, session)
		if err != nil {
			return nil, name, err
		}
		keys = all[session]
	}
	a, err := onlyAnchor(ctx, r, keys)
	if err != nil {
		return nil, name, err
	}
	return a, keys[0].Tenant, nil
}

// judgeLog judges what a log says in the end, when all replicas have ended.
func (j *jury) judgeLog(r logsink.Reader) error {
	ctx := context.Background()
	keys, err := keysIn(ctx, r, "")
	if err != nil {
		return err
	}
	for session, slot := range j.trail.slotValues() {
		if err := j.judgeSession(ctx, r, session, slot.bytes, keys[session]); err != nil {
			return err
		}
	}
	if err := j.judgePrefixes(ctx, r); err != nil {
		return err
	}
	recs, err := j.readRecords(ctx, r)
	if err != nil {
		return err
	}
	j.judgeRecords(recs)
	j.judgeUsage(recs)
	sum, err := logsink.Verify(ctx, r, nil, func(f logsink.Finding) {
		if !f.Gap {
			j.judge(4, fmt.Errorf("log verify: %+v", f))
		}
	})
	j.judge(4, unless(sum.Sessions > 0, "log verify saw no session"))
	return err
}

// judgeSession judges that the log has what a session carried, and nothing else
// of it.
func (j *jury) judgeSession(ctx context.Context, r logsink.Reader, session, slot string, keys []logsink.Key) error {
	j.judge(5, unless(len(keys) < 2, "session %s has %d keys in the log", session, len(keys)))
	if len(keys) == 0 {
		j.judge(4, fmt.Errorf("session %s: %w", session, errNotLogged))
		return nil
	}
	list, err := r.Anchors(ctx, keys[0])
	if errors.Is(err, logsink.ErrNoSession) || err == nil && len(list) == 0 {
		j.judge(4, fmt.Errorf("session %s: %w", session, errNotLogged))
		return nil
	}
	if err != nil {
		return err
	}
	j.judge(5, unless(len(list) == 1, "session %s has %d anchors in the log", session, len(list)))
	err = carries(list[0], slot)
	j.judge(4, unless(err == nil, "session %s in the end: %w", session, err))
	for _, a := range list {
		j.judge(12, secretIn("the anchor of "+session, logsink.Record{Anchor: a}.AppendJSON(nil)))
	}
	return nil
}

// judgePrefixes judges that no two sessions share a prefix: each was composed
// for one.
func (j *jury) judgePrefixes(ctx context.Context, r logsink.Reader) error {
	owners := map[string]logsink.Key{}
	return r.Sessions(ctx, "", "", func(s logsink.SessionInfo) bool {
		if s.Prefix != "" {
			had, ok := owners[s.Prefix]
			j.judge(6, unless(!ok || had == s.Key, "sessions %v and %v have the prefix %s", had, s.Key, s.Prefix))
			owners[s.Prefix] = s.Key
		}
		return true
	})
}

// recorded is what of a log's records is judged.
type recorded struct {
	requests  map[string]bool // by the id of the request
	responses map[string]*logsink.Response
}

// readRecords reads all records and searches them, and their blobs, for secrets.
func (j *jury) readRecords(ctx context.Context, r logsink.Reader) (recorded, error) {
	recs := recorded{map[string]bool{}, map[string]*logsink.Response{}}
	seen := map[logsink.Digest]bool{}
	err := r.Records(ctx, logsink.Key{}, 0, func(_ int64, rec logsink.Record) bool {
		j.judge(12, secretIn("the record "+rec.ID(), rec.AppendJSON(nil)))
		switch {
		case rec.Request != nil:
			recs.requests[rec.Request.ID] = true
		case rec.Response != nil:
			recs.responses[rec.Response.ID] = rec.Response
		case rec.Header != nil:
			j.searchBlobs(ctx, r, rec.Header, seen)
		}
		return true
	})
	return recs, err
}

func (j *jury) searchBlobs(ctx context.Context, r logsink.Reader, h *logsink.Header, seen map[logsink.Digest]bool) {
	for _, part := range h.Parts {
		if seen[part.Digest] || !part.Stored {
			continue
		}
		seen[part.Digest] = true
		if b, err := r.ReadBlob(ctx, part.Digest); err == nil { // verify tells of those that are not there
			j.judge(12, secretIn("the stored "+part.Name, b))
		}
	}
}

// judgeRecords judges that all that was answered is on record. Records are
// written in the order they were made, so of one session in one replica that was
// killed the last ones may be missing, of others none.
func (j *jury) judgeRecords(recs recorded) {
	j.mu.Lock()
	defer j.mu.Unlock()
	type place struct {
		session string
		replica *child
	}
	missing := map[place]string{}
	for _, t := range j.trail.all(0) {
		if t.requestID == "" || t.status != 200 { // refused: nothing was sent
			continue
		}
		at, there := place{t.of.id, t.via}, recs.requests[t.requestID]
		var err error
		switch {
		case !j.killed[t.via] && (!there || t.looksWhole() && recs.responses[t.requestID] == nil):
			err = fmt.Errorf("%s has no record although its replica was not killed", t.id)
		case !there:
			missing[at] = t.id
		case missing[at] != "":
			err = fmt.Errorf("%s has a record, %s before it in session %s does not", t.id, missing[at], t.of.id)
		}
		j.judge(4, err)
	}
}

// judgeUsage judges the usage on record by what the provider sent.
func (j *jury) judgeUsage(recs recorded) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, a := range j.accounts {
		rec := recs.responses[a.requestID]
		if rec == nil || a.arrivals == 0 {
			continue
		}
		err := usageAgrees(rec, a.sent)
		j.judge(11, unless(err == nil, "%s, %s: %w", a.id, rec.End, err))
	}
}

// usageAgrees compares a record with the provider's ledger. A class that the
// provider did not get to say is unknown; one that is known is right. The output
// of an answer that broke off may be its first estimate.
func usageAgrees(rec *logsink.Response, a sent) error {
	whole := rec.End == logsink.EndComplete && a.whole && a.tokens != provider.Tokens{}
	u := rec.Usage
	if u == nil {
		return unless(!whole, "usage is unknown, sent was %+v", a.tokens)
	}
	for _, c := range []struct {
		name  string
		known *int64
		sent  int64
	}{
		{"fresh", u.Fresh, a.tokens.Fresh}, {"cache read", u.CacheRead, a.tokens.CacheRead}, {"write 5m", u.Write5m, a.tokens.Write5m},
		{"write 1h", u.Write1h, a.tokens.Write1h}, {"write 30m", u.Write30m, a.tokens.Write30m},
		{"write", u.WriteOther, a.tokens.Written() - sumOf(u.Write5m, u.Write1h, u.Write30m)},
		{"unsplit", u.Unsplit, a.tokens.Fresh + a.tokens.CacheRead}, {"output", u.Output, a.tokens.Output},
	} {
		estimate := !whole && c.name == "output" && c.known != nil && *c.known <= c.sent
		if c.known != nil && *c.known != c.sent && !estimate {
			return fmt.Errorf("%s is recorded as %d, sent was %d", c.name, *c.known, c.sent)
		}
	}
	all := sumOf(u.Fresh, u.CacheRead, u.Write5m, u.Write1h, u.Write30m, u.WriteOther, u.Unsplit, u.Output)
	return unless(!whole || all == a.tokens.Input()+a.tokens.Output, "%d tokens are recorded, sent were %+v", all, a.tokens)
}

func sumOf(counts ...*int64) (sum int64) {
	for _, c := range counts {
		if c != nil {
			sum += *c
		}
	}
	return sum
}

// A search looks for secrets in what is written to it, also where two writes
// meet.
type search struct {
	tail []byte
	err  error
	name string
}

func (s *search) Write(p []byte) (int, error) {
	text := append(s.tail, p...)
	if s.err == nil && bytes.Contains(text, []byte(canary)) {
		s.err = secretIn(s.name, text)
	}
	s.tail = bytes.Clone(text[max(0, len(text)-len(canary)+1):])
	return len(p), nil
}
