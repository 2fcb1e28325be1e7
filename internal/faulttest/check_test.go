package faulttest

import (
	"context"
	"errors"

	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/logsink"
)

// arrivals are the provider's exchanges by the id of the try that came in them,
// those that came in part included.
func (tr *trail) arrivals() map[string][]provider.Exchange {
	m := map[string][]provider.Exchange{}
	for _, e := range tr.st.up.Received() {
		if t := tr.tryOf(&e); t != nil {
			m[t.id] = append(m[t.id], e)
		}
	}
	return m
}

// checkArrivals is I9, and I8 as far as clients can see.
func (tr *trail) checkArrivals() {
	for id, list := range tr.arrivals() {
		if len(list) > 1 {
			tr.st.t.Errorf("I9: %s arrived %d times", id, len(list))
		}
	}
	for _, t := range tr.all(0) {
		if t.looksWhole() && !t.isWhole() {
			tr.st.t.Errorf("I8: the answer to %s ended cleanly and is not whole: %q", t.id, t.answer)
		}
	}
}

// checkDeath judges the log as a killed proxy left it, before anybody writes to
// it again: of whatever arrived, and be it the first half of a head, the anchor
// is there.
func (tr *trail) checkDeath(life int) {
	arrived := tr.arrivals()
	for _, t := range tr.all(life) {
		if len(arrived[t.id]) == 0 {
			continue
		}
		if _, err := tr.anchor(t.of.id); err != nil {
			tr.st.t.Errorf("I1: %s of session %s reached the provider: %v", t.id, t.of.id, err)
		}
	}
}

// checkEnd judges the log in the end: nothing that was ever in use is lost, it
// verifies, and what is missing of requests is what a crash may take.
func (tr *trail) checkEnd(lastLife int) {
	tr.st.settle() // what arrived is judged in the provider's handlers
	tr.checkArrivals()
	ctx := context.Background()
	r := tr.st.openLog()
	defer r.Close()
	keys, err := keysIn(ctx, r, "")
	if err != nil {
		tr.st.t.Errorf("I4: %v", err)
	}
	for session, slot := range tr.slotValues() {
		a, err := onlyAnchor(ctx, r, keys[session])
		if err == nil {
			err = carries(a, slot.bytes)
		}
		if err != nil {
			tr.st.t.Errorf("I4: session %s in the end: %v", session, err)
		}
	}
	tr.st.verify(true)
	tr.checkRecords(lastLife)
}

// checkRecords checks which request records a crash took. Records are written
// in the order they were made, so of one session in one process only the last
// ones may be missing; of the last life, which ended well, none.
func (tr *trail) checkRecords(lastLife int) {
	requests, responses := map[string]bool{}, map[string]bool{}
	for _, r := range tr.st.records() {
		if r.Request != nil {
			requests[r.Request.ID] = true
		}
		if r.Response != nil {
			responses[r.Response.ID] = true
		}
	}
	type place struct {
		session string
		proxy   *child
	}
	missing := map[place]string{}
	for _, t := range tr.all(0) {
		if t.requestID == "" || t.status != 200 { // refused: nothing was sent
			continue
		}
		at := place{t.of.id, t.via}
		switch there := requests[t.requestID]; {
		case !there && t.life == lastLife, t.life == lastLife && t.looksWhole() && !responses[t.requestID]:
			tr.st.t.Errorf("I4: %s has no record although its proxy ended well", t.id)
		case !there:
			missing[at] = t.id
		case missing[at] != "":
			tr.st.t.Errorf("I4: %s has a record, %s before it in session %s does not", t.id, missing[at], t.of.id)
		}
	}
}

// victims are the tries of a life that got no whole answer.
func (tr *trail) victims(life int) (list []victim) {
	arrived := tr.arrivals()
	for _, t := range tr.all(life) {
		if t.looksWhole() {
			continue
		}
		v := victim{try: t}
		if got := arrived[t.id]; len(got) > 0 {
			v.arrival = &got[0]
		}
		a, err := tr.anchor(t.of.id)
		if err != nil && !errors.Is(err, errNotLogged) {
			tr.st.t.Errorf("I4: %v", err)
		}
		v.anchor = a
		list = append(list, v)
	}
	return list
}

// A victim is a try whose proxy died, with what there is of it.
type victim struct {
	*try
	arrival *provider.Exchange // nil: nothing arrived
	anchor  *logsink.Anchor    // of its session; nil: there is none
}
