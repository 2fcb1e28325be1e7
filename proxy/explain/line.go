package explain

import (
	"encoding/binary"
	"slices"
	"time"
)

// A line is what is kept of one way that a thread's prompt went: the last
// request on it, and the history up to there. A request continues a line if its
// header is the same, as far as the cache sees, and its history begins with the
// line's.
type line struct {
	id, dialect, model, host, account, key, betas, prefix string
	epoch                                                 int
	start, begun                                          time.Time
	tools, system, params                                 part
	rules                                                 rules
	continues                                             bool

	history []step
	marks   []Mark

	input int64 // tokens of the last request
	left  int64 // how many of them it left in the cache
	// guessed: it was not told how many, so that only a read of none is a miss.
	guessed bool
	// life is the lifetime that was granted to the end of it, and asked the one
	// that was asked for; 0 if not known.
	life, asked time.Duration
	stones      [4]stone // earlier ends, the oldest first; zero ones are none
	settled     bool     // two requests in a row were on it, or it is the first
	opening     *opening
}

// A stone is an earlier end of a line: so many messages, that left so many tokens.
type stone struct {
	messages int
	left     int64
}

// A step is what is kept of a message.
type step struct {
	content uint64
	raw     uint32
	images  uint16
	blocks  uint8 // 255 for more
	kind    uint8 // role and holds
}

func stepOf(m *Message) step {
	return step{
		content: binary.LittleEndian.Uint64(m.Content[:8]) ^ binary.LittleEndian.Uint64(m.Content[8:]),
		raw:     uint32(m.Raw ^ m.Raw>>32),
		images:  uint16(m.Images ^ m.Images>>16),
		blocks:  uint8(min(m.Blocks, 255)),
		kind:    uint8(m.Role) | uint8(m.Holds)<<3,
	}
}

func (s step) role() Role           { return Role(s.kind & 7) }
func (s step) holds(h Holds) bool   { return Holds(s.kind>>3)&h != 0 }
func (s step) same(m *Message) bool { return s.content == contentOf(m) }

func contentOf(m *Message) uint64 {
	return binary.LittleEndian.Uint64(m.Content[:8]) ^ binary.LittleEndian.Uint64(m.Content[8:])
}

// shared returns how many messages a line's history and a request's have in
// common at the beginning.
func (l *line) shared(c *call) int {
	if c.Continues || l.continues {
		return len(l.history) // what came before is at the provider
	}
	n := min(len(l.history), len(c.Messages))
	for i := range n {
		if !l.history[i].same(&c.Messages[i]) {
			return i
		}
	}
	return n
}

// take makes c the last request of the line.
func (l *line) take(c *call) {
	l.grant(c) // it looks at what the request before had
	l.id, l.dialect, l.model, l.host, l.account = c.ID, c.Dialect, c.Model, c.Host, c.Account
	l.key, l.betas, l.prefix, l.epoch = c.Key, c.Betas, c.Prefix, c.Epoch
	l.start, l.begun, l.continues = c.Start, c.FirstByte, c.Continues
	l.tools, l.system, l.params, l.rules = c.tools, c.system, c.params, c.rules
	l.marks = append(l.marks[:0], c.Marks...)
	l.input = c.input
	l.left, l.guessed = c.leaves()
}

// extend makes c, which continues the line, its last request.
func (l *line) extend(c *call) {
	if n := len(l.history); n > 0 && l.left > 0 && n < len(c.Messages) {
		copy(l.stones[:], l.stones[1:])
		l.stones[len(l.stones)-1] = stone{n, l.left}
	}
	if c.Continues {
		l.history = nil // another line may have it
	}
	for i := len(l.history); i < len(c.Messages); i++ {
		l.history = append(l.history, stepOf(&c.Messages[i]))
	}
	l.take(c)
	l.settled = true
}

// branch is a new line for c, which has so many messages in common with l. The
// line that the next request is likely to continue owns the room behind its end.
func (l *line) branch(c *call, common int) *line {
	b := &line{}
	if common > len(c.Messages) || c.Continues {
		common = 0
	}
	if common == len(l.history) && common > 0 {
		b.history = l.history
		l.history = slices.Clip(l.history)
	} else {
		b.history = make([]step, common, len(c.Messages)+4)
		copy(b.history, l.history)
	}
	for i := common; i < len(c.Messages); i++ {
		b.history = append(b.history, stepOf(&c.Messages[i]))
	}
	for _, s := range l.stones {
		if s.messages <= common && s.left > 0 && l.sameHeader(c) {
			copy(b.stones[:], b.stones[1:])
			b.stones[len(b.stones)-1] = s
		}
	}
	b.take(c)
	return b
}

// stoneAt is the latest earlier end within so many messages.
func (l *line) stoneAt(messages int) (stone, bool) {
	for _, s := range slices.Backward(l.stones[:]) {
		if s.left > 0 && s.messages <= messages {
			return s, true
		}
	}
	return stone{}, false
}

// sameHeader reports whether all but the history is the same to the cache.
func (l *line) sameHeader(c *call) bool { return l.level(c) == sameLevel }

// A level is the first part of a request that differs, in the order in which a
// cache is keyed: whose it is, then what comes first in the prompt.
type level int

const (
	hostLevel level = iota
	accountLevel
	modelLevel
	keyLevel
	toolsLevel
	systemLevel
	parametersLevel
	prefixLevel
	sameLevel
)

func (l *line) level(c *call) level {
	switch {
	case l.host != c.Host:
		return hostLevel
	case l.account != c.Account:
		return accountLevel
	case l.model != c.Model || l.dialect != c.Dialect:
		return modelLevel
	case l.key != c.Key:
		return keyLevel
	case !l.tools.same(c.tools) && !l.marksHide(c, l.tools, c.tools, InTools):
		return toolsLevel
	case !l.system.same(c.system) && !l.marksHide(c, l.system, c.system, InSystem):
		return systemLevel
	case !l.params.same(c.params) && !l.params.hides(c.params):
		return parametersLevel
	case l.prefix != c.Prefix:
		return prefixLevel
	}
	return sameLevel
}

// hides reports whether two parts differ without it being known whether what
// differs reaches the cache.
func (p part) hides(q part) bool {
	return (p.unread || q.unread) && p.key.digest != Digest{} && q.key.digest != Digest{}
}

// marksHide reports whether two parts that differ may do so in their marks only:
// some were moved, and the texts are not at hand.
func (l *line) marksHide(c *call, was, is part, where Place) bool {
	return was.hides(is) && !sameMarks(l.marks, c.Marks, where)
}

func sameMarks(a, b []Mark, where Place) bool {
	in := func(m Mark) bool { return m.Section != where }
	return slices.Equal(slices.DeleteFunc(slices.Clone(a), in), slices.DeleteFunc(slices.Clone(b), in))
}
