package explain

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A ruleKind is how a provider decides what to cache.
type ruleKind byte

const (
	// byMarks: only what ends at a mark (facts/providers.md 1.3).
	byMarks ruleKind = iota + 1
	// byBoundaries: at the ends of messages, or at explicit breakpoints (2.4).
	byBoundaries
	// byPrefix: whatever came before, in steps (2.5, and most other hosts).
	byPrefix
)

// Numbers of the providers, with their place in facts/providers.md.
const (
	lookBack      = 20               // 1.3: block positions, the mark's own included
	endingsBack   = 20               // 2.4: message endings looked up before the implicit boundary
	lifeShort     = 5 * time.Minute  // 1.3
	lifeLong      = time.Hour        // 1.3
	lifeBoundary  = 30 * time.Minute // 2.4: a minimum
	lifeHalfDay   = 12 * time.Hour   // 2.4
	lifeDay       = 24 * time.Hour   // 2.5
	lifeMemory    = 5 * time.Minute  // 2.5: idle time after which it may be gone,
	lifeMemoryMax = time.Hour        // 2.5: and is
)

// rules are what one model's cache goes by.
type rules struct {
	kind    ruleKind
	minimum int64 // tokens; 0 if not known
	step    int64 // reads are rounded down to a multiple of it; 1 if they are exact
	// dropsThinking: thinking of earlier turns leaves the prompt as soon as the
	// user says something that is no tool result (1.4).
	dropsThinking bool
	// dayOnly: entries live for a day, whatever is asked for (2.5).
	dayOnly bool
}

var (
	claudeNew = regexp.MustCompile(`(fable|mythos|opus|sonnet|haiku)-(?:(preview)|(\d{1,2})(?:[-.](\d{1,2}))?)(?:$|[^\d])`)
	claudeOld = regexp.MustCompile(`claude-(\d)(?:[-.](\d))?-(opus|sonnet|haiku)`)
	gptName   = regexp.MustCompile(`(?:^|/)gpt-(\d{1,2})(?:\.(\d{1,2}))?`)
	oName     = regexp.MustCompile(`(?:^|/)o[134](?:-|$)`)
)

// rulesOf returns those for a model that is called in a dialect. The Messages
// API caches by marks whoever answers, but for hosts known to ignore them (4);
// elsewhere Claude needs marks too.
func rulesOf(dialect, model string) rules {
	model = strings.ToLower(model)
	switch {
	case strings.HasPrefix(model, "deepseek"):
		return rules{kind: byPrefix, step: 1} // units are not told (4)
	case dialect == "anthropic", strings.Contains(model, "claude"):
		return claudeRules(model)
	}
	if m := gptName.FindStringSubmatch(model); m != nil {
		return gptRules(number(m[1]), number(m[2]))
	}
	if oName.MatchString(model) {
		return rules{kind: byPrefix, minimum: 1024, step: 128}
	}
	return rules{kind: byPrefix, step: 128} // 4: 64 to 128 where it is told
}

func number(s string) int {
	n, _ := strconv.Atoi(s) // the patterns let only digits through; none is 0
	return n
}

// gptRules: facts/providers.md 2.4 from GPT-5.6 on, else 2.5.
func gptRules(major, minor int) rules {
	if major > 5 || major == 5 && minor >= 6 {
		return rules{kind: byBoundaries, minimum: 1024, step: 1}
	}
	r := rules{kind: byPrefix, minimum: 1024, step: 128}
	if major == 5 && minor == 5 {
		r.step, r.dayOnly = 2048, true
	}
	return r
}

func claudeRules(model string) rules {
	c := claudeOf(model)
	return rules{kind: byMarks, minimum: c.minimum(), step: 1, dropsThinking: c.dropsThinking()}
}

// A claude is a generation of Anthropic's models; its zero value is one that
// nobody knows.
type claude struct {
	family       string
	major, minor int
	preview      bool
}

func claudeOf(model string) claude {
	if m := claudeNew.FindStringSubmatch(model); m != nil {
		return claude{m[1], number(m[3]), number(m[4]), m[2] != ""}
	}
	if m := claudeOld.FindStringSubmatch(model); m != nil {
		return claude{family: m[3], major: number(m[1]), minor: number(m[2])}
	}
	return claude{}
}

func (c claude) before(major, minor int) bool {
	return c.major < major || c.major == major && c.minor < minor
}

func (c claude) is(family string, major, minor int) bool {
	return c.family == family && c.major == major && c.minor == minor
}

// minimum is the smallest prompt that is cached, in tokens (1.3; what it does
// not list of the fifth generation is taken for 512).
func (c claude) minimum() int64 {
	switch {
	case c.preview, c.is("opus", 4, 7), c.is("haiku", 3, 5):
		return 2048
	case c.is("opus", 4, 6), c.is("opus", 4, 5), c.is("haiku", 4, 5):
		return 4096
	case c.family == "fable", c.family == "mythos", c.is("opus", 5, 0), c.family != "" && !c.before(5, 5):
		return 512
	}
	return 1024
}

// dropsThinking: 1.4, "Haiku <=4.5 and pre-4.5/4.6 Opus/Sonnet".
func (c claude) dropsThinking() bool {
	switch c.family {
	case "haiku", "sonnet":
		return c.before(4, 6)
	case "opus":
		return c.before(4, 5)
	}
	return false
}
