package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/seed-9236c7ca/preface/logsink"
)

// How many sessions one answer lists.
const (
	defaultLines = 100
	mostLines    = 10_000
)

// A listing is the answer of /sessions.
type listing struct {
	Sessions []logsink.SessionInfo `json:"sessions"`
	More     bool                  `json:"more"` // there are more than n
}

func (p *pages) sessions(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	n, err := lines(q.Get("n"))
	if err != nil {
		text(w, http.StatusBadRequest, err.Error())
		return
	}
	l := listing{Sessions: []logsink.SessionInfo{}}
	err = p.Log.Sessions(r.Context(), q.Get("tenant"), q.Get("prefix"), func(s logsink.SessionInfo) bool {
		l.More = len(l.Sessions) == n
		if !l.More {
			l.Sessions = append(l.Sessions, s)
		}
		return !l.More
	})
	answer(w, l, err)
}

func lines(n string) (int, error) {
	if n == "" {
		return defaultLines, nil
	}
	i, err := strconv.Atoi(n)
	if err != nil || i < 1 || i > mostLines {
		return 0, fmt.Errorf("n is to be a number from 1 to %d", mostLines)
	}
	return i, nil
}

// A detail is the answer of /sessions/TENANT/SESSION.
type detail struct {
	logsink.Key
	Epochs []*logsink.Anchor `json:"epochs"`
}

func (p *pages) session(w http.ResponseWriter, r *http.Request) {
	k := logsink.Key{Tenant: r.PathValue("tenant"), Session: r.PathValue("session")}
	w.Header().Set("Vary", "Accept")
	if wantsPage(r) {
		http.Redirect(w, r, "/session?"+url.Values{"tenant": {k.Tenant}, "session": {k.Session}}.Encode(), http.StatusSeeOther)
		return
	}
	anchors, err := p.Log.Anchors(r.Context(), k)
	answer(w, detail{k, anchors}, err)
}

// answer writes v as JSON, or says why the log has none.
func answer(w http.ResponseWriter, v any, err error) {
	switch {
	case errors.Is(err, errAsked):
		text(w, http.StatusBadRequest, err.Error())
		return
	case errors.Is(err, logsink.ErrNoSession), errors.Is(err, errNotFound):
		text(w, http.StatusNotFound, err.Error())
		return
	case err != nil:
		text(w, http.StatusServiceUnavailable, "cannot read the header log: "+err.Error())
		return
	}
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic("BUG: a record is not JSON: " + err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(b, '\n')) // the caller may have left
}
