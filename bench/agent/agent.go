package agent

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
)

// A Kind is which agent an Agent is like.
type Kind string

// The kinds, and what they speak.
const (
	Claude Kind = "claude" // Anthropic Messages, thinking signed
	Codex  Kind = "codex"  // OpenAI Responses, reasoning encrypted
	Chat   Kind = "chat"   // OpenAI Chat Completions
)

// Config configures an Agent. Kind, URL and Key are needed.
type Config struct {
	Kind Kind
	// URL is where it sends: the origin of a provider or a proxy, with or
	// without a path, but without /v1.
	URL string
	Key string // API key
	// Name is what its Calls are called by. Default: the kind. Agents whose
	// calls are to be told apart need names of their own.
	Name string
	// Seed chooses ids, the project's texts and what tools give. Agents of one
	// kind have the same system prompt and tools, whatever their seed.
	Seed uint64
	// Session is the session's id. Default: one that Seed gives.
	Session string
	// Model is asked for turns. Default: claude-opus-5-5 or gpt-6.2-sol.
	Model string
	// Small is asked for titles by Chat. Default: gpt-6-luna.
	Small string
	// TTL is the lifetime that Claude asks of its cache marks: "5m" (default)
	// or "1h".
	TTL string
	// AskUsage has Chat ask for usage in its streams.
	AskUsage bool
	// Header is sent with every request, over what the kind sends.
	Header http.Header
	// Opener, if set, has the agent itself put a message of the user's in front
	// of its history, where a proxy would. It is asked anew for each request of
	// a turn, with their number from 1.
	Opener func(request int) string
	// OnSend is called before each request is sent, by whichever goroutine
	// sends it. Of the Call only what describes the request is set then.
	OnSend func(*Call)
	// Through, if set, is given what sends the agent's requests, and returns what
	// they go through instead: a balancer for one. So that Close closes all
	// connections it has to pass CloseIdleConnections on.
	Through func(http.RoundTripper) http.RoundTripper
}

// An Agent is one agent in one session. Turn, Retry, Count, Resume and Subagent
// are for one goroutine at a time; Title and Fragments may run beside them.
type Agent struct {
	cfg    Config // immutable
	format format // immutable
	client *http.Client
	thread string // of a subagent, else the session; immutable
	parent string // of a subagent: the session that began it; immutable

	// These belong to whoever takes turns.
	history  []entry
	requests int // of turns
	results  int // of tools
	forks    int

	mu     sync.Mutex // guards the following
	url    string
	signal string // of a resume
	calls  []*Call
	counts map[string]int // calls by class
}

// A format is how one kind writes and reads. Its methods are called from any
// goroutine; what they write is in memory of its own.
type format interface {
	path() string
	header(a *Agent, h http.Header)
	// open is the history up to and with the first prompt.
	open(prompt string) []entry
	// body is the next request of a conversation, with an opener unless it is "".
	body(a *Agent, opener string) []byte
	title(a *Agent, prompt string) []byte
	reader() reader
}

// New returns an agent that has said nothing yet.
func New(cfg Config) (*Agent, error) {
	if cfg.Name == "" {
		cfg.Name = string(cfg.Kind)
	}
	if cfg.Session == "" {
		if cfg.Session = uuid(chance(cfg.Seed, "session")); cfg.Kind == Chat {
			cfg.Session = chatSession(chance(cfg.Seed, "session"))
		}
	}
	a := &Agent{cfg: cfg, url: cfg.URL, counts: map[string]int{}, thread: cfg.Session}
	switch cfg.Kind {
	case Claude:
		a.format = newClaude(&a.cfg)
	case Codex:
		a.format = newCodex(&a.cfg)
	case Chat:
		a.format = newChat(&a.cfg)
	default:
		return nil, fmt.Errorf("cannot make an agent of kind %q: want %s, %s or %s", cfg.Kind, Claude, Codex, Chat)
	}
	// Codex opens a connection for each request.
	a.client = &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: cfg.Kind == Codex, MaxIdleConnsPerHost: 32}}
	if cfg.Through != nil {
		a.client.Transport = cfg.Through(a.client.Transport)
	}
	return a, nil
}

// Close closes the agent's idle connections. Its subagents share them.
func (a *Agent) Close() { a.client.CloseIdleConnections() }

// Name is what the agent's calls are called by.
func (a *Agent) Name() string { return a.cfg.Name }

// Session is the id of the agent's session, as it names it to the provider.
func (a *Agent) Session() string { return a.cfg.Session }

// Move has the agent send elsewhere from its next request on.
func (a *Agent) Move(url string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.url = url
}

// Resume is a new start of the program on the same session: the history is what
// it was, and requests carry the signal x-preface-resume from now on. The signal
// "1" goes with the next request of a turn alone.
func (a *Agent) Resume(signal string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.signal = signal
}

// Calls returns the agent's calls so far, in the order in which they were sent.
// Those of subagents are theirs.
func (a *Agent) Calls() []*Call {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.calls)
}

// Subagent returns an agent that works in the same session on a thread of its
// own. Codex forks: its subagent begins with the history so far, byte for byte.
// That of Claude has a system prompt and tools of its own, that of Chat a
// session of its own that names its parent.
func (a *Agent) Subagent() *Agent {
	a.forks++
	sub := &Agent{cfg: a.cfg, client: a.client, url: a.address(), counts: map[string]int{}, parent: a.cfg.Session}
	sub.cfg.Name = fmt.Sprintf("%s.%d", a.cfg.Name, a.forks)
	id := chance(a.cfg.Seed, "subagent "+sub.cfg.Name)
	switch f := a.format.(type) {
	case *claude:
		sub.thread, sub.format = fmt.Sprintf("a%016x", id.Uint64()), f.helper()
	case *codex:
		sub.thread, sub.format, sub.history = uuid(id), f, slices.Clone(a.history)
	case *chat:
		sub.cfg.Session = chatSession(id)
		sub.thread, sub.format = sub.cfg.Session, f
	}
	return sub
}

// helps reports whether the agent is a subagent.
func (a *Agent) helps() bool { return a.parent != "" }

func (a *Agent) address() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.url
}

// An entry is one step of a history: what the user or the program said, what
// the model answered, or what tools gave.
type entry struct {
	role    string            // user, system, assistant, tool
	texts   []string          // of user and system
	parts   []json.RawMessage // of the model: as they came
	results []result          // of tools
}

// A result is what a tool gave.
type result struct {
	toolCall
	output string
}

// A toolCall is what the model called.
type toolCall struct {
	id     string
	custom bool // Codex: a tool that takes text
}

// An answer is what a reader has read.
type answer struct {
	parts []json.RawMessage // as they go into the history
	calls []toolCall
}
