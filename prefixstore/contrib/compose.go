package contrib

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// A Composer runs contributors in the order they were configured in. It is
// immutable and safe for any number of goroutines.
type Composer struct {
	steps   []*step
	headers []string
}

// A Result is what a composition gave. The caller owns it.
type Result struct {
	Messages []Message // nil if there are none
	// Contributions has one entry for each configured contributor, in order.
	Contributions []Contribution
}

// Values of Contribution.Outcome. A skipped one is followed by ": " and why.
const (
	OK      = "ok"
	Empty   = "empty"
	NoMatch = "no_match"
	Skipped = "skipped"
)

// A Contribution says what one contributor gave.
type Contribution struct {
	Name     string
	Kind     string
	SHA256   string // hex, of the JSON of its messages as composed; "" if it gave none
	Bytes    int    // of their texts, envelopes included
	Messages int
	Took     time.Duration
	Outcome  string // ok, empty, no_match, skipped: <why>
}

// An Error is the failure of one contributor: the operator's or its source's,
// never the client's.
type Error struct {
	Contributor string // its name
	Err         error
}

func (e *Error) Error() string { return fmt.Sprintf("contributor %q: %v", e.Contributor, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// NewComposer checks cfgs strictly and makes their contributors. It opens
// nothing: what is wrong with a file or a service shows when composing. The
// error is an *Error and names the contributor and the key.
func NewComposer(cfgs []Config) (*Composer, error) {
	c := &Composer{}
	for i, cfg := range cfgs {
		if cfg.Name == "" {
			cfg.Name = fmt.Sprintf("%s-%d", cfg.Kind, i+1)
		}
		if slices.ContainsFunc(c.steps, func(st *step) bool { return st.cfg.Name == cfg.Name }) {
			return nil, &Error{cfg.Name, fmt.Errorf("cannot use name %q twice", cfg.Name)}
		}
		made, err := New(cfg)
		if err != nil {
			return nil, &Error{cfg.Name, err}
		}
		c.steps = append(c.steps, newStep(cfg, made))
	}
	c.headers = c.headerNames()
	return c, nil
}

// HeaderNames returns, sorted and in lower case, the request headers that
// matchers look at and contributors are told: all that Session.Headers needs
// to hold. The caller must not change the slice.
func (c *Composer) HeaderNames() []string { return c.headers }

// Late returns how many calls of contributors still run although their
// deadline has passed: a gauge, normally 0. A contributor with 16 of them is
// refused at once.
func (c *Composer) Late() int {
	n := 0
	for _, st := range c.steps {
		n += int(st.late.Load())
	}
	return n
}

// Compose composes for s. The end of ctx ends it, whatever the contributors
// do, and then the error wraps ctx's, also where on_error is skip: a prefix
// that lacks a part because time ran out must not be frozen. Any other failure
// is an *Error. With an error there is no Result.
func (c *Composer) Compose(ctx context.Context, s Session) (Result, error) {
	r := Result{Contributions: make([]Contribution, 0, len(c.steps))}
	for _, st := range c.steps {
		added, con, err := st.run(ctx, s, r.Messages)
		if err != nil {
			return Result{}, err
		}
		r.Messages = append(r.Messages, added...)
		r.Contributions = append(r.Contributions, con)
	}
	return r, nil
}

// From returns the messages of the contributor that Contributions[i] tells of.
func (r *Result) From(i int) []Message {
	first := 0
	for _, con := range r.Contributions[:i] {
		first += con.Messages
	}
	return r.Messages[first : first+r.Contributions[i].Messages]
}

func (c *Composer) headerNames() []string {
	var names []string
	for _, st := range c.steps {
		names = append(names, st.cfg.headerNames()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// digest returns the hex SHA-256 of list's JSON, without HTML escapes.
func digest(list []Message) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(list); err != nil {
		panic("BUG: messages are not JSON: " + err.Error())
	}
	sum := sha256.Sum256(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	return hex.EncodeToString(sum[:])
}
