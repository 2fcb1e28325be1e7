package identity

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
	"github.com/seed-9236c7ca/preface/proxy/internal/lineage"
)

// Input is what is known of a request. Nothing in it is kept or changed.
type Input struct {
	Family     string                   // API family, e.g. "anthropic", "openai"
	Header     func(name string) []byte // of the request, by case-insensitive name; nil if absent
	Credential []byte                   // whatever authenticates the caller; may be empty
	Named      string                   // session named by the path (/s/NAME/…), empty if none
	Doc        *jsonspan.Doc            // scanned body, at least as deep as Depth asks; nil if there is none

	History     []lineage.Point // after each message
	FirstPrompt lineage.Point   // of the first user prompt without reminders
	Answered    bool            // the history holds anything from the model

	// Peek says that the request is no turn of the conversation: a token count,
	// or a side request such as a title or a routing call. Its session and
	// thread are looked up, and nothing is learnt from it.
	Peek bool
}

// An Identity says whose a request is.
type Identity struct {
	Tenant  string // 32 hex digits
	Session string // as the client named it, or "d-…"
	// Source is where Session came from: "path", "header x-session-id",
	// "body prompt_cache_key"; or, derived, "lineage" if the history was known
	// and "opening" if the session begins here.
	Source string

	Thread string // "agent:…", "t-…", or "main" for a request without messages
	// ThreadSource is where Thread came from: a header or body as in Source,
	// "lineage" if the history continues the thread, "opening" if it begins
	// it, "none" for "main".
	ThreadSource string
	// Known reports that the history equals or extends one that was seen in the
	// thread. It is false for threads that the client names: they are not
	// remembered.
	Known bool

	Parent  string // session that started this one, as the client named it
	Derived bool   // Session is derived: the log must be able to find it by lineage
	// Resume is the value of the resume signal, "" if none. Its meaning is the
	// caller's: a client may send the same one with every request.
	Resume string

	head *head // what Done settles; nil if there is nothing to
}

// Subagent reports whether the client names the thread apart from the session:
// then another thread has begun it.
func (id *Identity) Subagent() bool {
	name, named := strings.CutPrefix(id.Thread, agentPrefix)
	return named && name != id.Session
}

// agentPrefix tells threads that a client names from those found by lineage.
const agentPrefix = "agent:"

// A Resolver finds identities. Its methods may be called from any number of
// goroutines.
type Resolver struct {
	session, thread, parent, resume []reader       // immutable
	depth                           map[string]int // immutable; see Depth
	maxID                           int            // immutable
	followParent                    bool           // immutable
	started                         time.Time      // immutable
	find                            Finder         // immutable; nil: there is no log to ask

	scratch sync.Pool // of *scratch
	memory  *memory
}

// New returns a Resolver. The key must be the same for all processes that share
// a log, and secret: who has it can test whether a tenant is a certain
// credential. find may be nil if there is no log.
func New(cfg Config, key []byte, find Finder) (*Resolver, error) {
	if len(key) < 16 {
		return nil, fmt.Errorf("cannot use a tenant key of %d bytes: want at least 16", len(key))
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &Resolver{maxID: cfg.MaxID, followParent: cfg.FollowParent, find: find, started: time.Now(), memory: newMemory(cfg.Live)}
	key = append([]byte(nil), key...)
	r.scratch.New = func() any { return newScratch(key) }
	for _, l := range []struct {
		setting string
		sources []Source
		readers *[]reader
	}{
		{"session", cfg.Session, &r.session}, {"thread", cfg.Thread, &r.thread},
		{"parent", cfg.Parent, &r.parent}, {"resume", cfg.Resume, &r.resume},
	} {
		if *l.readers, err = compile(l.setting, l.sources, cfg.MaxID); err != nil {
			return nil, err
		}
	}
	for i := range r.thread {
		r.thread[i].prefix = agentPrefix
	}
	r.depth = depths(r.session, r.thread, r.parent, r.resume)
	return r, nil
}

// depths is how far below each top-level member the body sources reach.
func depths(lists ...[]reader) map[string]int {
	depth := map[string]int{}
	for _, l := range lists {
		for _, rd := range l {
			if len(rd.path) > 1 {
				depth[rd.path[0]] = max(depth[rd.path[0]], len(rd.path)-1)
			}
		}
	}
	return depth
}

// Depth is how many levels below the value of a top-level member must be
// indexed by the scan of a body for the sources in it to be read.
func (r *Resolver) Depth(topName []byte) int { return r.depth[string(topName)] }

// Resolve returns the identity of a request. It fails only if a history with
// answers in it names no session, memory does not know it, and the log cannot be
// asked; the error then wraps ErrIndex and what the Finder said, and of the
// Identity all is filled in but the session and thread. It blocks only in the
// Finder.
func (r *Resolver) Resolve(ctx context.Context, in *Input) (Identity, error) {
	s := r.scratch.Get().(*scratch)
	defer r.scratch.Put(s)
	tenant := s.tenant(in.Credential)
	id := Identity{Tenant: s.write(tenant)}
	r.readIDs(in, s, &id)
	t := turn{tenant: tenant, history: in.History, answered: in.Answered, peek: in.Peek}
	if id.Session != "" {
		r.explicitThread(&t, &id)
		return id, nil
	}
	t.now, t.retried = time.Since(r.started), saysRetry(in)
	t.seed = seedOf(tenant, in.Family, in.FirstPrompt)
	err := r.derive(ctx, &t, &id)
	return id, err // read once derive has filled it
}

// readIDs fills id with what the client says.
func (r *Resolver) readIDs(in *Input, s *scratch, id *Identity) {
	if len(in.Named) <= r.maxID && usable(in.Named) {
		id.Session, id.Source = in.Named, "path"
	} else {
		id.Session, id.Source = first(r.session, in, s)
	}
	id.Resume, _ = first(r.resume, in, s)
	id.Thread, id.ThreadSource = first(r.thread, in, s)
	parent, parentFrom := first(r.parent, in, s)
	id.Parent = parent
	if r.followParent && parent != "" && parent != id.Session && !id.named() {
		if id.Thread == "" && id.Session != "" {
			id.Thread, id.ThreadSource = agentPrefix+id.Session, id.Source
		}
		id.Session, id.Source = parent, parentFrom
	}
}

// named reports whether the session was named for us, by path or own header.
func (id *Identity) named() bool {
	return id.Source == "path" || id.Source == "header "+ownHeader
}

// explicitThread finds the thread of a request whose session is known.
func (r *Resolver) explicitThread(t *turn, id *Identity) {
	switch {
	case id.Thread != "":
	case len(t.history) == 0:
		id.Thread, id.ThreadSource = "main", "none"
	default:
		id.Thread, id.Known = r.memory.thread(t, id.Session)
		id.ThreadSource = threadSource(id.Known)
	}
}

func threadSource(known bool) string {
	if known {
		return "lineage"
	}
	return "opening"
}

// Done tells how a request of a derived session ended, once for each Resolve,
// also if it was never sent; history is the request's, completed means that the
// client got a whole successful answer. It lets Resolve tell a retried opening
// from a new conversation, so call it before the client can have read the last
// byte. It does nothing for other requests.
func (r *Resolver) Done(id Identity, history []lineage.Point, completed bool) {
	if id.head != nil && len(history) > 0 {
		r.memory.settle(id.head, history[len(history)-1], completed)
	}
}
