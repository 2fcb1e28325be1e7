package contrib

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	defaultMaxBytes = 256 << 10
	mostMaxBytes    = 4 << 20 // about a million tokens
	defaultDeadline = 500 * time.Millisecond
)

// Values of Config.OnError.
const (
	Refuse = "refuse"
	Skip   = "skip"
)

// Config configures one contributor. The fields of its kind stand beside the
// common ones; a field of another kind is an error.
type Config struct {
	// Name is its name in records and messages: letters, digits, dot, dash and
	// underscore, at most 64. Default: its kind and place, e.g. "file-1".
	Name string `yaml:"name"`
	// Kind is text, file, skills or http.
	Kind string `yaml:"kind"`

	// Role of its messages: user (default), assistant, developer, system. Where
	// a dialect has no such role at the head of its messages, it is user.
	Role string `yaml:"role"`
	// Envelope is the name of a tag put around each message's text, e.g.
	// "system-reminder". Default: none.
	Envelope string `yaml:"envelope"`
	// MaxBytes bounds its text, without envelopes; of an http contributor, its
	// whole answer. More is an error. Default 262144, limit 4194304. Whatever
	// it says, a contributor gives at most 256 messages.
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
	// of Paths, globs sorted by name; a file found twice counts where it was
	// found first. A path without glob that does not exist is an error; a glob
	// may match nothing, so {NAME} is a file that may be absent.
	Paths []string `yaml:"paths"`
	// Root is the folder that Paths or a skills folder are relative to.
	// Default: the working directory at start.
	Root string `yaml:"root"`
	// Folder is the folder of a skills contributor: */SKILL.md below it.
	Folder string `yaml:"folder"`
	// URL is where an http contributor posts the session. http or https,
	// without user and password.
	URL string `yaml:"url"`
	// Headers are sent by an http contributor; values may be ${ENV}, which
	// whoever reads the configuration has put in.
	Headers map[string]string `yaml:"headers"`
	// ForwardHeaders names request headers that an http contributor is told.
	// Those that hold credentials are refused.
	ForwardHeaders []string `yaml:"forward_headers"`
}

var (
	nameForm     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	envelopeForm = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)
)

// withDefaults returns c with the defaults filled in, names of headers in
// lower case, and nothing shared with c.
func (c Config) withDefaults() Config {
	if c.Role == "" {
		c.Role = "user"
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = defaultMaxBytes
	}
	if c.Deadline == 0 {
		c.Deadline = defaultDeadline
	}
	if c.OnError == "" {
		c.OnError = Refuse
	}
	c.Paths = slices.Clone(c.Paths)
	c.Headers = lowerKeys(c.Headers)
	c.When.Headers = lowerKeys(c.When.Headers)
	c.ForwardHeaders = slices.Clone(c.ForwardHeaders)
	for i, n := range c.ForwardHeaders {
		c.ForwardHeaders[i] = strings.ToLower(n)
	}
	return c
}

// check checks the fields that all kinds have.
func (c Config) check() error {
	switch {
	case c.Name != "" && !nameForm.MatchString(c.Name):
		return fmt.Errorf("cannot use name %q: want letters, digits, dot, dash and underscore, at most 64", c.Name)
	case !knownRole(c.Role):
		return badRole(c.Role)
	case c.Envelope != "" && !envelopeForm.MatchString(c.Envelope):
		return fmt.Errorf("cannot use envelope %q: want a tag's name such as system-reminder, without brackets", c.Envelope)
	case c.MaxBytes < 0 || c.MaxBytes > mostMaxBytes:
		return fmt.Errorf("cannot use max_bytes %d: want 1 to %d", c.MaxBytes, mostMaxBytes)
	case c.Deadline < 0:
		return fmt.Errorf("cannot use deadline %v: want more than 0", c.Deadline)
	case c.OnError != Refuse && c.OnError != Skip:
		return fmt.Errorf("cannot use on_error %q: want refuse or skip", c.OnError)
	}
	for _, n := range c.headerNames() {
		if err := checkToldHeader(n); err != nil {
			return err
		}
	}
	return nil
}

// allow refuses the fields of other kinds: keys are those that c's kind has.
func (c Config) allow(keys ...string) error {
	for _, f := range []struct {
		key string
		set bool
	}{
		{"text", c.Text != ""},
		{"paths", c.Paths != nil},
		{"root", c.Root != ""},
		{"folder", c.Folder != ""},
		{"url", c.URL != ""},
		{"headers", c.Headers != nil},
		{"forward_headers", c.ForwardHeaders != nil},
	} {
		if f.set && !slices.Contains(keys, f.key) {
			return fmt.Errorf("cannot use %s: a contributor of kind %s has no such key", f.key, c.Kind)
		}
	}
	return nil
}

func knownRole(r string) bool {
	return r == "user" || r == "assistant" || r == "developer" || r == "system"
}

func badRole(r string) error {
	return fmt.Errorf("cannot use role %q: want user, assistant, developer or system", r)
}

// lowerKeys returns a copy of m with lower-case keys. Of two keys that differ
// by case alone the one sorted last stays.
func lowerKeys(m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	low := make(map[string]string, len(m))
	for _, k := range sortedKeys(m) {
		low[strings.ToLower(k)] = m[k]
	}
	return low
}
