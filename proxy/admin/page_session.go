package admin

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/logsink"
)

// How much of a session one page shows.
const (
	turnsShown  = 100
	diffsShown  = 6 // snapshots of which the page shows what changed
	partCompare = 128 << 10
)

// A sessionView is the page of one session.
type sessionView struct {
	Frame         frame
	Key           logsink.Key
	Known         *Session // what the overview counts; nil if it has none
	Epochs        []epochView
	Snapshots     []snapshotView
	MoreSnapshots int
	Timeline      template.HTML
	Turns         []*Turn // newest first
	Total         int
	Cut           bool
	Thread        string
	Threads       []string
	Newer, Older  string
	From, To      int
}

// An epochView is one epoch with what differs from the one before.
type epochView struct {
	*logsink.Anchor
	Before  int // epoch that it is compared with; 0: none
	Changed []Line
}

// A snapshotView is one header with what differs from the one before in its
// thread.
type snapshotView struct {
	*logsink.Header
	Diffs []partDiff
}

// A partDiff is how one part of a header changed.
type partDiff struct {
	Name     string
	Old, New int // sizes
	Lines    []Line
	Why      string // why there are no lines
}

func (p *pages) sessionPage(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	k := keyOf(q)
	s, err := p.read(r.Context(), k)
	if err != nil {
		p.sorry(w, err)
		return
	}
	v := sessionView{Frame: p.frame("Session", "sessions"), Key: k, Known: p.Overview.session(k), Cut: s.Cut, Threads: s.threads(), Thread: q.Get("thread")}
	v.Frame.Live, v.Frame.JSON = true, "/api/session?"+url.Values{"tenant": {k.Tenant}, "session": {k.Session}}.Encode()
	v.Epochs = epochsOf(s)
	v.Snapshots, v.MoreSnapshots = p.snapshots(r.Context(), s)
	from, err := strconv.Atoi(q.Get("from"))
	if err != nil || from < 0 {
		from = 0
	}
	v.page(s, from)
	p.show(w, http.StatusOK, "session.html", v)
}

// page takes the turns of one page, the latest first; from counts back from the
// latest.
func (v *sessionView) page(s *story, from int) {
	turns := s.Turns
	if v.Thread != "" {
		turns = slices.DeleteFunc(slices.Clone(turns), func(t *Turn) bool { return t.Request.Thread != v.Thread })
	}
	v.Total = len(turns)
	end := max(0, len(turns)-from)
	turns = turns[max(0, end-turnsShown):end]
	v.Timeline = timeline(v.Key, turns)
	v.From, v.To = from, from+len(turns)
	v.Turns = slices.Clone(turns)
	slices.Reverse(v.Turns)
	link := func(from int) string {
		q := url.Values{"tenant": {v.Key.Tenant}, "session": {v.Key.Session}, "from": {strconv.Itoa(from)}}
		if v.Thread != "" {
			q.Set("thread", v.Thread)
		}
		return "/session?" + q.Encode()
	}
	if from > 0 {
		v.Newer = link(max(0, from-turnsShown))
	}
	if v.To < v.Total {
		v.Older = link(v.To)
	}
}

// session returns what is counted of a session, or nil.
func (o *Overview) session(k logsink.Key) *Session {
	o.mu.Lock()
	defer o.mu.Unlock()
	if e := o.sessions.of[k]; e != nil {
		s := e.Session
		return &s
	}
	return nil
}

// epochsOf lists the epochs, newest first.
func epochsOf(s *story) []epochView {
	var list []epochView
	var before *logsink.Anchor
	for _, a := range s.Anchors {
		e := epochView{Anchor: a}
		if before != nil {
			e.Before = before.Epoch
			e.Changed = diff(linesOf(before.Messages), linesOf(a.Messages))
		}
		list = append(list, e)
		before = a
	}
	slices.Reverse(list)
	return list
}

// linesOf writes messages as lines, each under a line with its role.
func linesOf(ms []logsink.Message) []string {
	var lines []string
	for _, m := range ms {
		lines = append(lines, "["+m.Role+"]")
		lines = append(lines, splitLines(legible.Visible(m.Text))...)
	}
	return lines
}

// snapshots are the headers, newest first, the latest of them with what changed.
func (p *pages) snapshots(ctx context.Context, s *story) (list []snapshotView, more int) {
	const most = 50
	for _, h := range slices.Backward(s.Headers) {
		if len(list) == most {
			return list, len(s.Headers) - most
		}
		v := snapshotView{Header: h}
		if before := s.before(h); before != nil && len(list) < diffsShown {
			v.Diffs = p.compareHeaders(ctx, before, h)
		}
		list = append(list, v)
	}
	return list, 0
}

// headerParts are the parts of a header, in the order of a request.
var headerParts = []string{"system", "tools", "parameters"}

func (p *pages) compareHeaders(ctx context.Context, old, now *logsink.Header) []partDiff {
	var list []partDiff
	for _, name := range headerParts {
		a, b := partOf(old, name), partOf(now, name)
		if a.Digest == b.Digest {
			continue
		}
		d := partDiff{Name: name, Old: a.Size, New: b.Size}
		was, err := p.stored(ctx, a)
		is, err2 := p.stored(ctx, b)
		switch err := errors.Join(err, err2); {
		case err != nil:
			d.Why = err.Error()
		case len(was) > partCompare || len(is) > partCompare:
			d.Why = "too long to be compared line by line"
			if place := part(was, is); place != nil {
				d.Lines = []Line{{"…", fmt.Sprintf("from byte %d on", place.Offset)}, {"-", place.Old}, {"+", place.New}}
				d.Why = ""
			}
		default:
			d.Lines = diff(readable(name, was), readable(name, is))
		}
		list = append(list, d)
	}
	return list
}

// partOf returns a part of a header, the zero one if it has none.
func partOf(h *logsink.Header, name string) logsink.Part {
	for _, p := range h.Parts {
		if p.Name == name {
			return p
		}
	}
	return logsink.Part{Name: name}
}

var errNotStored = errors.New("not in the log: the route's capture level keeps its digest alone (setting capture)")

// stored returns the bytes of a part, nil for one that is not there.
func (p *pages) stored(ctx context.Context, part logsink.Part) ([]byte, error) {
	switch {
	case part.Size == 0:
		return nil, nil
	case !part.Stored:
		return nil, errNotStored
	}
	return p.Log.ReadBlob(ctx, part.Digest)
}

// A headerView is the page of one header snapshot.
type headerView struct {
	Frame  frame
	Header *logsink.Header
	Parts  []partView
	Before *logsink.Header
	Diffs  []partDiff
}

type partView struct {
	logsink.Part
	Text string
	Why  string // why there is no text
}

func (p *pages) headerPage(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s, err := p.read(r.Context(), keyOf(q))
	if err != nil {
		p.sorry(w, err)
		return
	}
	h := s.headers[q.Get("id")]
	if h == nil {
		p.sorry(w, fmt.Errorf("%w: the session has no header snapshot of that name in the log", errNotFound))
		return
	}
	v := headerView{Frame: p.frame("Header snapshot", "sessions"), Header: h}
	for _, name := range headerParts {
		part := partOf(h, name)
		if part.Size == 0 {
			continue
		}
		pv := partView{Part: part}
		b, err := p.stored(r.Context(), part)
		if err != nil {
			pv.Why = err.Error()
		} else {
			pv.Text = joinLines(readable(name, b))
		}
		v.Parts = append(v.Parts, pv)
	}
	if v.Before = s.before(h); v.Before != nil {
		v.Diffs = p.compareHeaders(r.Context(), v.Before, h)
	}
	p.show(w, http.StatusOK, "header.html", v)
}

func sortNewest[T any](list []T, at func(*T) time.Time) {
	slices.SortStableFunc(list, func(a, b T) int { return at(&b).Compare(at(&a)) })
}
