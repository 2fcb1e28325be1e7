package economics

import (
	"time"

	"github.com/seed-9236c7ca/preface/bench/trace"
)

// A plan is what happens to sessions beside what the trace says.
type plan struct {
	change                      Change
	resumes, compactions, forks float64
	signed                      bool
	warm, shared                float64
	stretch                     float64 // times between requests are so many times as long
	keepalive                   int
	margin                      time.Duration
	subagents                   float64
	subagentInput               int64
	burst                       int
	hold                        bool
	marks                       Marks
	capacity                    int64
	seed                        uint64
}

func (o Options) plan() plan {
	return plan{
		change: o.Change, resumes: o.Resumes, compactions: o.Compactions, forks: o.Forks, signed: o.SignedHistory,
		warm: o.Warm, shared: max(o.Shared, 0), stretch: 1, keepalive: o.Keepalive, margin: o.KeepaliveMargin,
		subagents: o.Subagents, subagentInput: o.SubagentInput, burst: o.Burst, hold: o.BurstHold, marks: o.Marks, capacity: o.Capacity, seed: o.Seed,
	}
}

// A prompt is a request of the trace, as all cells see it.
type prompt struct {
	*trace.Request
	seq      int32    // of the request in its scope
	scope    uint64   // number of the scope
	steps    []step   // what of it was touched, and by which request
	head     int64    // tokens of tools and system
	toolsEnd int32    // the request that last touched the block before the end of the tools,
	headEnd  int32    // and the one before the end of the system prompt
	begunAt  int32    // the latest request that had this tools and system, and was begun
	begun    bool     // its history begins with what the session's did
	turn     bool     // it answers the user
	path     []ending // where earlier requests ended on its way
	lastAt   time.Duration
	lastIn   int64 // input of the request before it in the scope
}

// A lane is what one rhythm of composing last composed in a scope.
type lane struct {
	text     int64 // number of the text
	since    int32 // first request that had it
	composed bool  // at this request
}

// A scene is one plan, and the cells that are simulated under it.
type scene struct {
	plan  plan
	cells []*cell
	held  *scene     // the same with bursts held, if that is compared
	gaps  []gapCount // what of the trace's pauses is to be told

	// The rest is the scope's at the request being played.
	horizons []horizon // one for each lifetime of its cells
	alive    []int32   // by horizon: first request whose touches are alive
	warm     []int64   // by horizon: tokens that are
	bridged  []int64   // by horizon: keepalives sent since the request before
	lanes    [eachRequest + 1]lane
	text     int64 // in force now
	texts    int64 // changes of it in all scopes
	history  int32 // first request since the history was last replaced
	shared   bool  // the scope's opener is that of others
}

// A gapCount counts the pauses between requests that are longer than some time.
type gapCount struct {
	over    time.Duration
	n, long int64
}

func (g *gapCount) add(gap time.Duration) {
	g.n++
	if gap > g.over {
		g.long++
	}
}

func (g *gapCount) share() float64 { return ratio(g.long, g.n) }

// horizonOf finds or adds a lifetime.
func (s *scene) horizonOf(lifetime time.Duration) int {
	for i := range s.horizons {
		if s.horizons[i].lifetime == lifetime {
			return i
		}
	}
	s.horizons = append(s.horizons, horizon{lifetime: lifetime})
	s.alive, s.warm, s.bridged = append(s.alive, 0), append(s.warm, 0), append(s.bridged, 0)
	return len(s.horizons) - 1
}

// begin forgets the scope before.
func (s *scene) begin(p *prompt) {
	for i := range s.horizons {
		s.horizons[i].first = 0
	}
	s.lanes, s.history = [eachRequest + 1]lane{}, 0
	s.text = s.textAt(p)
	s.shared = s.falls(p, eventShared, s.plan.shared)
}

// play lets all cells count a request.
func (s *scene) play(p *prompt, a *ages) {
	s.compose(p)
	for i := range s.horizons {
		s.look(i, p, a)
	}
	for i := range s.gaps {
		if p.seq > 0 {
			s.gaps[i].add(p.At - p.lastAt)
		}
	}
	for _, c := range s.cells {
		c.count(p, s)
	}
}

// compose lets each rhythm compose if it is its moment.
func (s *scene) compose(p *prompt) {
	if now := s.textAt(p); now != s.text {
		s.text = now
		s.texts++
	}
	if p.seq > 0 && s.falls(p, eventCompaction, s.plan.compactions) {
		s.history = p.seq
	}
	restarts := s.falls(p, eventResume, s.plan.resumes) || s.falls(p, eventFork, s.plan.forks)
	for i := range s.lanes {
		first := p.seq == 0
		switch moment(i) {
		case atStart:
			first = first || restarts && !s.plan.signed
		case eachTurn:
			first = first || p.turn
		case eachRequest:
			first = true
		}
		s.lanes[i].compose(first, s.text, p.seq)
	}
}

func (l *lane) compose(now bool, text int64, seq int32) {
	l.composed = now
	if now && (text != l.text || seq == 0) {
		l.text, l.since = text, seq
	}
}

// textAt is the number of the text in force. Scopes begin at any time between
// two changes.
func (s *scene) textAt(p *prompt) int64 {
	every := s.plan.change.Every
	switch s.plan.change.Kind {
	case ChangeNever:
		return 0
	case ChangeEachRequest:
		return int64(p.seq)
	case ChangeMidnight:
		every = 24 * time.Hour
	}
	offset := time.Duration(float64(every) * s.plan.share(p.scope, 0, eventOffset))
	return int64((offset + time.Duration(float64(p.At)*s.plan.stretch)) / every)
}

// look finds what is alive under a lifetime.
func (s *scene) look(i int, p *prompt, a *ages) {
	h := &s.horizons[i]
	s.alive[i] = h.move(a.times, p.At)
	s.bridged[i] = 0
	if s.plan.keepalive > 0 && p.seq > 0 && h.lifetime > 0 {
		s.keepAlive(i, p)
	}
	s.warm[i] = warm(p.steps, s.alive[i])
}

// keepAlive counts the keepalives since the request before, and whether they
// kept its entries until this one.
func (s *scene) keepAlive(i int, p *prompt) {
	every := s.horizons[i].lifetime - time.Duration(float64(s.plan.margin)/s.plan.stretch)
	gap := p.At - p.lastAt
	s.bridged[i] = min(int64(gap/every), int64(s.plan.keepalive))
	if gap <= time.Duration(s.bridged[i])*every+s.horizons[i].lifetime {
		s.alive[i] = min(s.alive[i], p.seq-1)
	}
}
