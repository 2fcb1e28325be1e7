package faulttest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/logsink"
)

const (
	// followBound is how long a provider's request may go on when its client has
	// left. The program needs milliseconds; a busy machine decides nothing.
	followBound = 10 * time.Second
	// waitBound is above all that a request may wait for, one after the other:
	// the prefix, the log, the provider's first byte.
	waitBound = 50 * time.Second
)

// A jury judges a soak while it runs. It keeps little of a try that is over, so
// that a soak may be long.
type jury struct {
	counters
	trail *trail

	mu       sync.Mutex // guards the following, and the bodies and answers of tries that are over
	accounts map[string]*account
	leavers  []*account // of whom it is not known yet whether they were followed
	killed   map[*child]bool
	anchors  map[string]*logsink.Anchor // by session, as first seen in the log
	names    map[string]string          // of tenants in the log, by credential
}

// An account is what is known of one try.
type account struct {
	*try
	began    time.Time
	left     time.Time          // the client left on purpose; zero if it did not
	late     bool               // nobody followed it in time
	over     bool               // the client is done with it
	arrived  bool               // all of it did
	arrivals int                // of any part of it
	exchange *provider.Exchange // that ended first; nil when it was judged
	sent     sent
}

// sent is what the end needs to know of the provider's answer.
type sent struct {
	tokens provider.Tokens
	whole  bool
}

func newJury(tr *trail) *jury {
	return &jury{
		trail: tr, accounts: map[string]*account{}, killed: map[*child]bool{},
		anchors: map[string]*logsink.Anchor{}, names: map[string]string{},
	}
}

// begin notes a try before it is sent.
func (j *jury) begin(t *try) {
	j.mu.Lock()
	j.accounts[t.id] = &account{try: t, began: time.Now()}
	j.mu.Unlock()
	j.trail.add(t)
}

// kills notes that a replica is killed: it takes its latest records with it.
func (j *jury) kills(c *child) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.killed[c] = true
}

// arrive judges a request when the provider has read it and before anything
// else happens.
func (j *jury) arrive(e *provider.Exchange) {
	t := j.trail.tryOf(e)
	if t == nil {
		return // a replica's own
	}
	got, ok, had := j.slotIn(t, e.Body)
	if !had {
		return // it was answered before: that it comes again is counted when it ends
	}
	j.judge(3, unless(ok, "without the inserted range %s is not the client's body: %.300q", t.id, e.Body))
	if !ok {
		return
	}
	a, err := j.anchor(t.of)
	if err == nil {
		err = carries(a, got)
	}
	j.judge(1, unless(err == nil, "when %s of session %s arrived: %w", t.id, t.of.id, err))
	was, ok := j.trail.frozen(t, got)
	j.judge(2, unless(ok, "%s of session %s carries %q at %d, an earlier one %q at %d", t.id, t.of.id, got, t.slot, was.bytes, was.at))
	j.judge(6, foreign(t.of, got, e))
}

// slotIn returns what stands in the slot, if the rest is the client's body, and
// whether that is still had.
func (j *jury) slotIn(t *try, body []byte) (got string, ok, had bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if t.body == nil {
		return "", false, false
	}
	j.accounts[t.id].arrived = true
	got, ok = t.inserted(body)
	return got, ok, true
}

// foreign tells what of a request is not its session's or its tenant's.
func foreign(s *session, slot string, e *provider.Exchange) error {
	if slot != "" && !strings.Contains(slot, composedFor(s.id)) {
		return fmt.Errorf("session %s carries what was composed for another: %q", s.id, slot)
	}
	if e.Tenant != provider.TenantOf(s.key) {
		return fmt.Errorf("session %s came with the credential of another tenant", s.id)
	}
	for _, t := range tenants {
		if t.key != s.key && (bytes.Contains(e.Head, []byte(t.key)) || strings.Contains(slot, t.words)) {
			return fmt.Errorf("session %s came with a canary of another tenant", s.id)
		}
	}
	return nil
}

// sessions is how many have an anchor that was seen.
func (j *jury) sessions() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.anchors)
}

// reached reports whether all of a try has arrived.
func (j *jury) reached(t *try) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.accounts[t.id].arrived
}

// leave notes that a client leaves on purpose, before it does.
func (j *jury) leave(t *try) {
	j.mu.Lock()
	defer j.mu.Unlock()
	a := j.accounts[t.id]
	a.left = time.Now()
	j.leavers = append(j.leavers, a)
}

// end judges what a client got.
func (j *jury) end(t *try) {
	j.mu.Lock()
	defer j.mu.Unlock()
	a := j.accounts[t.id]
	a.over = true
	var late net.Error
	took := time.Since(a.began)
	j.judge(10, unless(took < waitBound && !(errors.As(t.err, &late) && late.Timeout()), "%s took %v: %v", t.id, took, t.err))
	j.judge(8, unless(!t.looksWhole() || t.isWhole(), "the answer to %s ended cleanly and is not whole: %.500q", t.id, t.answer))
	if t.status != 0 && t.status != 200 {
		j.judge(12, secretIn("the answer to "+t.id, t.answer))
	}
	j.pair(a)
}

// settle judges what a provider's request came to.
func (j *jury) settle(e provider.Exchange) {
	t := j.trail.tryOf(&e)
	if t == nil {
		return
	}
	if e.ReceivedAt.IsZero() {
		_, err := j.anchor(t.of)
		j.judge(1, unless(err == nil, "a part of %s of session %s arrived: %w", t.id, t.of.id, err))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	a := j.accounts[t.id]
	a.arrivals++
	j.judge(9, unless(a.arrivals == 1, "%s arrived %d times", t.id, a.arrivals))
	if a.arrivals == 1 {
		e.Body, e.Sent, e.Head, e.Header = nil, nil, nil, nil
		a.exchange, a.sent = &e, sent{e.Tokens, e.Complete}
		j.pair(a)
	}
}

// pair judges a try against its provider's request when both are over, and lets
// go of what is large.
func (j *jury) pair(a *account) {
	if !a.over || a.exchange == nil {
		return
	}
	e := a.exchange
	if a.status == 200 && e.Status == 200 {
		j.judge(8, a.asSent())
		j.judge(6, unless(answerID(a.answer) == "" || answerID(a.answer) == answerID(e.Answer), "%s got the answer %s, sent was %s", a.id, answerID(a.answer), answerID(e.Answer)))
	}
	if !a.left.IsZero() && !a.late && e.Aborted() {
		j.judge(7, unless(e.EndedAt.Sub(a.left) <= followBound, "the client of %s left, the provider's request ended after %v", a.id, e.EndedAt.Sub(a.left)))
	}
	a.exchange = nil
	if a.looksWhole() { // another may still be on its way
		a.judged, a.body, a.answer = true, nil, nil
	}
}

// asSent compares what a client got with what was sent.
func (a *account) asSent() error {
	switch e := a.exchange; {
	case !bytes.HasPrefix(e.Answer, a.answer):
		return fmt.Errorf("%s got %.500q, sent was %.500q", a.id, a.answer, e.Answer)
	case a.looksWhole() && (!e.Complete || len(a.answer) != len(e.Answer)):
		return fmt.Errorf("%s took %d bytes for a whole answer, sent were %d, all of it: %v", a.id, len(a.answer), len(e.Answer), e.Complete)
	}
	return nil
}

var firstID = regexp.MustCompile(`"id":"([^"]+)"`)

// answerID is the provider's own name for an answer.
func answerID(answer []byte) string {
	if m := firstID.FindSubmatch(answer[:min(len(answer), 1000)]); m != nil {
		return string(m[1])
	}
	return ""
}

// lookAfter judges whoever was not followed in time, and returns how many there
// are of whom it cannot be told yet.
func (j *jury) lookAfter(now time.Time) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.leavers = slices.DeleteFunc(j.leavers, func(a *account) bool {
		a.late = a.arrivals == 0 && now.Sub(a.left) > followBound
		if a.late && a.arrived {
			j.judge(7, fmt.Errorf("the client of %s left %v ago and the provider still works", a.id, now.Sub(a.left)))
		}
		return a.late || a.arrivals > 0
	})
	return len(j.leavers)
}

// watch settles what ends at a provider until stop is closed, and then the rest.
func (j *jury) watch(up *provider.Provider, stop <-chan struct{}) {
	w := &watching{jury: j, up: up, settled: map[int]bool{}}
	for {
		w.look()
		j.lookAfter(time.Now())
		select {
		case <-stop:
			w.look()
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// A watching has settled all exchanges up to one, and some after it.
type watching struct {
	*jury
	up      *provider.Provider
	upTo    int
	settled map[int]bool
}

func (w *watching) look() {
	list := w.up.ReceivedAfter(w.upTo)
	for _, e := range list {
		if !w.settled[e.ID] && !e.Open() {
			w.settled[e.ID] = true
			w.settle(e)
		}
	}
	for _, e := range list {
		if !w.settled[e.ID] {
			return
		}
		delete(w.settled, e.ID)
		w.upTo = e.ID
	}
}
