package prefixstore

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/seed-9236c7ca/preface/logsink"
)

// An Epoch is what requests need of an anchor: the decision and the frozen
// bytes. It is shared by all requests of the epoch and must not be changed.
type Epoch struct {
	Key      logsink.Key
	Number   int
	Reason   string // initial, resume
	Decision string // logsink.Inject or logsink.Bare
	Why      string
	Prefix   string // "sha256:…", empty if bare
	// Born says that this process froze the epoch, so that the log can hold
	// nothing of it that this process did not write.
	Born   bool
	resume string // the resume token that began it

	renderings *renderings // nil if bare
	cost       int64       // bytes that it takes in the cache; immutable

	// anchor is what the log had, to put it back; nil if the log loses nothing.
	// It shares its messages and bytes with those of other epochs.
	anchor *logsink.Anchor

	// completed turns true with the first whole answer of the epoch; one that
	// was read from the log counts as answered. last is when a request last
	// asked for the epoch, in Unix nanoseconds.
	completed atomic.Bool
	last      atomic.Int64
}

// Injects reports whether the epoch's requests carry a prefix.
func (e *Epoch) Injects() bool { return e.Decision == logsink.Inject }

// Rendering returns the frozen bytes under a rendering's name, or nil. They
// must not be changed.
func (e *Epoch) Rendering(name string) []byte {
	if e.renderings == nil {
		return nil
	}
	for _, r := range e.renderings.list {
		if r.Name == name {
			return r.Bytes
		}
	}
	return nil
}

// Touch notes that a request used the epoch, for the idle limit.
func (e *Epoch) Touch(now time.Time) { e.last.Store(now.UnixNano()) }

// Completed notes that the client got a whole answer in this epoch. From then
// on a resume signal means a resume, not a repeated request.
func (e *Epoch) Completed() { e.completed.Store(true) }

func newEpoch(a *logsink.Anchor, born, spare bool) *Epoch {
	e := &Epoch{
		Key: a.Key, Number: a.Epoch, Reason: a.Reason,
		Decision: a.Decision, Why: a.Why, Prefix: a.Prefix, Born: born, resume: a.Resume, cost: epochCost,
	}
	e.completed.Store(!born)
	if a.Injects() {
		e.renderings = internRenderings(a)
		e.cost += e.renderings.share()
	}
	if spare {
		e.keepAnchor(a)
	}
	return e
}

// keepAnchor keeps a copy that shares what it can.
func (e *Epoch) keepAnchor(a *logsink.Anchor) {
	own := *a
	if e.renderings != nil {
		own.Messages, own.Renderings = e.renderings.messages, e.renderings.list
	}
	e.anchor = &own
	e.cost += anchorCost
}

// anchorCost is about what an anchor takes beside its messages and renderings.
const anchorCost = 600

// renderings is one set of frozen bytes, held once however many epochs share it.
type renderings struct {
	list     []logsink.Rendering
	messages []logsink.Message // that they render
	users    atomic.Int64      // epochs that were made with it
}

// share is what one more epoch answers for of the bytes: all of them if it is
// the only one, as with a prefix of the session's own, and little where many
// share an opener.
func (r *renderings) share() int64 {
	size := 0
	for i := range r.list {
		size += len(r.list[i].Bytes)
	}
	return int64(size) / r.users.Add(1)
}

var shared = interner[renderings]{values: map[string]weak.Pointer[renderings]{}}

func internRenderings(a *logsink.Anchor) *renderings {
	var name strings.Builder
	name.WriteString(a.Prefix)
	for i := range a.Renderings {
		name.WriteString(";" + a.Renderings[i].Name + "=" + a.Renderings[i].SHA256)
	}
	return shared.intern(name.String(), func() *renderings { return &renderings{list: a.Renderings, messages: a.Messages} })
}

// An interner keeps one value under a name for as long as anyone uses it.
type interner[T any] struct {
	mu     sync.Mutex // guards values
	values map[string]weak.Pointer[T]
}

func (in *interner[T]) intern(name string, make func() *T) *T {
	in.mu.Lock()
	defer in.mu.Unlock()
	if v := in.values[name].Value(); v != nil {
		return v
	}
	v := make()
	in.values[name] = weak.Make(v)
	runtime.AddCleanup(v, in.forget, name)
	return v
}

func (in *interner[T]) forget(name string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.values[name].Value() == nil { // not made again meanwhile
		delete(in.values, name)
	}
}
