package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/explain"
)

// A requestView is the page of one request.
type requestView struct {
	Frame frame
	*Turn
	Key     logsink.Key
	Anchor  *logsink.Anchor
	Header  *logsink.Header
	Pieces  []piece
	Map     template.HTML
	Against *Turn // that the cause compares with
	Differs differences
	Prev    string // ids of the thread's neighbours
	Next    string
	Saved   int64
}

// A piece is a range of the body that was sent: the client's, or inserted.
type piece struct {
	From, To int
	Inserted bool
	Kind     string // of what was inserted
	Text     string // inserted bytes, as far as the log has them
	Whole    bool   // Text is all of them
}

func (p piece) Size() int { return p.To - p.From }

// Title says what the piece is.
func (p piece) Title() string {
	if p.Inserted {
		return fmt.Sprintf("bytes %s to %s: %s inserted (%s)", grouped(int64(p.From)), grouped(int64(p.To)), grouped(int64(p.Size())), shown(p.Kind))
	}
	return fmt.Sprintf("bytes %s to %s: %s of the client", grouped(int64(p.From)), grouped(int64(p.To)), grouped(int64(p.Size())))
}

// differences show the bytes that a cause is about.
type differences struct {
	*Place
	Part string
	Why  string // why they are not shown
}

func (p *pages) requestPage(w http.ResponseWriter, r *http.Request) {
	v, err := p.requestOf(r.Context(), r.URL.Query())
	if err != nil {
		p.sorry(w, err)
		return
	}
	p.show(w, http.StatusOK, "request.html", v)
}

// requestOf reads what there is of a request.
func (p *pages) requestOf(ctx context.Context, q url.Values) (*requestView, error) {
	k := keyOf(q)
	s, err := p.read(ctx, k)
	if err != nil {
		return nil, err
	}
	t, at := s.turn(q.Get("id"))
	if t == nil {
		return nil, fmt.Errorf("%w: the session has no request of that name in the log", errNotFound)
	}
	v := &requestView{Frame: p.frame("Request", "sessions"), Turn: t, Key: k, Anchor: s.anchor(t.Request.Epoch), Header: s.headers[t.Request.Header]}
	v.Frame.JSON = "/api/request?" + url.Values{"tenant": {k.Tenant}, "session": {k.Session}, "id": {t.Request.ID}}.Encode()
	v.Frame.Live = t.Response == nil
	v.Pieces = pieces(t.Request, v.Anchor)
	v.Map = bodyMap(t.Request.Size, v.Pieces)
	v.Prev, v.Next = neighbours(s, at)
	if t.Response != nil && t.Response.Cost != nil {
		v.Saved = t.Response.Cost.Uncached - t.Response.Cost.Paid
	}
	if t.Response != nil && t.Response.Cause != nil {
		v.Against, _ = s.turn(t.Response.Cause.Against)
		v.Differs = p.differs(ctx, s, t, v.Against)
	}
	return v, nil
}

// neighbours are the ids of the requests before and after one in its thread.
func neighbours(s *story, at int) (prev, next string) {
	for i := at - 1; i >= 0 && prev == ""; i-- {
		if s.Turns[i].Request.Thread == s.Turns[at].Request.Thread {
			prev = s.Turns[i].Request.ID
		}
	}
	for i := at + 1; i < len(s.Turns) && next == ""; i++ {
		if s.Turns[i].Request.Thread == s.Turns[at].Request.Thread {
			next = s.Turns[i].Request.ID
		}
	}
	return prev, next
}

// textShown bounds the inserted text on a page.
const textShown = 64 << 10

// pieces cut the body that was sent into what is the client's and what was
// inserted. A record that contradicts itself gives fewer.
func pieces(r *logsink.Request, a *logsink.Anchor) []piece {
	var list []piece
	at := 0
	for _, s := range r.Splices {
		if s.Offset < at || s.Length < 0 || s.Offset+s.Length > r.Size {
			break
		}
		if s.Offset > at {
			list = append(list, piece{From: at, To: s.Offset})
		}
		p := piece{From: s.Offset, To: s.Offset + s.Length, Inserted: true, Kind: s.Kind}
		if a != nil && s.Rendering != "" {
			b := a.Rendering(s.Rendering)
			p.Text, p.Whole = text8(b[:min(len(b), textShown)]), len(b) <= textShown
		}
		list = append(list, p)
		at = p.To
	}
	if at < r.Size {
		list = append(list, piece{From: at, To: r.Size})
	}
	return list
}

// differs finds the bytes that a cause is about, where the log has them.
func (p *pages) differs(ctx context.Context, s *story, t, against *Turn) differences {
	d := differences{Part: t.Response.Cause.Section}
	switch {
	case d.Part == "":
		return d
	case against == nil:
		d.Why = "the request that it is compared with is not in the log"
		return d
	}
	var old, now []byte
	var err error
	switch d.Part {
	case explain.SectionSystem, explain.SectionTools, explain.SectionParameters:
		old, now, err = p.bothParts(ctx, s, t, against, d.Part)
	case explain.SectionPrefix:
		old, now = rendered(s, against), rendered(s, t)
	case explain.SectionModel:
		old, now = []byte(against.Request.Model), []byte(t.Request.Model)
	default:
		err = errors.New("not in the log: the history, keys and header values are never stored, only their digests")
	}
	if err != nil {
		d.Why = err.Error()
		return d
	}
	if d.Place = part(old, now); d.Place == nil {
		d.Why = "what the log has of it is the same in both requests"
	}
	return d
}

func (p *pages) bothParts(ctx context.Context, s *story, t, against *Turn, name string) (old, now []byte, err error) {
	a, b := s.headers[against.Request.Header], s.headers[t.Request.Header]
	if a == nil || b == nil {
		return nil, nil, errors.New("a header snapshot is no longer in the log")
	}
	if old, err = p.stored(ctx, partOf(a, name)); err != nil {
		return nil, nil, err
	}
	now, err = p.stored(ctx, partOf(b, name))
	return old, now, err
}

// rendered are the prefix bytes that a request carried.
func rendered(s *story, t *Turn) []byte {
	a := s.anchor(t.Request.Epoch)
	if a == nil {
		return nil
	}
	for _, sp := range t.Request.Splices {
		if sp.Rendering != "" {
			return bytes.Clone(a.Rendering(sp.Rendering))
		}
	}
	return nil
}
