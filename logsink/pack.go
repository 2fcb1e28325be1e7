package logsink

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
)

// A packer makes pages of records. The lines of all pages lie in one buffer and
// their entries in one array: pages that grow each their own copied every line
// three times, which took longer than to write it.
type packer struct {
	recs    []Record
	next    []int // of each record, the next one of its session; -1: none
	lines   []byte
	entries []entry
	pages   []*page
}

// lineGuess is the room for a record's line: a request and its response have
// some 600 bytes each.
const lineGuess = 640

// spareLines is a buffer of lines that nobody reads any more, or nil. A fresh one
// for each batch would have to be cleared, and its megabyte collected. One is
// enough, as a queue writes one batch at a time; a sync.Pool forgets it whenever
// its batches come on different processors or the collector runs between them.
var spareLines atomic.Pointer[[]byte]

// spareLinesMost bounds what is kept: the lines of a batch of the queue are much
// smaller, those of another caller need not be.
const spareLinesMost = 8 << 20

func takeLineBuffer() []byte {
	if b := spareLines.Swap(nil); b != nil {
		return *b
	}
	return nil
}

func giveLineBuffer(b []byte) {
	if cap(b) <= spareLinesMost {
		spareLines.Store(&b)
	}
}

// pack puts records into pages, in order. It keeps nothing of recs. The lines of
// all pages are in one buffer, which is buf if that is large enough.
func pack(recs []Record, buf []byte) (pages []*page, lines []byte, err error) {
	p := packer{recs: recs, next: make([]int, len(recs)), entries: make([]entry, 0, len(recs))}
	firsts, err := p.chain()
	if err != nil {
		return nil, nil, err
	}
	p.lines = slices.Grow(buf[:0], lineGuess*len(recs))
	for _, first := range firsts {
		p.pack(first)
	}
	return p.pages, p.lines, nil
}

// chain checks the records and fills next. It returns the first record of each
// session, in order.
func (p *packer) chain() (firsts []int, err error) {
	newest := map[Key]int{}
	for i := range p.recs {
		h := p.recs[i].head()
		if err := h.check(); err != nil {
			return nil, fmt.Errorf("cannot append %s record %q: %w", h.kind, h.id, err)
		}
		if before, ok := newest[h.key]; ok {
			p.next[before] = i
		} else {
			firsts = append(firsts, i)
		}
		newest[h.key] = i
		p.next[i] = -1
	}
	return firsts, nil
}

func (h *head) check() error {
	switch {
	case h.kind == "":
		return errors.New("it is none of the kinds")
	case h.kind == KindAnchor:
		return errors.New("anchors are stored by Freeze")
	case h.id == "":
		return errors.New("it has no id")
	}
	return h.key.check()
}

// pack makes the pages of one session.
func (p *packer) pack(first int) {
	var open *page
	for i := first; i >= 0; i = p.next[i] {
		h := p.recs[i].head()
		if open == nil || len(open.entries) == pageRecords || len(open.lines) > pageBytes {
			open = &page{key: keyOf(h.key), of: h.key}
			p.pages = append(p.pages, open)
		}
		p.add(open, p.recs[i], &h)
	}
}

// add adds a record to the page that was begun last: what that has is the end of
// lines and entries.
func (p *packer) add(to *page, r Record, h *head) {
	line, first := len(p.lines)-len(to.lines), len(p.entries)-len(to.entries)
	p.lines = append(r.AppendJSON(p.lines), '\n')
	to.lines = p.lines[line:]
	e := entry{id: idOf(to.key, h), epoch: h.epoch, kind: h.kind, end: len(to.lines), thread: hashThread(h.thread), time: nanos(h.time)}
	if q := r.Request; q != nil && q.Derived && q.Lineage != "" {
		id := lineageID(q.Tenant, q.Lineage)
		e.lineage = &id
	}
	switch {
	case r.Header != nil:
		e.blobs, e.header = storedParts(r.Header), r.Header.ID
	case r.Request != nil:
		e.header = r.Request.Header
	}
	p.entries = append(p.entries, e)
	to.entries = p.entries[first:]
}
