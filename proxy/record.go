package proxy

import (
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/explain"
	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
	"github.com/seed-9236c7ca/preface/proxy/internal/lineage"
)

// sent is what is kept of a request for the record of its answer, and for
// telling identity how it ended. It refers to nothing of the request.
type sent struct {
	request  *logsink.Request // the log's too: never changed
	history  []lineage.Point
	call     *explain.Request // as it is compared with others, nil if it is not
	before   int              // bytes of the prompt before the prefix
	line     string           // the thread as explain knows it
	question *question        // for the provider's verdict, nil if there is none
	lifetime string           // of cache writes, as asked for by the last mark that says
}

// record describes the request in the log before it leaves. With
// log.requests: async it is queued, and a crash may lose the last 100 ms.
func (x *exchange) record() error {
	room := new(struct { // one piece: all of it lives as long
		request logsink.Request
		splices [2]logsink.Splice
	})
	r := &room.request
	*r = logsink.Request{
		V: logsink.Version, ID: x.id, Key: x.key(), Epoch: x.epoch.Number, Thread: x.ident.Thread,
		Attempt: 1, Dialect: x.dialect.Name(), Route: x.route.Name, Path: x.path,
		Model: string(x.facts.Model), Class: x.class(), Stream: x.facts.Stream,
		Decision: logsink.Inject, Why: x.plan.why,
		Messages: len(x.facts.History), Splices: x.plan.recordSplices(room.splices[:0]),
		Marks: x.facts.Marks, Time: x.start.UTC(), Derived: x.ident.Derived,
	}
	if !x.plan.inject {
		r.Decision = logsink.Bare
	}
	body, m := x.digest()
	r.Body, r.Size = body, x.outSize()
	x.remember(body, m)
	if n := len(x.facts.History); n > 0 {
		r.Lineage = x.facts.History[n-1].String()
	}
	x.sent.request = r
	if err := x.takeNumber(r); err != nil {
		return err
	}
	x.outlined(r)
	_, err := x.put(logsink.Record{Request: r})
	return err
}

// takeNumber makes the request the thread's next one and, if its header changed,
// writes the new one. Requests of one thread do so one after the other: none may
// refer to a header that is not its own, or not in the log before it. If the log
// does not take the header, the request refers to none.
func (x *exchange) takeNumber(r *logsink.Request) error {
	x.thread.order.Lock()
	defer x.thread.order.Unlock()
	header, blobs := x.snapshot()
	r.Number, r.Header = x.advance(header)
	x.sent.line = x.thread.lineOf(r)
	if header == nil {
		return nil
	}
	stored, err := x.put(logsink.Record{Header: header}, blobs...)
	if !stored {
		r.Header = ""
		x.thread.loseHeader()
	}
	return err
}

// loseHeader forgets a header that did not get into the log, so that the thread's
// next request writes its own.
func (t *thread) loseHeader() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.header = ""
}

// advance moves the thread on by this request and returns its number and the
// header in force.
func (x *exchange) advance(header *logsink.Header) (number int64, id string) {
	t := x.thread
	t.mu.Lock()
	defer t.mu.Unlock()
	t.number++
	t.began = t.began || x.class() == classTurn && !x.facts.Side
	if n := len(x.facts.History); n > 0 && x.endpoint != dialect.Count {
		t.last = x.facts.History[n-1]
	}
	if header != nil {
		t.header = header.ID
	}
	return t.number, t.header
}

// put queues a record or, if the log is so configured, writes it durably. It
// reports whether the log has it, or will; if not, the error says whether the
// request may go on all the same.
func (x *exchange) put(rec logsink.Record, blobs ...logsink.Blob) (stored bool, err error) {
	if !x.s.sync {
		return x.s.queue.Put(rec, blobs...), nil // what it has no room for, it counts
	}
	err = x.s.logs.putSync(x.life, x.s.queue, rec, blobs)
	stored = err == nil
	if !stored && x.route.Policy == Enforced {
		return false, x.unlogged(err)
	}
	return stored, nil
}

// Classes of requests in the log.
const (
	classTurn    = "turn"
	classSide    = "side"
	classCompact = "compact"
	classCount   = "count" // counts tokens, and is no model call
)

// class tells requests apart in the log.
func (x *exchange) class() string {
	switch {
	case x.endpoint == dialect.Count:
		return classCount
	case x.endpoint == dialect.Compact:
		return classCompact
	case x.plan.why == whySide:
		return classSide
	}
	return classTurn
}

var partNames = [3]string{"system", "tools", "parameters"}

// snapshot makes the header record that this request needs: the thread's first,
// or one for a change. Parts are compared by a fast hash that only finds; the
// record has their cryptographic digests. Counts have no header of their own.
func (x *exchange) snapshot() (*logsink.Header, []logsink.Blob) {
	if x.endpoint == dialect.Count {
		return nil, nil
	}
	spans := partsOf(&x.facts)
	var points [3]lineage.Point
	for i := range spans {
		points[i] = pointOf(x.body, spans[i])
	}
	reason, changed, old := x.thread.changes(points, x.epoch.Reason)
	if x.facts.Outlined {
		x.sent.call = callOf(&x.facts, points)
	}
	if reason == "" {
		return nil, nil
	}
	h, blobs := x.header(spans)
	h.Reason, h.Changed = reason, changed
	if old != nil {
		if h.Changed = differences(old, h.Parts); h.Changed == nil {
			return nil, nil
		}
	}
	return h, blobs
}

// header makes a header record and the blobs that it refers to.
func (x *exchange) header(spans [3][]jsonspan.Span) (*logsink.Header, []logsink.Blob) {
	h := &logsink.Header{
		V: logsink.Version, ID: newID(x.start), Key: x.key(), Epoch: x.epoch.Number, Thread: x.ident.Thread,
		Model: string(x.facts.Model), Time: x.start.UTC(),
	}
	var blobs []logsink.Blob
	for i, name := range partNames {
		if len(spans[i]) == 0 {
			continue
		}
		b := joined(x.body, spans[i])
		part := logsink.Part{Name: name, Digest: logsink.Sum(b), Size: len(b), Stored: x.route.Capture == CaptureHeader}
		h.Parts = append(h.Parts, part)
		if part.Stored {
			blobs = append(blobs, logsink.Blob{Digest: part.Digest, Bytes: b})
			x.sent.quote(i, b, spans[i])
		}
	}
	return h, blobs
}

// changes compares a request's parts with the header in force, makes them the
// ones in force, and says why a snapshot is due, if one is. For a thread that
// was read from the log it cannot tell: old is then what the log has.
func (t *thread) changes(points [3]lineage.Point, first string) (reason string, changed []string, old []logsink.Part) {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.parts
	t.parts = points
	switch {
	case t.header == "":
		return first, nil, nil
	case t.old != nil:
		old, t.old = t.old, nil
		return logsink.ReasonChange, nil, old
	}
	for i := range points {
		if points[i] != was[i] {
			changed = append(changed, partNames[i])
		}
	}
	if changed == nil {
		return "", nil, nil
	}
	return logsink.ReasonChange, changed, nil
}

// differences names the parts that are not the same in both.
func differences(a, b []logsink.Part) []string {
	var names []string
	for _, name := range partNames {
		if partOf(a, name) != partOf(b, name) {
			names = append(names, name)
		}
	}
	return names
}

func partOf(parts []logsink.Part, name string) logsink.Digest {
	for _, p := range parts {
		if p.Name == name {
			return p.Digest
		}
	}
	return logsink.Digest{}
}
