package admin

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
)

// A PrefixUse is one version of a prefix, and who uses it.
type PrefixUse struct {
	Hash     string    `json:"hash"`
	Routes   []string  `json:"routes"`
	Sessions int       `json:"sessions"`
	Active   int       `json:"active"` // with an answer in the last five minutes
	Requests int64     `json:"requests"`
	Priced   int64     `json:"priced"` // requests with a cost; the sums below are theirs
	Paid     int64     `json:"paid_pusd"`
	Lost     int64     `json:"lost_pusd"`
	First    time.Time `json:"first"` // oldest session that has it now
	Last     time.Time `json:"last"`

	sample logsink.Key // a session that has it
	epoch  int
}

// Prefixes are the versions in use.
type Prefixes struct {
	Prefixes []PrefixUse    `json:"prefixes"` // last used first
	Bare     map[string]int `json:"bare"`     // sessions without one, by reason
	Unknown  int            `json:"unknown"`  // sessions whose anchor was not looked up yet
	Known    int            `json:"known"`    // sessions that were looked at
}

// prefixes counts who uses which version now, from memory.
func (o *Overview) prefixes() Prefixes {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.now()
	p := Prefixes{Prefixes: []PrefixUse{}, Bare: map[string]int{}, Known: len(o.sessions.of)}
	uses := map[string]*PrefixUse{}
	for _, e := range o.sessions.of {
		switch {
		case e.resolved == 0:
			p.Unknown++
		case e.Prefix == "":
			p.Bare[e.Why]++
		default:
			u := uses[e.Prefix]
			if u == nil {
				u = &PrefixUse{Hash: e.Prefix, First: e.Since}
				uses[e.Prefix] = u
			}
			u.take(&e.Session, now)
		}
	}
	for _, u := range uses {
		slices.Sort(u.Routes)
		p.Prefixes = append(p.Prefixes, *u)
	}
	slices.SortFunc(p.Prefixes, func(a, b PrefixUse) int { return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Hash, b.Hash)) })
	return p
}

func (u *PrefixUse) take(s *Session, now time.Time) {
	u.Sessions++
	u.Requests += s.Requests
	u.Priced += s.Priced
	u.Paid += s.Paid
	u.Lost += s.Lost
	if now.Sub(s.Last) <= active {
		u.Active++
	}
	if s.Since.Before(u.First) {
		u.First = s.Since
	}
	if !s.Last.Before(u.Last) {
		u.Last, u.sample, u.epoch = s.Last, s.Key, s.resolved
	}
	if !slices.Contains(u.Routes, s.Route) && s.Route != "" && len(u.Routes) < 8 {
		u.Routes = append(u.Routes, s.Route)
	}
}

// prefixesShown bounds the page of prefixes, and the anchors that it reads.
const prefixesShown = 40

// A prefixesView is the page of prefixes.
type prefixesView struct {
	Frame frame
	Prefixes
	Shown []prefixLine
	Past  Past
}

// A prefixLine is one version with its contributors.
type prefixLine struct {
	PrefixUse
	Contributors []logsink.Contribution
	Config       string
	Why          string // why there are no contributors
}

func (p *pages) prefixList(w http.ResponseWriter, r *http.Request) {
	v := prefixesView{Frame: p.frame("Prefixes", "prefixes"), Prefixes: p.Overview.prefixes(), Past: p.Overview.pastNow()}
	v.Frame.Live, v.Frame.JSON = true, "/api/prefixes"
	for _, u := range v.Prefixes.Prefixes[:min(prefixesShown, len(v.Prefixes.Prefixes))] {
		line := prefixLine{PrefixUse: u}
		a, err := p.anchorOf(r.Context(), u)
		if err != nil {
			line.Why = err.Error()
		} else {
			line.Contributors, line.Config = a.Contributors, a.Config
		}
		v.Shown = append(v.Shown, line)
	}
	p.show(w, http.StatusOK, "prefixes.html", v)
}

// anchorOf reads an anchor that has the prefix.
func (p *pages) anchorOf(ctx context.Context, u PrefixUse) (*logsink.Anchor, error) {
	anchors, err := p.Log.Anchors(ctx, u.sample)
	if err != nil {
		return nil, err
	}
	for _, a := range slices.Backward(anchors) {
		if a.Prefix == u.Hash {
			return a, nil
		}
	}
	return nil, fmt.Errorf("%w: the session that had it has another by now", errNotFound)
}

// A prefixView is the page of one version.
type prefixView struct {
	Frame frame
	PrefixUse
	Anchor  *logsink.Anchor
	Against string   // the version that it is compared with
	Others  []string // versions that it may be compared with
	Changed []Line
	Drifts  []drift // contributors that differ
}

// A drift is a contributor that gave something else.
type drift struct{ Name, What string }

func (p *pages) prefixPage(w http.ResponseWriter, r *http.Request) {
	v, err := p.prefixOf(r.Context(), r.URL.Query())
	if err != nil {
		p.sorry(w, err)
		return
	}
	p.show(w, http.StatusOK, "prefix.html", v)
}

// prefixOf reads one version, and compares it with another: the one that is asked
// for, or the one whose sessions began last before its own.
func (p *pages) prefixOf(ctx context.Context, q url.Values) (*prefixView, error) {
	hash := q.Get("hash")
	all := p.Overview.prefixes().Prefixes
	at := slices.IndexFunc(all, func(u PrefixUse) bool { return u.Hash == hash || u.Hash == "sha256:"+hash })
	if at < 0 {
		return nil, fmt.Errorf("%w: no session that is known has such a prefix now", errNotFound)
	}
	v := &prefixView{Frame: p.frame("Prefix", "prefixes"), PrefixUse: all[at]}
	v.Frame.JSON = "/api/prefix?" + url.Values{"hash": {v.Hash}}.Encode()
	var err error
	if v.Anchor, err = p.anchorOf(ctx, v.PrefixUse); err != nil {
		return nil, err
	}
	other := against(all, v.PrefixUse, q.Get("against"))
	for _, u := range all[:min(prefixesShown, len(all))] {
		if u.Hash != v.Hash {
			v.Others = append(v.Others, u.Hash)
		}
	}
	if other == nil {
		return v, nil
	}
	before, err := p.anchorOf(ctx, *other)
	if err != nil {
		return nil, err
	}
	v.Against = other.Hash
	v.Changed = diff(linesOf(before.Messages), linesOf(v.Anchor.Messages))
	v.Drifts = drifts(before.Contributors, v.Anchor.Contributors)
	return v, nil
}

// against chooses what a version is compared with, or nil.
func against(all []PrefixUse, u PrefixUse, asked string) *PrefixUse {
	var best *PrefixUse
	for i := range all {
		o := &all[i]
		switch {
		case o.Hash == u.Hash:
		case asked != "" && o.Hash == asked:
			return o
		case o.First.Before(u.First) && (best == nil || o.First.After(best.First)):
			best = o
		}
	}
	return best
}

// drifts says which contributors gave something else than before.
func drifts(old, now []logsink.Contribution) []drift {
	var list []drift
	was := map[string]logsink.Contribution{}
	for _, c := range old {
		was[c.Name] = c
	}
	for _, c := range now {
		o, ok := was[c.Name]
		delete(was, c.Name)
		switch {
		case !ok:
			list = append(list, drift{c.Name, "is new"})
		case o.SHA256 != c.SHA256:
			list = append(list, drift{c.Name, fmt.Sprintf("gave %s bytes, before %s", grouped(int64(c.Bytes)), grouped(int64(o.Bytes)))})
		}
	}
	for _, c := range old {
		if _, ok := was[c.Name]; ok {
			list = append(list, drift{c.Name, "is gone"})
		}
	}
	return list
}

// An alarmsView is the page of alarms.
type alarmsView struct {
	Frame frame
	List  []Alarm
}

func (p *pages) alarmPage(w http.ResponseWriter, _ *http.Request) {
	v := alarmsView{Frame: p.frame("Alarms", "alarms"), List: p.Overview.alarmList()}
	v.Frame.Live, v.Frame.JSON = true, "/api/alarms"
	p.show(w, http.StatusOK, "alarms.html", v)
}

func splitLines(s string) []string { return strings.Split(s, "\n") }

func joinLines(lines []string) string { return strings.Join(lines, "\n") }
