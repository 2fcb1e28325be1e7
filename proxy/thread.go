package proxy

import (
	"context"
	"encoding/hex"
	"slices"
	"sync"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/internal/lineage"
)

// maxThreads bounds the threads that a process remembers. One that was
// forgotten is read from the log when it goes on.
const maxThreads = 100_000

type threadKey struct {
	logsink.Key
	epoch int
	name  string
}

// A thread is what a process remembers of one line of history, to number its
// requests and to see its header change. It is never truth: the log is.
type thread struct {
	// order lets requests follow each other one by one, their header records
	// written. It is taken before mu.
	order sync.Mutex

	turns string // lineOf its turns, "" before the first; guarded by order

	mu sync.Mutex // guards the following

	number  int64            // of the last request
	header  string           // id of the header in force, "" before the first
	parts   [3]lineage.Point // of system, tools and parameters of that header
	old     []logsink.Part   // of that header as the log has it, until it was compared
	last    lineage.Point    // history of the last request
	bare    string           // why the thread goes bare, "" if it does not
	decided bool

	began    bool     // a turn was sent that could ask for a verdict
	asking   asking   // whether its requests ask for verdicts
	answered answered // the last answer, if they do
}

// lineOf is the thread as explain knows it, over all its epochs. Side requests
// have the thread of their conversation, and another header and history. t.order
// must be held.
func (t *thread) lineOf(r *logsink.Request) string {
	if r.Class == classTurn && t.turns != "" {
		return t.turns
	}
	line := r.Tenant + "\x00" + r.Session + "\x00" + r.Thread + "\x00" + r.Class
	if r.Class == classTurn {
		t.turns = line
	}
	return line
}

// threads are those that this process remembers.
type threads struct {
	cache   *lru.Cache[threadKey, *thread]
	evicted atomic.Bool // one was forgotten
}

func newThreads() *threads {
	ts := &threads{}
	c, err := lru.NewWithEvict(maxThreads, func(threadKey, *thread) { ts.evicted.Store(true) })
	if err != nil {
		panic("BUG: " + err.Error()) // only for a size below 1
	}
	ts.cache = c
	return ts
}

// get returns the thread under a key. One that is new to this process is read
// from the log, unless the epoch began here, so that the log can know no more.
// If the log does not answer, the thread counts from one again, which costs a
// repeated header snapshot and no more.
func (ts *threads) get(ctx context.Context, log logsink.Log, k threadKey, born bool) *thread {
	if t, ok := ts.cache.Get(k); ok {
		return t
	}
	t := &thread{}
	if !born || ts.evicted.Load() {
		if req, header, err := log.Last(ctx, k.Key, k.name); err == nil && req.Epoch == k.epoch {
			t.resume(req, header)
		}
	}
	if prev, loaded, _ := ts.cache.PeekOrAdd(k, t); loaded {
		return prev
	}
	return t
}

// resume continues a thread of an earlier process, or one that was forgotten.
func (t *thread) resume(req *logsink.Request, header *logsink.Header) {
	t.number, t.decided = req.Number, true
	t.resumeAsking(req)
	if req.Decision == logsink.Bare && req.Why == whySide {
		t.bare = req.Why
	}
	if header != nil {
		t.header, t.old = header.ID, header.Parts
	}
	if req.Why != whyFragment { // nothing goes on from a fragment
		_, _ = hex.Decode(t.last[:], []byte(req.Lineage)) // an unreadable one only finds nothing
	}
}

// renew asks the log what became of a thread of which only side requests came
// here, when a turn goes on from one of them: another process may have had the
// turns between, and sent them with the prefix. If the log does not answer, what
// is known here stands.
func (t *thread) renew(ctx context.Context, log logsink.Log, k threadKey, bare string, history []lineage.Point) {
	if !t.goesOnAside(bare, history) {
		return
	}
	req, header, err := log.Last(ctx, k.Key, k.name)
	if err != nil || req.Epoch != k.epoch || req.Decision == logsink.Bare {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	number := max(t.number, req.Number)
	t.bare = ""
	t.resume(req, header)
	t.number = number
}

// goesOnAside reports whether a turn would go bare because it goes on from a
// side request.
func (t *thread) goesOnAside(bare string, history []lineage.Point) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bare == whySide && bare == "" && t.isBefore(history[:max(0, len(history)-1)])
}

// decide fixes, with the thread's first request, whether it goes bare, and
// returns what was fixed. A side request fixes it for what goes on from it
// alone: one that asks for a title has the same first message as the
// conversation, and so the same thread, and often comes first.
func (t *thread) decide(bare string, history []lineage.Point) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	ofAnother := t.bare == whySide && bare == "" && !t.isBefore(history[:max(0, len(history)-1)])
	if !t.decided || ofAnother {
		t.bare, t.decided = bare, true
	}
	return t.bare
}

// continues reports whether a history goes on from the thread's last request.
func (t *thread) continues(history []lineage.Point) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.isBefore(history)
}

// isBefore reports whether the thread's last request is in a history. t.mu must
// be held.
func (t *thread) isBefore(history []lineage.Point) bool {
	return !t.last.IsZero() && slices.Contains(history, t.last)
}
