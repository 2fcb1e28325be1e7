package explain

import (
	"fmt"
	"hash/maphash"
	"time"
)

// An opening is what the first requests of several threads may share: tools,
// system slot and prefix, in one account. It tells whether a thread that starts
// cold need not have.
type opening struct {
	key    openingKey
	id     string // of the request that used it last
	start  time.Time
	begun  time.Time // when the answer to that began
	life   time.Duration
	tokens int64  // known to have been read by a first request; 0 if none did
	shared bool   // something ends at it in the cache, so that others can read it
	whole  uint64 // digest of all messages of the request
	system part   // of the latest opening with these tools
}

// An openingKey is a hash. With the system slot in it, it is an opening, without
// it stands for all openings with the same tools.
type openingKey uint64

// openings are bounded: the oldest is forgotten.
type openings struct {
	by   map[openingKey]*opening
	ring []openingKey
	next int
}

func newOpenings(limit int) *openings {
	return &openings{by: make(map[openingKey]*opening), ring: make([]openingKey, limit)}
}

func (o *openings) add(x *opening) {
	if _, ok := o.by[x.key]; !ok {
		delete(o.by, o.ring[o.next])
		o.ring[o.next] = x.key
		o.next = (o.next + 1) % len(o.ring)
	}
	o.by[x.key] = x
}

func (c *call) openingKey(withSystem bool) openingKey {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, s := range [...]string{c.Account, c.Host, c.Dialect, c.Model, c.Key} {
		h.WriteString(s)
		h.WriteByte(0)
	}
	maphash.WriteComparable(&h, c.tools.effect)
	if withSystem {
		maphash.WriteComparable(&h, c.system.effect)
		h.WriteString(c.Prefix)
	}
	return openingKey(h.Sum64())
}

// whole is a digest of all messages.
func (c *call) whole() uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for i := range c.Messages {
		maphash.WriteComparable(&h, contentOf(&c.Messages[i]))
	}
	return h.Sum64()
}

// shares reports whether others can read what c leaves at the end of its opening:
// a mark stands on it, or the cache keeps every beginning.
func (c *call) shares() bool {
	switch c.rules.kind {
	case byPrefix:
		return true
	case byMarks, byBoundaries:
		for _, m := range c.Marks {
			if m.Section == InTools || m.Section == InSystem {
				return true
			}
		}
	}
	return false
}

// openedBy notes the request that opened a thread, or went on in a new way.
func (t *Tracker) openedBy(c *call, l *line) {
	o := &opening{
		key: c.openingKey(true), id: c.ID, start: c.Start, begun: c.FirstByte,
		life: l.life, shared: c.shares(), whole: c.whole(),
	}
	if old := t.openings.by[o.key]; old != nil {
		o.tokens = old.tokens
		if before(c.Start, old.start) {
			o.id, o.start, o.begun, o.whole = old.id, old.start, old.begun, old.whole
		}
	}
	if len(c.Messages) <= 2 {
		o.tokens = max(o.tokens, c.read)
	}
	t.openings.add(o)
	l.opening = o
	t.openings.add(&opening{key: c.openingKey(false), id: c.ID, start: c.Start, system: c.system})
}

// first judges the first request of a thread.
func (t *Tracker) first(c *call) Verdict {
	if c.read > 0 {
		return none
	}
	if v, ok := c.ignoredMarks(); ok {
		return v
	}
	o := t.openings.by[c.openingKey(true)]
	if o == nil {
		return blame(Cold, ByClient, "", c.firstDetail()+t.layoutHint(c))
	}
	if v, ok := c.besideLeader(o); ok {
		return v
	}
	if c.findable(o) {
		detail := fmt.Sprintf("%s had the same opening %s before, and nothing on our side differs: the cache may be another region's or full; the provider's diagnosis would tell",
			printable(o.id), roundly(c.Start.Sub(o.start)))
		return blame(Provider, ByProvider, "", detail).missing(c.openingSize(o), 0).of(o)
	}
	return blame(Cold, ByClient, "", c.firstDetail()+c.openingHint(o)).of(o)
}

func (v Verdict) of(o *opening) Verdict { v.Against = o.id; return v }

// besideLeader: the same opening was on its way, but its answer had not begun,
// and only then others can read it (facts/providers.md 1.3).
func (c *call) besideLeader(o *opening) (Verdict, bool) {
	if !o.shared && o.whole != c.whole() || !before(c.Start, o.begun) || before(c.Start, o.start) {
		return none, false
	}
	detail := fmt.Sprintf("sent %s before the answer to %s, with the same opening, began", roundly(o.begun.Sub(c.Start)), printable(o.id))
	return blame(ConcurrentCold, ByClient, "", detail).missing(c.openingSize(o), 0).of(o), true
}

// findable reports whether c should have read the opening.
func (c *call) findable(o *opening) bool {
	if !o.shared && o.whole != c.whole() || o.start.IsZero() || c.Start.Before(o.start) || o.life == 0 || c.Start.Sub(o.start) >= o.life {
		return false
	}
	if c.rules.kind == byMarks && len(c.Marks) == 0 {
		return false
	}
	least := c.rules.minimum
	if c.rules.kind == byPrefix {
		least *= 2 // the size is estimated, and reads are rounded down
	}
	return o.tokens > 0 || least > 0 && c.openingSize(o) >= least
}

// openingSize is how many tokens an opening has: as once read, or estimated by
// its share of the bytes.
func (c *call) openingSize(o *opening) int64 {
	if o.tokens > 0 {
		return min(o.tokens, max(c.input, 1))
	}
	tools, known := c.sizeOf(&c.Tools, c.tools)
	system, too := c.sizeOf(&c.System, c.system)
	all := tools + system + c.PrefixBytes
	for i := range c.Messages {
		all += int(c.Messages[i].Size)
	}
	if !known || !too || all == 0 {
		return 0
	}
	return int64(float64(c.input) * float64(tools+system) / float64(all))
}

// firstDetail says what else there is to a first request.
func (c *call) firstDetail() string {
	detail := "first request of its thread"
	for i := range c.Messages {
		if c.Messages[i].Role == Assistant && c.Messages[i].Holds&HoldsCompaction == 0 {
			detail = "first request of its thread that was seen here, with a history from elsewhere"
			break
		}
	}
	if c.rules.kind == byMarks && len(c.Marks) == 0 && c.written == 0 {
		detail += "; it has no mark, so the next one will find nothing either"
	}
	return detail
}

// layoutHint says that the request before with these tools had another system
// slot: text that differs stands before text that could be shared.
func (t *Tracker) layoutHint(c *call) string {
	o := t.openings.by[c.openingKey(false)]
	if o == nil || c.tools == (part{}) || o.system.same(c.system) {
		return ""
	}
	hint := "; the session before has the same tools and another system prompt"
	if was, is := t.texts.of(o.system), t.texts.of(c.system); was != nil && is != nil {
		if v := c.systemText(blame(SystemChanged, ByClient, SectionSystem, ""), was, is); v.Detail != "" {
			hint += " (" + v.Detail + ")"
		}
	}
	return hint + ": text that all sessions have belongs before it or into an opener"
}

func (c *call) openingHint(o *opening) string {
	switch {
	case o.life > 0 && !o.start.IsZero() && c.Start.Sub(o.start) >= o.life:
		return fmt.Sprintf("; its opening was last used %s ago and lives for %s", roundly(c.Start.Sub(o.start)), roundly(o.life))
	case !o.shared && c.rules.kind != byPrefix:
		return "; its opening was sent before, but no mark ends on it, so it is not shared: mark the end of the opener"
	}
	return ""
}
