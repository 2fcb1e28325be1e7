package cache

import (
	"regexp"
	"strconv"
)

// A Claude is a model of Anthropic by its name. The zero value is a model that
// nobody knows, to which no rule of a generation applies.
type Claude struct {
	Family       string // fable, mythos, opus, sonnet, haiku; "" if unknown
	Major, Minor int
	Preview      bool
}

var (
	claudeNew = regexp.MustCompile(`(fable|mythos|opus|sonnet|haiku)-(?:(preview)|(\d{1,2})(?:[-.](\d{1,2}))?)(?:$|[^\d])`)
	claudeOld = regexp.MustCompile(`claude-(\d)(?:[-.](\d))?-(opus|sonnet|haiku)`)
)

// ClaudeOf reads a model name such as claude-opus-5-5-20261001.
func ClaudeOf(name string) Claude {
	if m := claudeNew.FindStringSubmatch(name); m != nil {
		return Claude{m[1], atoi(m[3]), atoi(m[4]), m[2] != ""}
	}
	if m := claudeOld.FindStringSubmatch(name); m != nil {
		return Claude{Family: m[3], Major: atoi(m[1]), Minor: atoi(m[2])}
	}
	return Claude{}
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s) // the patterns let only digits through; none is 0
	return n
}

// Known reports whether the name was one of Anthropic's.
func (c Claude) Known() bool { return c.Family != "" }

// AtLeast reports whether the version is that or a later one.
func (c Claude) AtLeast(major, minor int) bool {
	return c.Major > major || c.Major == major && c.Minor >= minor
}

// Is reports whether it is exactly that model.
func (c Claude) Is(family string, major, minor int) bool {
	return c.Family == family && c.Major == major && c.Minor == minor
}

// Minimum is the smallest prompt that is cached, in tokens (facts/providers.md
// 1.3; Fable and Mythos 5.2 are taken to be like 5.1).
func (c Claude) Minimum() int64 {
	switch {
	case c.Preview, c.Is("opus", 4, 7), c.Is("haiku", 3, 5):
		return 2048
	case c.Is("opus", 4, 6), c.Is("opus", 4, 5), c.Is("haiku", 4, 5):
		return 4096
	case c.Family == "fable", c.Family == "mythos", c.AtLeast(5, 5), c.Is("opus", 5, 0):
		return 512
	}
	return 1024
}
