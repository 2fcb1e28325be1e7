package logsink_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/logsink/logtest"
)

// A crowd is goroutines that freeze, ask and append as proxies do, on several
// handles of one log and on the same sessions, while a test breaks things. It
// keeps a ledger of what was acknowledged, and a history of the anchors.
type crowd struct {
	t    *testing.T
	logs []*logsink.Redis
	name func(n int) logsink.Key // session n

	history *history
	acked   atomic.Int64 // calls that went well
	failed  atomic.Int64 // calls that found the log unavailable

	mu      sync.Mutex
	anchors map[logsink.Key]string
	records map[logsink.Key][]string // ids
	why     map[string]int           // of failures
}

// newCrowd opens a log handles times.
func newCrowd(t *testing.T, url, durability string, handles int) *crowd {
	t.Helper()
	var urls []string
	for range handles {
		urls = append(urls, url)
	}
	return newCrowdAt(t, durability, urls...)
}

// newCrowdAt opens a log at each of its addresses.
func newCrowdAt(t *testing.T, durability string, urls ...string) *crowd {
	t.Helper()
	c := &crowd{t: t, history: newHistory(), anchors: map[logsink.Key]string{}, records: map[logsink.Key][]string{}, why: map[string]int{}}
	c.name = func(n int) logsink.Key { return logsink.Key{Tenant: "t", Session: fmt.Sprint("crowd-", n)} }
	for _, url := range urls {
		l, err := logsink.OpenRedis(t.Context(), url, logsink.Config{Durability: durability})
		c.logs = append(c.logs, opened(t, l, err))
	}
	return c
}

const crowdSize = 8

// during has the crowd work until breaking returns, and then judges.
func (c *crowd) during(breaking func()) {
	var over atomic.Bool
	var workers sync.WaitGroup
	for w := range crowdSize {
		workers.Go(func() {
			for n := 0; !over.Load() && !c.t.Failed(); n++ {
				// The next sessions of some workers are those of others by now.
				c.session(w, n+w%2)
			}
		})
	}
	func() {
		defer over.Store(true)
		breaking()
	}()
	workers.Wait()
	c.t.Logf("%d calls went well, %d found the log unavailable: %v", c.acked.Load(), c.failed.Load(), c.why)
	c.check()
}

// await returns when so many more calls went well. It is patient, and no more
// than that.
func (c *crowd) await(more int64) {
	want, over := c.acked.Load()+more, time.Now().Add(time.Minute)
	for c.acked.Load() < want && !c.t.Failed() {
		if time.Now().After(over) {
			c.t.Errorf("%d calls went well in a minute, want %d", c.acked.Load()-want+more, more)
		}
		time.Sleep(time.Millisecond)
	}
}

// session is what one worker does with one session.
func (c *crowd) session(worker, n int) {
	k := c.name(n)
	l := c.logs[worker%len(c.logs)]
	of := logsink.EpochRef{Key: k, Epoch: 1}
	c.try(func(ctx context.Context) error {
		_, err := c.history.record(worker, move{of, ""}, func() (*logsink.Anchor, error) { return l.Current(ctx, k) })
		if errors.Is(err, logsink.ErrNoSession) {
			err = nil
		}
		return err
	})
	text := fmt.Sprintf("opener of worker %d", worker)
	c.insist(func(ctx context.Context) error {
		a, err := c.history.record(worker, move{of, text}, func() (*logsink.Anchor, error) { return l.Freeze(ctx, logtest.Anchor(k, 1, text)) })
		if err == nil {
			c.frozen(k, textOf(a))
		}
		return err
	})
	id := fmt.Sprintf("w%d-%d", worker, n)
	head, blob := logtest.Header(k, id, id+"-head", fmt.Sprintf("system %d", n%10))
	recs := []logsink.Record{head, logtest.Request(k, id, id, id+"-head", 1)}
	c.insist(func(ctx context.Context) error {
		err := l.Append(ctx, recs, []logsink.Blob{blob})
		if err == nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.records[k] = append(c.records[k], id, id+"-head")
		}
		return err
	})
}

// try makes one call, with the deadline that it would have.
func (c *crowd) try(do func(ctx context.Context) error) bool {
	ctx, cancel := within()
	defer cancel()
	err := do(ctx)
	if err == nil {
		c.acked.Add(1)
		return true
	}
	c.failed.Add(1)
	if !errors.Is(err, logsink.ErrUnavailable) {
		c.t.Errorf("a call failed with %v, want ErrUnavailable at most", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.why[reason(err)]++
	return false
}

// insist makes a call again, as it was, until it goes well.
func (c *crowd) insist(do func(ctx context.Context) error) {
	for !c.try(do) && !c.t.Failed() {
		time.Sleep(time.Millisecond)
	}
}

// reason is the innermost error's text.
func reason(err error) string {
	text := err.Error()
	if i := len(text) - 60; i > 0 {
		text = text[i:]
	}
	return text
}

// frozen notes the anchor that a caller was given.
func (c *crowd) frozen(k logsink.Key, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if was, ok := c.anchors[k]; ok && was != text {
		c.t.Errorf("I5: session %s was given the anchors %q and %q", k.Session, was, text)
	}
	c.anchors[k] = text
}

// check requires that all that was acknowledged is in the log, and once.
func (c *crowd) check() {
	c.t.Helper()
	c.history.check(c.t)
	ctx, l := c.t.Context(), c.logs[0]
	for k, want := range c.anchors {
		list, err := l.Anchors(ctx, k)
		if err != nil || len(list) != 1 || textOf(list[0]) != want {
			c.t.Errorf("I4: session %s has %d anchors (%v), want the one of %q", k.Session, len(list), err, want)
		}
		var ids []string
		err = l.Records(ctx, k, 0, func(_ int64, r logsink.Record) bool {
			if r.Header != nil {
				ids = append(ids, r.Header.ID)
			} else {
				ids = append(ids, r.Request.ID)
			}
			return true
		})
		slices.Sort(ids)
		slices.Sort(c.records[k])
		if err != nil || !slices.Equal(ids, c.records[k]) {
			c.t.Errorf("I4: session %s has the records %q (%v), acknowledged were %q", k.Session, ids, err, c.records[k])
		}
	}
	_, err := logsink.Verify(ctx, l, nil, func(f logsink.Finding) { c.t.Errorf("I4: verify: %+v", f) })
	if err != nil {
		c.t.Errorf("I4: verify: %v", err)
	}
}
