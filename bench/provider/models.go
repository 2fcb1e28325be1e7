package provider

import "github.com/seed-9236c7ca/preface/bench/cache"

// A claude is what the rules need to know of an Anthropic model.
type claude struct{ cache.Claude }

func claudeOf(name string) claude { return claude{cache.ClaudeOf(name)} }

// systemMessages reports whether role "system" may stand in messages (1.2).
func (c claude) systemMessages() bool {
	switch c.Family {
	case "opus":
		return c.AtLeast(4, 8)
	case "sonnet", "haiku":
		return c.AtLeast(5, 5)
	case "mythos":
		return !c.Preview
	}
	return true
}

// prefill reports whether the last message may be the assistant's (1.1).
func (c claude) prefill() bool { return !c.Known() || !c.Preview && !c.AtLeast(4, 6) }

// bindsThinking reports whether signatures are checked against everything
// before them (1.7).
func (c claude) bindsThinking() bool {
	return c.Family == "fable" && c.AtLeast(5, 1) || c.Family != "mythos" && c.Known() && c.AtLeast(5, 5)
}

// bindsAccount reports whether thinking works only in the account that made it.
func (c claude) bindsAccount() bool {
	return (c.Family == "sonnet" || c.Family == "haiku") && c.AtLeast(5, 5)
}

// dropsThinking reports whether thinking of earlier turns leaves the prompt as
// soon as the user says something that is no tool result (1.4).
func (c claude) dropsThinking() bool {
	switch c.Family {
	case "haiku":
		return !c.AtLeast(4, 6)
	case "opus":
		return !c.AtLeast(4, 5)
	case "sonnet":
		return !c.AtLeast(4, 6)
	}
	return false
}

// forcesNoTool reports whether tool_choice any and tool are refused (1.8).
func (c claude) forcesNoTool() bool { return c.Is("fable", 5, 1) }

// A gpt is what the rules need to know of an OpenAI model.
type gpt struct{ cache.GPT }

func gptOf(name string) gpt { return gpt{cache.GPTOf(name)} }
