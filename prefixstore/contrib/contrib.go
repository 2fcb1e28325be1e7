package contrib

import (
	"context"
	"fmt"
	"slices"
	"time"
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
	Headers map[string]string `json:"headers,omitempty"` // lower-case names; only those that Config.When or http.headers name
}

// A Contributor extends the list of opening messages for one session.
// Contribute is called by one goroutine per composition, several compositions
// may run at once; it may block until ctx ends. It must return list with zero
// or more messages appended, and must not keep list. An error discards the
// whole composition or skips this contributor, as Config.OnError says.
type Contributor interface {
	Contribute(ctx context.Context, s Session, list []Message) ([]Message, error)
}

// Config configures one contributor. The fields of its kind stand beside the
// common ones.
type Config struct {
	// Name is its name in records and messages. Default: its kind and place,
	// e.g. "file-1".
	Name string `yaml:"name"`
	// Kind is text, file, skills or http.
	Kind string `yaml:"kind"`

	// Role of its messages: user (default), assistant, developer, system. Where
	// a dialect has no such role at the head of its messages, it is user.
	Role string `yaml:"role"`
	// Envelope is the name of a tag put around each message's text, e.g.
	// "system-reminder". Default: none.
	Envelope string `yaml:"envelope"`
	// MaxBytes bounds its text; more is an error. Default 262144.
	MaxBytes int `yaml:"max_bytes"`
	// Deadline bounds its time. Default 500ms.
	Deadline time.Duration `yaml:"deadline"`
	// OnError is what its failure means: refuse (default: the session's policy
	// decides) or skip (the others go on without it).
	OnError string `yaml:"on_error"`
	// When selects the sessions it contributes to. Default: all.
	When Matcher `yaml:"when"`
	// AllowVolatile silences the check for dates, times and ids in its text.
	AllowVolatile bool `yaml:"allow_volatile"`

	// Text is the text of a text contributor.
	Text string `yaml:"text"`
	// Paths are the files of a file contributor: paths or globs with **,
	// relative to Root. Each file is one section of one message, in the order
	// of Paths, globs sorted by name. A path without glob that does not exist
	// is an error; a glob may match nothing.
	Paths []string `yaml:"paths"`
	// Root is the folder that Paths or a skills folder are relative to.
	// Default: the working directory at start.
	Root string `yaml:"root"`
	// Folder is the folder of a skills contributor: */SKILL.md below it.
	Folder string `yaml:"folder"`
	// URL is where an http contributor posts the session.
	URL string `yaml:"url"`
	// Headers are sent by an http contributor; values may be ${ENV}.
	Headers map[string]string `yaml:"headers"`
	// ForwardHeaders names request headers that an http contributor is told.
	ForwardHeaders []string `yaml:"forward_headers"`
}

// A Matcher selects sessions. Empty fields match everything; all that are set
// must match.
type Matcher struct {
	Route   string            `yaml:"route"`
	Dialect string            `yaml:"dialect"`
	Model   string            `yaml:"model"`   // glob, e.g. "claude-*"
	Tenant  string            `yaml:"tenant"`  // prefix of the tenant's hash
	Headers map[string]string `yaml:"headers"` // lower-case name: glob of the value
}

// A Factory makes a contributor of one kind from its configuration, or says
// what is wrong with it. It does no I/O.
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

// New makes the contributor that c describes.
func New(c Config) (Contributor, error) {
	f, ok := kinds[c.Kind]
	if !ok {
		return nil, fmt.Errorf("unknown contributor kind %q: want one of %v", c.Kind, Kinds())
	}
	return f(c)
}
