package identity

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
	"github.com/seed-9236c7ca/preface/proxy/internal/lineage"
)

var testKey = []byte("0123456789abcdef0123456789abcdef")

// A call is a request in words. Messages begin with the letter of who speaks:
// "u:…" or "a:…".
type call struct {
	family, credential, named, body string
	header                          map[string]string
	messages                        []string
	prompt                          string // the first user message if empty
	peek                            bool
}

func (c call) input(t testing.TB) *Input {
	t.Helper()
	in := &Input{Family: "anthropic", Credential: []byte(c.credential), Named: c.named, Peek: c.peek}
	if c.family != "" {
		in.Family = c.family
	}
	in.Header = func(name string) []byte {
		for k, v := range c.header {
			if strings.EqualFold(k, name) {
				return []byte(v)
			}
		}
		return nil
	}
	if c.body != "" {
		in.Doc = new(jsonspan.Doc)
		if err := in.Doc.Scan([]byte(c.body), nil); err != nil {
			t.Fatalf("Scan(%q) = %v", c.body, err)
		}
	}
	in.History, in.Answered = historyOf(c.messages)
	prompt := c.prompt
	for i := 0; prompt == "" && i < len(c.messages); i++ {
		if strings.HasPrefix(c.messages[i], "u:") {
			prompt = c.messages[i]
		}
	}
	if prompt != "" {
		in.FirstPrompt = lineage.Of([]byte(prompt))
	}
	return in
}

func historyOf(messages []string) (history []lineage.Point, answered bool) {
	var p lineage.Point
	for _, m := range messages {
		p = p.Next(lineage.Of([]byte(m)))
		history = append(history, p)
		answered = answered || strings.HasPrefix(m, "a:")
	}
	return history, answered
}

// A rig is a Resolver over a log that notes what the proxy would.
type rig struct {
	t   testing.TB
	r   *Resolver
	log *fakeLog
}

func newRig(t testing.TB, cfg Config) *rig {
	t.Helper()
	g := &rig{t: t, log: &fakeLog{}}
	g.restart(cfg)
	return g
}

// restart loses all memory and keeps the log.
func (g *rig) restart(cfg Config) {
	g.t.Helper()
	r, err := New(cfg, testKey, g.log.find)
	if err != nil {
		g.t.Fatalf("New(%+v) = %v", cfg, err)
	}
	g.r = r
}

// send resolves a call and logs it; the request stays in flight.
func (g *rig) send(c call) Identity {
	g.t.Helper()
	in := c.input(g.t)
	id, err := g.r.Resolve(context.Background(), in)
	if err != nil {
		g.t.Fatalf("Resolve(%+v) = %v", c, err)
	}
	if id.Derived && !c.peek {
		g.log.note(id, in.History)
	}
	return id
}

// answer is send, and a whole answer.
func (g *rig) answer(c call) Identity {
	g.t.Helper()
	id := g.send(c)
	g.done(id, c, true)
	return id
}

// fail is send, and no whole answer.
func (g *rig) fail(c call) Identity {
	g.t.Helper()
	id := g.send(c)
	g.done(id, c, false)
	return id
}

func (g *rig) done(id Identity, c call, completed bool) {
	history, _ := historyOf(c.messages)
	g.r.Done(id, history, completed)
}

// A fakeLog is the part of the header log that identity leans on.
type fakeLog struct {
	mu    sync.Mutex
	known map[string][2]string // tenant and lineage → session and thread
	asked int
	down  bool
}

var errDown = errors.New("disk on fire")

func (l *fakeLog) note(id Identity, history []lineage.Point) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = map[string][2]string{}
	}
	if n := len(history); n > 0 {
		l.known[id.Tenant+history[n-1].String()] = [2]string{id.Session, id.Thread}
	}
}

func (l *fakeLog) find(_ context.Context, tenant string, lineages []string) (session, thread string, ok bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	if l.down {
		return "", "", false, errDown
	}
	for _, p := range lineages {
		if k, ok := l.known[tenant+p]; ok {
			return k[0], k[1], true, nil
		}
	}
	return "", "", false, nil
}

func (l *fakeLog) questions() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked
}
