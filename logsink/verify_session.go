package logsink

import (
	"errors"
	"fmt"
)

// A sessionCheck is Verify's view of one session: what it has read of it so far.
type sessionCheck struct {
	v        *verifier
	key      Key
	anchors  map[int]*Anchor
	headers  map[string]*Header
	requests map[string]*Request // the last try of each
	seen     map[string]bool     // kind, id and attempt
}

// readAnchors reads and checks the anchors that were not seen yet.
func (s *sessionCheck) readAnchors() error {
	anchors, err := s.v.r.Anchors(s.v.ctx, s.key)
	if errors.Is(err, ErrCorrupt) {
		s.find(0, "", "its anchors cannot be read: %v", err)
		return nil
	}
	if err != nil && !errors.Is(err, ErrNoSession) {
		return err
	}
	for i, a := range anchors {
		if s.anchors[a.Epoch] != nil {
			continue
		}
		if err := s.anchor(a, i+1); err != nil {
			return err
		}
	}
	return nil
}

// anchorOf returns the anchor of an epoch or nil. The log may be written
// meanwhile, so that an epoch may have begun since anchors were read.
func (s *sessionCheck) anchorOf(epoch int) (*Anchor, error) {
	if a, known := s.anchors[epoch]; known {
		return a, nil
	}
	if err := s.readAnchors(); err != nil {
		return nil, err
	}
	a := s.anchors[epoch]
	s.anchors[epoch] = a // nil: asked once
	return a, nil
}

func (s *sessionCheck) find(epoch int, record, format string, args ...any) {
	s.v.sum.Findings++
	s.v.report(Finding{Key: s.key, Epoch: epoch, Record: record, What: fmt.Sprintf(format, args...)})
}

func (s *sessionCheck) gap(epoch int, record, format string, args ...any) {
	s.v.sum.Gaps++
	s.v.report(Finding{Key: s.key, Epoch: epoch, Record: record, What: fmt.Sprintf(format, args...), Gap: true})
}

func (s *sessionCheck) anchor(a *Anchor, want int) error {
	s.v.sum.Anchors++
	s.anchors[a.Epoch] = a
	find := func(format string, args ...any) { s.find(a.Epoch, "anchor", format, args...) }
	if a.Key != s.key {
		find("it belongs to another session or tenant")
	}
	if a.Epoch != want {
		find("it is the anchor after %d others: epochs count from 1", want-1)
	}
	switch a.Decision {
	case Bare:
		if a.Prefix != "" || len(a.Messages)+len(a.Renderings) > 0 {
			find("it is bare, yet has something to insert")
		}
		return nil
	case Inject:
		if got := PrefixHash(a.Messages); got != a.Prefix || got == "" {
			find("its prefix is %q, its messages give %q", a.Prefix, got)
		}
		return s.renderings(a, find)
	}
	find("no decision is %q", a.Decision)
	return nil
}

func (s *sessionCheck) renderings(a *Anchor, find func(string, ...any)) error {
	for i := range a.Renderings {
		r := &a.Renderings[i]
		fact, err := s.v.blob(r.Blob)
		switch {
		case err != nil:
			return err
		case fact.err != nil:
			find("the bytes of rendering %q cannot be had: %v", r.Name, fact.err)
		case fact.size != r.Size || fact.sha256 != r.SHA256:
			find("rendering %q has %d bytes with SHA-256 %s, not %d with %s", r.Name, fact.size, fact.sha256, r.Size, r.SHA256)
		case Sum(r.Bytes) != r.Blob:
			find("rendering %q is handed out with other bytes than are stored", r.Name)
		}
	}
	return nil
}

func (s *sessionCheck) record(r Record) error {
	h := r.head()
	name := string(h.kind) + " " + h.id
	if h.key != s.key {
		s.find(h.epoch, name, "it belongs to another session or tenant")
		return nil
	}
	if once := fmt.Sprintf("%s/%d", name, h.attempt); s.seen[once] {
		s.find(h.epoch, name, "it is there twice")
	} else {
		s.seen[once] = true
	}
	switch h.kind {
	case KindHeader:
		return s.header(r.Header, name)
	case KindRequest:
		return s.request(r.Request, name)
	case KindResponse:
		s.response(r.Response, name)
	}
	return nil
}

func (s *sessionCheck) header(h *Header, name string) error {
	s.v.sum.Headers++
	s.headers[h.ID] = h
	for i := range h.Parts {
		p := &h.Parts[i]
		if !p.Stored {
			continue
		}
		fact, err := s.v.blob(p.Digest)
		switch {
		case err != nil:
			return err
		case fact.err != nil:
			s.find(h.Epoch, name, "its part %q cannot be had: %v", p.Name, fact.err)
		case fact.size != p.Size:
			s.find(h.Epoch, name, "its part %q has %d bytes, not %d", p.Name, fact.size, p.Size)
		}
	}
	return nil
}

func (s *sessionCheck) request(q *Request, name string) error {
	s.v.sum.Requests++
	s.requests[q.ID] = q
	switch h := s.headers[q.Header]; {
	case q.Header == "":
		// A count in a thread that had no turn yet has none.
	case h == nil:
		s.gap(q.Epoch, name, "its header %q is not in the log before it", q.Header)
	case h.Thread != q.Thread:
		s.find(q.Epoch, name, "its header %q is of thread %q, not %q", q.Header, h.Thread, q.Thread)
	}
	a, err := s.anchorOf(q.Epoch)
	if err != nil {
		return err
	}
	s.decision(q, a, name)
	s.splices(q, a, name)
	return nil
}

// decision checks a request against its anchor.
func (s *sessionCheck) decision(q *Request, a *Anchor, name string) {
	prefixes := 0
	for i := range q.Splices {
		if q.Splices[i].Kind == "prefix" {
			prefixes++
		}
	}
	switch q.Decision {
	case Bare:
		if prefixes > 0 {
			s.find(q.Epoch, name, "it is bare, yet a prefix was inserted")
		}
		if q.Why == "" {
			s.find(q.Epoch, name, "it is bare and does not say why")
		}
		if a == nil {
			s.gap(q.Epoch, name, "its epoch has no anchor in the log")
		}
		return
	case Inject:
		s.v.sum.Injected++
	default:
		s.find(q.Epoch, name, "no decision is %q", q.Decision)
		return
	}
	switch {
	case a == nil:
		s.find(q.Epoch, name, "it carries a prefix, and its epoch has no anchor in the log")
	case !a.Injects():
		s.find(q.Epoch, name, "it carries a prefix, and its epoch is anchored bare (%s)", a.Why)
	case prefixes != 1:
		s.find(q.Epoch, name, "it carries a prefix, and %d were inserted", prefixes)
	}
}

// splices checks that the inserted ranges can be taken out of the body again,
// and that a prefix is a whole rendering.
func (s *sessionCheck) splices(q *Request, a *Anchor, name string) {
	end := 0
	for i := range q.Splices {
		sp := &q.Splices[i]
		if sp.Length <= 0 || sp.Offset < end || sp.Length > q.Size || sp.Offset > q.Size-sp.Length {
			s.find(q.Epoch, name, "splice %d of %d bytes at %d is not inside the body of %d bytes after the one before it", i+1, sp.Length, sp.Offset, q.Size)
			return
		}
		end = sp.Offset + sp.Length
		if sp.Kind == "prefix" && a != nil {
			s.prefix(q, sp, a, name)
		}
	}
}

func (s *sessionCheck) prefix(q *Request, sp *Splice, a *Anchor, name string) {
	for i := range a.Renderings {
		r := &a.Renderings[i]
		if r.Name != sp.Rendering {
			continue
		}
		if sp.From < 0 || r.Size > sp.Length || sp.From > sp.Length-r.Size {
			s.find(q.Epoch, name, "rendering %q of %d bytes is not inside the splice of %d bytes from %d", r.Name, r.Size, sp.Length, sp.From)
		}
		return
	}
	s.find(q.Epoch, name, "it carries rendering %q, which its anchor does not have", sp.Rendering)
}

func (s *sessionCheck) response(p *Response, name string) {
	s.v.sum.Responses++
	q := s.requests[p.ID]
	switch {
	case q == nil:
		s.gap(p.Epoch, name, "its request is not in the log before it")
	case q.Thread != p.Thread || q.Epoch != p.Epoch:
		s.find(p.Epoch, name, "its request is of epoch %d thread %q, not of %d %q", q.Epoch, q.Thread, p.Epoch, p.Thread)
	}
}
