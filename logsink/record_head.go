package logsink

import "time"

// head is what all kinds of record have in common. attempt tells the tries of
// one request apart: they share its id.
type head struct {
	kind    Kind
	id      string
	attempt int
	key     Key
	epoch   int
	thread  string
	time    time.Time
}

func (r Record) head() head {
	switch {
	case r.Request != nil:
		q := r.Request
		return head{KindRequest, q.ID, q.Attempt, q.Key, q.Epoch, q.Thread, q.Time}
	case r.Response != nil:
		p := r.Response
		return head{KindResponse, p.ID, 0, p.Key, p.Epoch, p.Thread, p.Time}
	case r.Header != nil:
		h := r.Header
		return head{KindHeader, h.ID, 0, h.Key, h.Epoch, h.Thread, h.Time}
	case r.Anchor != nil:
		a := r.Anchor
		return head{kind: KindAnchor, key: a.Key, epoch: a.Epoch, time: a.Time}
	}
	return head{}
}

// Kind says which of the pointers is set; it is "" if none is.
func (r Record) Kind() Kind { return r.head().kind }

// ID is the id that the record's maker chose; an anchor has none.
func (r Record) ID() string { return r.head().id }

// Of returns the session and epoch that the record belongs to.
func (r Record) Of() EpochRef {
	h := r.head()
	return EpochRef{h.key, h.epoch}
}

// Thread returns the thread that the record belongs to; an anchor has none.
func (r Record) Thread() string { return r.head().thread }

// Time is when the record was made, by its maker's clock.
func (r Record) Time() time.Time { return r.head().time }
