package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/seed-9236c7ca/preface/bench/agent"
	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/logsink"
)

// evidence is all that is known of a performance through the proxy, by three
// who did not ask each other: the agents, the provider's ledger, and the log.
type evidence struct {
	*performance
	calls    []*sighting
	strange  []provider.Exchange // that arrived under no agent's id
	sessions map[logsink.Key]*sessionSeen
	logged   int               // requests whose prefix was in the log when they arrived
	unlogged map[string]string // the others, by id: why
	records  []logsink.Record
	account  demoAccount
	blobs    map[logsink.Digest][]byte // of header records
	messages string                    // of the proxy
	verified logsink.Summary
	findings []logsink.Finding
	composed map[logsink.EpochRef]int // how often each epoch's opener was asked for
	replicas []*replica
	redis    *demoRedis // nil for one replica
	left     *demoStage // with -stay: the caller's to strike; else it is struck
}

// A sighting is one request: as its agent sent it and had it answered, as it
// arrived, and as the log has it.
type sighting struct {
	*agent.Call
	player   *player
	arrived  []provider.Exchange // under its id: one, if all is well
	request  *logsink.Request    // nil if the log has none
	response *logsink.Response
	inserted insertion
	badly    error  // why inserted is not known
	visit    *visit // nil with one replica
}

// wire is what arrived first.
func (c *sighting) wire() *provider.Exchange {
	if len(c.arrived) == 0 {
		return &provider.Exchange{}
	}
	return &c.arrived[0]
}

// carries reports whether it arrived with a prefix.
func (c *sighting) carries() bool { return len(c.inserted.messages) > 0 }

// A sessionSeen is a session of the log and what is in it.
type sessionSeen struct {
	logsink.SessionInfo
	anchors []*logsink.Anchor
}

// gather joins what was seen. The proxy has stopped, so the log is complete.
func (s *demoStage) gather(ctx context.Context, perf *performance) (*evidence, error) {
	e := &evidence{
		performance: perf, sessions: map[logsink.Key]*sessionSeen{}, blobs: map[logsink.Digest][]byte{},
		composed: s.space.compositions(), replicas: s.replicas, redis: s.redis,
	}
	e.logged, e.unlogged = s.witness.verdict()
	said, err := os.ReadFile(s.messages.Name())
	if err != nil {
		return nil, err
	}
	e.messages = string(said)
	if err := e.readLog(ctx, s.witness.reader); err != nil {
		return nil, err
	}
	if err := e.join(ctx); err != nil {
		return nil, err
	}
	if s.rotation != nil {
		visited := s.rotation.visited()
		for _, c := range e.calls {
			c.visit = visited[c.ID]
		}
	}
	return e, nil
}

// readLog reads all of the log.
func (e *evidence) readLog(ctx context.Context, r logsink.Reader) error {
	err := r.Sessions(ctx, "", "", func(s logsink.SessionInfo) bool {
		e.sessions[s.Key] = &sessionSeen{SessionInfo: s}
		return true
	})
	for k, s := range e.sessions {
		if err == nil && s.Epochs > 0 {
			s.anchors, err = r.Anchors(ctx, k)
		}
	}
	if err == nil {
		err = r.Records(ctx, logsink.Key{}, 0, func(_ int64, rec logsink.Record) bool {
			e.records = append(e.records, rec)
			return true
		})
	}
	if err == nil {
		err = e.readBlobs(ctx, r)
	}
	if err == nil {
		err = e.readAccount(ctx, r)
	}
	if err == nil {
		e.verified, err = logsink.Verify(ctx, r, nil, func(f logsink.Finding) { e.findings = append(e.findings, f) })
	}
	return err
}

// readBlobs reads what header records refer to. One that is not there is for
// Verify to tell.
func (e *evidence) readBlobs(ctx context.Context, r logsink.Reader) error {
	for _, rec := range e.records {
		if rec.Header == nil {
			continue
		}
		for _, part := range rec.Header.Parts {
			b, err := r.ReadBlob(ctx, part.Digest)
			if err != nil && !errors.Is(err, logsink.ErrNoBlob) {
				return err
			}
			e.blobs[part.Digest] = b
		}
	}
	return nil
}

// join finds for each call what the ledger and the log have of it.
func (e *evidence) join(ctx context.Context) error {
	arrived, err := e.arrivals(ctx)
	if err != nil {
		return err
	}
	requests, responses := map[string]*logsink.Request{}, map[string]*logsink.Response{}
	for _, rec := range e.records {
		if rec.Request != nil {
			requests[rec.Request.ID] = rec.Request
		}
		if rec.Response != nil {
			responses[rec.Response.ID] = rec.Response
		}
	}
	for _, p := range e.players {
		for _, a := range p.agents {
			for _, call := range a.Calls() {
				id := call.Header.Get("X-Preface-Request")
				c := &sighting{Call: call, player: p, arrived: arrived[call.ID], request: requests[id], response: responses[id]}
				c.inserted, c.badly = insertedInto(call, c.wire())
				delete(arrived, call.ID)
				e.calls = append(e.calls, c)
			}
		}
	}
	for _, left := range arrived {
		e.strange = append(e.strange, left...)
	}
	return nil
}

// arrivals are the ledger's exchanges by the id that their agent gave them, each
// over.
func (e *evidence) arrivals(ctx context.Context) (map[string][]provider.Exchange, error) {
	byID := map[string][]provider.Exchange{}
	for _, x := range e.provider.Received() {
		over, err := e.provider.Await(ctx, func(y *provider.Exchange) bool { return y.ID == x.ID && !y.Open() })
		if err != nil {
			return nil, fmt.Errorf("request %d of the provider's does not end: %w", x.ID, err)
		}
		id := callID(&over)
		byID[id] = append(byID[id], over)
	}
	return byID, nil
}

// keyOf is the session of the log that the player's requests are in. It is the
// zero Key if they are in none.
func (e *evidence) keyOf(p *player) (k logsink.Key) {
	for _, c := range e.calls {
		if c.player == p && c.request != nil {
			return c.request.Key
		}
	}
	return k
}

// anchorsOf are the epochs of a player's session.
func (e *evidence) anchorsOf(p *player) []*logsink.Anchor {
	if s := e.sessions[e.keyOf(p)]; s != nil {
		return s.anchors
	}
	return nil
}

// anchorOf is the epoch of a request.
func (e *evidence) anchorOf(q *logsink.Request) *logsink.Anchor {
	if s := e.sessions[q.Key]; s != nil {
		for _, a := range s.anchors {
			if a.Epoch == q.Epoch {
				return a
			}
		}
	}
	return nil
}

// volatileOpener is the text of a player's opener with one line that tells the
// request: what an injector sends that composes for each.
func (e *evidence) volatileOpener(name string, request int) string {
	var b strings.Builder
	for _, p := range e.players {
		if anchors := e.anchorsOf(p); p.name == name && len(anchors) > 0 {
			for _, m := range anchors[0].Messages {
				b.WriteString(m.Text + "\n")
			}
		}
	}
	fmt.Fprintf(&b, "Made anew for request %d.", request)
	return b.String()
}
