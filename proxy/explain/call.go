package explain

import "time"

// A call is a request under examination.
type call struct {
	*Request
	rules                 rules
	tools, system, params part
	read, written         int64
	input                 int64 // all of it; 0 if not reported
	told                  bool  // the write count was
	texts                 *texts
}

func (t *texts) callOf(r *Request, ru rules) call {
	c := call{Request: r, rules: ru, texts: t}
	c.tools = t.take(&r.Tools, inTools, ru.kind)
	c.system = t.take(&r.System, inSystem, ru.kind)
	c.params = t.take(&r.Parameters, inParameters, ru.kind)
	written := r.Usage.Written()
	c.read, c.written, c.told = max(0, r.Usage.CacheRead.N), max(0, written.N), written.Known
	c.input = max(0, r.Usage.Input().N)
	return c
}

// counted reports whether the provider told enough for a comparison.
func (c *call) counted() bool { return c.Usage.CacheRead.Known }

// leaves is how many tokens of the prompt are in the cache after the request,
// and whether that is a guess, since not all hosts report writes.
func (c *call) leaves() (tokens int64, guessed bool) {
	switch {
	case c.rules.kind == byPrefix:
		return c.remembered(), false
	case c.told:
		return c.read + c.written, false
	case c.rules.kind == byMarks && len(c.Marks) == 0:
		return c.read, true
	}
	return c.remembered(), true
}

// remembered: a cache that is not told about remembers the whole prompt, if it
// is large enough.
func (c *call) remembered() int64 {
	if c.input < c.rules.minimum {
		return 0
	}
	return max(c.input, c.read)
}

// setting is one of the parameters as it was set, empty if it was not.
func (c *call) setting(name string) string {
	return settingValue(c.texts.of(c.params), c.rules.kind, name)
}

// grant notes the lifetime of what c left at its end, as granted: which class
// its writes were counted in, and only then what its last mark asked for
// (facts/providers.md 1.3). Without writes the lifetime stays as it was.
func (l *line) grant(c *call) {
	if c.rules.kind != byMarks && l.life > 0 && l.params.key == c.params.key {
		return // as it was: reading the parameters again is not for every request
	}
	l.asked = 0
	if n := len(c.Marks); n > 0 {
		l.asked = lifeOf(c.Marks[n-1].TTL)
	}
	switch c.rules.kind {
	case byMarks:
		l.life = grantedByMarks(c, l.asked, l.life)
	case byBoundaries:
		l.life = lifeBoundary
		if c.setting("prompt_cache_options.ttl") == "12h" {
			l.life = lifeHalfDay
		}
	default:
		l.life = 0
		if c.rules.minimum > 0 {
			l.life = retention(c)
		}
	}
}

func grantedByMarks(c *call, asked, before time.Duration) time.Duration {
	short, long := c.Usage.Write5m.N > 0, c.Usage.Write1h.N > 0
	switch {
	case short && long && asked > 0:
		return asked // the mark's own; the other class is a second mark's, or a server tool's
	case short:
		return lifeShort
	case long:
		return lifeLong
	case before > 0:
		return before
	case asked > 0:
		return asked
	}
	return lifeShort
}

// retention: what is neither asked for nor fixed is a day, or minutes where the
// account keeps nothing (2.5): the shorter one explains a miss, and mayExpire
// keeps it from hiding a change.
func retention(c *call) time.Duration {
	if c.rules.dayOnly || c.setting("prompt_cache_retention") == "24h" {
		return lifeDay
	}
	return lifeMemory
}

// surely is after how long an entry is gone whatever the account.
func (l *line) surely(c *call) time.Duration {
	if l.rules.kind != byPrefix || l.life == 0 || l.life == lifeDay {
		return l.life
	}
	if settingValue(c.texts.of(l.params), l.rules.kind, "prompt_cache_retention") == "in_memory" {
		return lifeMemoryMax
	}
	return lifeDay
}

func lifeOf(ttl string) time.Duration {
	switch ttl {
	case "1h":
		return lifeLong
	case "30m":
		return lifeBoundary
	case "12h":
		return lifeHalfDay
	}
	return lifeShort
}

// at returns where a byte of a section stands in the client's body, -1 if that
// is not known.
func (s *Section) at(i int) int {
	for _, span := range s.Spans {
		n := span.To - span.From
		if i <= n {
			return span.From + i
		}
		i -= n + len(",")
	}
	return -1
}

// before reports whether a time is known and before another that is.
func before(a, b time.Time) bool { return !a.IsZero() && !b.IsZero() && a.Before(b) }
