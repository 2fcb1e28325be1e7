package provider

import (
	"regexp"
	"strconv"
	"strings"
)

// A claude is what the rules need to know of an Anthropic model. The zero value
// is a model that nobody knows, to which no rule of a generation applies.
type claude struct {
	family       string // fable, mythos, opus, sonnet, haiku; "" if unknown
	major, minor int
	preview      bool
}

var (
	claudeNew = regexp.MustCompile(`(fable|mythos|opus|sonnet|haiku)-(?:(preview)|(\d{1,2})(?:[-.](\d{1,2}))?)(?:$|[^\d])`)
	claudeOld = regexp.MustCompile(`claude-(\d)(?:[-.](\d))?-(opus|sonnet|haiku)`)
)

// claudeOf reads a model name such as claude-opus-5-5-20261001.
func claudeOf(name string) claude {
	if m := claudeNew.FindStringSubmatch(name); m != nil {
		return claude{m[1], atoi(m[3]), atoi(m[4]), m[2] != ""}
	}
	if m := claudeOld.FindStringSubmatch(name); m != nil {
		return claude{family: m[3], major: atoi(m[1]), minor: atoi(m[2])}
	}
	return claude{}
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s) // the patterns let only digits through; none is 0
	return n
}

func (c claude) known() bool { return c.family != "" }

func (c claude) atLeast(major, minor int) bool {
	return c.major > major || c.major == major && c.minor >= minor
}

func (c claude) is(family string, major, minor int) bool {
	return c.family == family && c.major == major && c.minor == minor
}

// minimum is the smallest prompt that is cached, in tokens (facts/providers.md
// 1.3; Fable and Mythos 5.2 are taken to be like 5.1).
func (c claude) minimum() int64 {
	switch {
	case c.preview, c.is("opus", 4, 7), c.is("haiku", 3, 5):
		return 2048
	case c.is("opus", 4, 6), c.is("opus", 4, 5), c.is("haiku", 4, 5):
		return 4096
	case c.family == "fable", c.family == "mythos", c.atLeast(5, 5), c.is("opus", 5, 0):
		return 512
	}
	return 1024
}

// systemMessages reports whether role "system" may stand in messages (1.2).
func (c claude) systemMessages() bool {
	switch c.family {
	case "opus":
		return c.atLeast(4, 8)
	case "sonnet", "haiku":
		return c.atLeast(5, 5)
	case "mythos":
		return !c.preview
	}
	return true
}

// prefill reports whether the last message may be the assistant's (1.1).
func (c claude) prefill() bool { return !c.known() || !c.preview && !c.atLeast(4, 6) }

// bindsThinking reports whether signatures are checked against everything
// before them (1.7).
func (c claude) bindsThinking() bool {
	return c.family == "fable" && c.atLeast(5, 1) || c.family != "mythos" && c.known() && c.atLeast(5, 5)
}

// bindsAccount reports whether thinking works only in the account that made it.
func (c claude) bindsAccount() bool {
	return (c.family == "sonnet" || c.family == "haiku") && c.atLeast(5, 5)
}

// dropsThinking reports whether thinking of earlier turns leaves the prompt as
// soon as the user says something that is no tool result (1.4).
func (c claude) dropsThinking() bool {
	switch c.family {
	case "haiku":
		return !c.atLeast(4, 6)
	case "opus":
		return !c.atLeast(4, 5)
	case "sonnet":
		return !c.atLeast(4, 6)
	}
	return false
}

// forcesNoTool reports whether tool_choice any and tool are refused (1.8).
func (c claude) forcesNoTool() bool { return c.is("fable", 5, 1) }

// A gpt is what the rules need to know of an OpenAI model.
type gpt struct {
	name         string
	major, minor int
}

var gptName = regexp.MustCompile(`gpt-(\d{1,2})(?:\.(\d{1,2}))?`)

// gptOf reads a model name such as gpt-5.6-sol. What it does not know counts
// as older than GPT-5.6.
func gptOf(name string) gpt {
	m := gptName.FindStringSubmatch(name)
	if m == nil {
		return gpt{name: name}
	}
	return gpt{name, atoi(m[1]), atoi(m[2])}
}

// breakpoints reports whether the rules since GPT-5.6 apply (2.4).
func (g gpt) breakpoints() bool { return g.major > 5 || g.major == 5 && g.minor >= 6 }

// interval is how many tokens lie between the boundaries of older models (2.5).
// It is a multiple of countStep, which makes cached_tokens one too; where the
// facts name no number it is countStep.
func (g gpt) interval() int64 {
	if g.major == 5 && g.minor == 5 {
		return 2048
	}
	return countStep
}

// dayOnly reports whether prompt_cache_retention knows only 24h (2.5).
func (g gpt) dayOnly() bool { return g.major == 5 && g.minor == 5 }

// halfDay reports whether a cache lifetime of 12h may be asked for (2.4).
func (g gpt) halfDay() bool {
	return strings.HasPrefix(g.name, "gpt-6.1-terra") || strings.HasPrefix(g.name, "gpt-6.2")
}
