package explain

import (
	"fmt"
	"strings"
)

// difference names the first part of the request that differs from a line.
func (c *call) difference(m match) Verdict {
	l := m.line
	switch m.level {
	case hostLevel:
		return blame(UpstreamChanged, ByUpstream, SectionHost, fmt.Sprintf("host %s → %s", printable(l.host), printable(c.Host))).wasted()
	case accountLevel:
		return blame(UpstreamChanged, ByClient, SectionAccount, "another credential or workspace, whose cache is another").wasted()
	case modelLevel:
		return blame(ModelChanged, ByClient, SectionModel, fmt.Sprintf("model %s → %s", printable(l.model), printable(c.Model))).
			offset(c.modelAt()).wasted()
	case keyLevel:
		return blame(KeyChanged, ByClient, SectionKey, fmt.Sprintf("prompt_cache_key %s → %s", orNone(l.key), orNone(c.Key))).wasted()
	case toolsLevel:
		return c.toolsChange(l)
	case systemLevel:
		return c.systemChange(l)
	case parametersLevel:
		return c.parameterChange(l)
	case prefixLevel:
		return c.prefixChange(l)
	}
	return c.historyChange(m)
}

func (c *call) modelAt() int {
	b := c.texts.of(c.params)
	if v, ok := find(membersIn(b, 0, len(b)), "model"); ok {
		return c.Parameters.at(v.from)
	}
	return -1
}

// prefixChange: in one epoch the prefix is frozen, so that would be our fault; a
// new epoch is composed anew.
func (c *call) prefixChange(l *line) Verdict {
	detail := fmt.Sprintf("prefix %s → %s", orNone(l.prefix), orNone(c.Prefix))
	if l.epoch != c.Epoch {
		return blame(PrefixChanged, ByContributor, SectionPrefix, detail+" in a new epoch").wasted()
	}
	return blame(PrefixChanged, ByPreface, SectionPrefix, detail+" in one epoch").wasted()
}

// parameterChange names the parameter that matters.
func (c *call) parameterChange(l *line) Verdict {
	v := blame(ParameterChanged, ByClient, SectionParameters, "a parameter changed; which one is not kept").wasted()
	was, is := c.texts.of(l.params), c.texts.of(c.params)
	if was == nil && l.params != (part{}) || is == nil && c.params != (part{}) {
		return v
	}
	if change, ok := changedSetting(settingsOf(was, l.rules.kind), settingsOf(is, c.rules.kind)); ok {
		return c.settingVerdict(change)
	}
	return v
}

func (c *call) settingVerdict(s settingChange) Verdict {
	detail := printable(s.name) + " changed"
	if s.quotable() {
		detail = fmt.Sprintf("%s %s → %s", printable(s.name), orNone(s.was), orNone(s.is))
	}
	v := blame(ParameterChanged, ByClient, SectionParameters, detail).wasted()
	if s.at >= 0 {
		v = v.offset(c.Parameters.at(s.at))
	}
	return v
}

// undocumentedChange names a difference of which nobody says whether it reaches
// the cache: beta headers (facts/providers.md 1.4), then parameters.
func (c *call) undocumentedChange(l *line) (Verdict, bool) {
	if was, is := changedBetas(l.betas, c.Betas); was != "" || is != "" {
		return blame(ParameterChanged, ByClient, SectionBetas, fmt.Sprintf("beta header: %s → %s", orNone(was), orNone(is))).wasted(), true
	}
	if l.params.key == c.params.key {
		return none, false
	}
	was, is := c.texts.of(l.params), c.texts.of(c.params)
	if was == nil || is == nil {
		return c.parameterChange(l), true
	}
	change, ok := changedSetting(settingsOf(was, l.rules.kind), settingsOf(is, c.rules.kind))
	if !ok {
		return none, false
	}
	return c.settingVerdict(change), true
}

// hiddenChange: a section differs, maybe in its marks only.
func (c *call) hiddenChange(l *line) (Verdict, bool) {
	switch {
	case !l.tools.same(c.tools):
		return c.toolsChange(l), true
	case !l.system.same(c.system):
		return c.systemChange(l), true
	}
	return none, false
}

// changedBetas are the flags that are in one list only; their order means nothing.
func changedBetas(was, is string) (gone, added string) {
	if was == is {
		return "", ""
	}
	return flagsMissing(was, is), flagsMissing(is, was)
}

// flagsMissing are the flags of a list that are not in another.
func flagsMissing(list, other string) string {
	var out []string
	for flag := range strings.SplitSeq(list, ",") {
		flag = strings.TrimSpace(flag)
		if flag != "" && !hasFlag(other, flag) {
			out = append(out, flag)
		}
	}
	return strings.Join(out, ",")
}

func hasFlag(list, flag string) bool {
	for f := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(f) == flag {
			return true
		}
	}
	return false
}
