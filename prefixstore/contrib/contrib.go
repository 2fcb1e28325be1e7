package contrib

import (
	"context"
	"fmt"
	"slices"
)

// A Message is one opening message.
type Message struct {
	Role string `json:"role"` // user, assistant, developer or system
	Text string `json:"text"`
}

// Session is what a contributor is told about the session that composes. No
// credential is among it.
type Session struct {
	Tenant  string            `json:"tenant"`
	Session string            `json:"session"`
	Epoch   int               `json:"epoch"`
	Reason  string            `json:"reason"` // initial, resume
	Route   string            `json:"route"`
	Dialect string            `json:"dialect"`
	Model   string            `json:"model"`
	Headers map[string]string `json:"headers,omitempty"` // lower-case names; only those of Composer.HeaderNames are used
}

// A Contributor extends the list of opening messages for one session.
// Contribute is called by one goroutine per composition, several compositions
// may run at once; it may block until ctx ends. It must return list with zero
// or more messages appended, and must not keep list. A message without a role
// gets that of the Config. An error discards the whole composition or skips
// this contributor, as Config.OnError says; nobody retries. The error's text
// goes into logs and must quote no secret.
type Contributor interface {
	Contribute(ctx context.Context, s Session, list []Message) ([]Message, error)
}

// A Factory makes a contributor of one kind from its configuration, or says
// what is wrong with it. The defaults are filled in and the common fields
// checked before it is called. It does no I/O.
type Factory func(c Config) (Contributor, error)

var kinds = map[string]Factory{}

// Register makes a kind of contributor known. It is called from init; a name
// used twice is a bug.
func Register(kind string, f Factory) {
	if _, ok := kinds[kind]; ok {
		panic("BUG: contributor kind registered twice: " + kind)
	}
	kinds[kind] = f
}

// Kinds returns the known kinds, sorted.
func Kinds() []string {
	names := make([]string, 0, len(kinds))
	for n := range kinds {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// New makes the contributor that c describes, bare: role, envelope, deadline
// and the checks of the result are the Composer's work.
func New(c Config) (Contributor, error) {
	f, ok := kinds[c.Kind]
	if !ok {
		return nil, fmt.Errorf("unknown contributor kind %q: want one of %v", c.Kind, Kinds())
	}
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return nil, err
	}
	return f(c)
}
