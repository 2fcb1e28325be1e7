package identity

import (
	"fmt"
	"regexp"
	"strings"
)

// A Config says where ids are read. The zero Config is [Defaults]. A list that
// is absent (nil) is the default list; an empty one reads nothing.
type Config struct {
	// Session lists where a session id may be; the first usable value wins.
	Session []Source `yaml:"session"`
	// Thread lists where an agent or thread id may be. Only requests that lack
	// one are sorted into threads by their history.
	Thread []Source `yaml:"thread"`
	// Parent lists where a subagent names the session that started it.
	Parent []Source `yaml:"parent"`
	// FollowParent puts a subagent with a session id of its own into its
	// parent's session, as a thread named by that id. Only the parent that the
	// request names is followed, not the parent's parent; a session named by
	// the path or by x-preface-session stays. Default false: its own session.
	FollowParent bool `yaml:"follow_parent"`
	// Resume lists where a client may ask for a new epoch.
	Resume []Source `yaml:"resume"`
	// MaxID is the longest value in bytes that is taken for an id. Default 512.
	MaxID int `yaml:"max_id"`
	// Live is how many threads without an id of their own are remembered, over
	// all sessions. Default 100000, half a kilobyte each.
	Live int `yaml:"live"`
}

// A Source names where a value is read: exactly one of Header and Body.
type Source struct {
	// Header is the name of a request header, in any case.
	Header string `yaml:"header"`
	// Body is the path of a string in the request body: names of members, with
	// dots between, e.g. "metadata.user_id".
	Body string `yaml:"body"`
	// Field, if set, takes the string with this name out of a value that is
	// itself the text of a JSON object.
	Field string `yaml:"field"`
	// Pattern, if set, is a regular expression with one group, which takes a
	// part out of the value (after Field).
	Pattern string `yaml:"pattern"`
}

// ownHeader is the session header that is for us alone. Nothing that a client
// says for its own purposes replaces it.
const ownHeader = "x-preface-session"

// Defaults returns what the zero Config means: the places where the agents and
// SDKs in use put their ids (facts/clients.md 3).
//
// x-client-request-id, x-stainless-* and User-Agent are no ids, whatever they
// look like: the first is per request in some clients and per thread in others.
func Defaults() Config {
	return Config{
		Session: []Source{
			{Header: ownHeader},
			{Header: "x-claude-code-session-id"},
			{Body: "metadata.user_id", Field: "session_id"},
			{Body: "metadata.user_id", Pattern: `_session_([0-9A-Za-z-]+)$`}, // Claude Code before 2.1.78
			{Header: "session-id"},                                           // Codex
			{Header: "session_id"},                                           // pi, older Codex
			{Header: "x-session-id"},
			{Header: "x-session-affinity"},
			{Body: "prompt_cache_key"},
		},
		Thread: []Source{
			{Header: "x-claude-code-agent-id"},
			{Header: "thread-id"},
		},
		Parent: []Source{{Header: "x-parent-session-id"}},
		Resume: []Source{{Header: "x-preface-resume"}},
		MaxID:  512,
		Live:   100_000,
	}
}

// withDefaults fills in what c leaves open.
func (c Config) withDefaults() (Config, error) {
	d := Defaults()
	for _, l := range []struct{ list, std *[]Source }{
		{&c.Session, &d.Session}, {&c.Thread, &d.Thread}, {&c.Parent, &d.Parent}, {&c.Resume, &d.Resume},
	} {
		if *l.list == nil {
			*l.list = *l.std
		}
	}
	if c.MaxID == 0 {
		c.MaxID = d.MaxID
	}
	if c.Live == 0 {
		c.Live = d.Live
	}
	if c.MaxID < 0 || c.Live < 0 {
		return c, fmt.Errorf("cannot use max_id %d and live %d: want numbers above 0", c.MaxID, c.Live)
	}
	return c, nil
}

// compile makes readers of the sources under a setting's name.
func compile(setting string, sources []Source, maxID int) ([]reader, error) {
	readers := make([]reader, 0, len(sources))
	for i, s := range sources {
		rd, err := s.reader(maxID)
		if err != nil {
			return nil, fmt.Errorf("cannot use %s[%d]: %w", setting, i, err)
		}
		readers = append(readers, rd)
	}
	return readers, nil
}

func (s Source) reader(maxID int) (reader, error) {
	rd := reader{header: strings.ToLower(s.Header), field: s.Field, maxID: maxID}
	switch {
	case (s.Header == "") == (s.Body == ""):
		return rd, fmt.Errorf("want one of header and body, not header %q with body %q", s.Header, s.Body)
	case s.Header != "":
		rd.label = "header " + rd.header
	default:
		rd.label = "body " + s.Body
		rd.path = strings.Split(s.Body, ".")
	}
	if s.Pattern == "" {
		return rd, nil
	}
	re, err := regexp.Compile(s.Pattern)
	if err != nil {
		return rd, fmt.Errorf("pattern %q: %w", s.Pattern, err)
	}
	if re.NumSubexp() != 1 {
		return rd, fmt.Errorf("pattern %q has %d groups: want 1", s.Pattern, re.NumSubexp())
	}
	rd.pattern = re
	return rd, nil
}
