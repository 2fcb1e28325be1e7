package admin

import (
	"net/http"
	"strconv"

	"github.com/seed-9236c7ca/preface/logsink"
)

func (p *pages) apiIndex(w http.ResponseWriter, r *http.Request) {
	if wantsPage(r) {
		p.show(w, http.StatusOK, "api.html", struct {
			Frame frame
			Paths []apiPath
		}{p.frame("API", "api"), apiPaths})
		return
	}
	answer(w, struct {
		Version string    `json:"version"`
		Paths   []apiPath `json:"paths"`
	}{p.Version, apiPaths}, nil)
}

// An apiPath documents one path of the API.
type apiPath struct {
	Path  string `json:"path"`
	Gives string `json:"gives"`
	Query string `json:"query,omitempty"`
	Open  bool   `json:"-"` // answers without a query, and ends
}

var apiPaths = []apiPath{
	{"/api/overview", "sums since the beginning, of the last hour and day, and for each minute and hour; hit rates by their denominators; causes; models; active sessions; costliest misses", "", true},
	{"/api/sessions", "sessions that this process knows, with what they cost", "q (in the name, model; beginning of the tenant), route, cause, decision, prefix; sort (last, since, requests, input, hit, paid, saved, lost, misses), order=up; from, n (up to 1000)", true},
	{"/api/session", "one session from the log: epochs with their anchors, header snapshots, requests with their answers", "tenant, session; from (counted back from the latest), n (up to 1000)", false},
	{"/api/request", "one request with its answer, anchor, header snapshot, pieces of the body and, of its cause, the bytes that differ", "tenant, session, id", false},
	{"/api/prefixes", "versions of prefixes that sessions have now, and who uses them", "", true},
	{"/api/prefix", "one version: its anchor, what differs from another", "hash, against", false},
	{"/api/alarms", "alarms of this process, newest first", "", true},
	{"/api/events", "server-sent events: change, with the version of what was observed, at first and when it is another", "", false},
}

func (p *pages) apiOverview(w http.ResponseWriter, _ *http.Request) { answer(w, p.summary(), nil) }

// summary is the overview with what it does not know by itself.
func (p *pages) summary() Summary {
	s := p.Overview.Summary()
	s.Version, s.Ready = p.Version, p.Ready()
	return s
}

func (p *pages) apiSessions(w http.ResponseWriter, r *http.Request) {
	q, err := parseQuery(r.URL.Query())
	if err != nil {
		answer(w, nil, err)
		return
	}
	answer(w, p.Overview.find(q), nil)
}

// A sessionAnswer is the answer of /api/session.
type sessionAnswer struct {
	logsink.Key
	Known   *Session          `json:"observed"`
	Epochs  []*logsink.Anchor `json:"epochs"`
	Headers []*logsink.Header `json:"headers"`
	Turns   []*Turn           `json:"requests"` // oldest first
	Total   int               `json:"total"`
}

func (p *pages) apiSession(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s, err := p.read(r.Context(), keyOf(q))
	if err != nil {
		answer(w, nil, err)
		return
	}
	from, err := number(q.Get("from"), 0, storyMost)
	if err != nil {
		answer(w, nil, err)
		return
	}
	most, err := number(q.Get("n"), turnsShown, 1000)
	if err != nil {
		answer(w, nil, err)
		return
	}
	end := max(0, len(s.Turns)-from)
	answer(w, sessionAnswer{s.Key, p.Overview.session(s.Key), s.Anchors, s.Headers, s.Turns[max(0, end-most):end], len(s.Turns)}, nil)
}

// number reads a number of a query.
func number(s string, missing, most int) (int, error) {
	if s == "" {
		return missing, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > most {
		return 0, errAsked
	}
	return n, nil
}

// A requestAnswer is the answer of /api/request.
type requestAnswer struct {
	Turn
	Anchor  *logsink.Anchor `json:"anchor,omitempty"`
	Header  *logsink.Header `json:"header,omitempty"`
	Pieces  []pieceAnswer   `json:"pieces"`
	Against string          `json:"against,omitempty"`
	Differs *Place          `json:"differs,omitempty"`
	Why     string          `json:"differs_not_shown,omitempty"`
}

type pieceAnswer struct {
	From     int    `json:"from"`
	To       int    `json:"to"`
	Inserted string `json:"inserted,omitempty"` // its kind
}

func (p *pages) apiRequest(w http.ResponseWriter, r *http.Request) {
	v, err := p.requestOf(r.Context(), r.URL.Query())
	if err != nil {
		answer(w, nil, err)
		return
	}
	a := requestAnswer{Turn: *v.Turn, Anchor: v.Anchor, Header: v.Header, Pieces: []pieceAnswer{}, Differs: v.Differs.Place, Why: v.Differs.Why}
	for _, p := range v.Pieces {
		a.Pieces = append(a.Pieces, pieceAnswer{p.From, p.To, p.Kind})
	}
	if v.Against != nil {
		a.Against = v.Against.Request.ID
	}
	answer(w, a, nil)
}

func (p *pages) apiPrefixes(w http.ResponseWriter, _ *http.Request) {
	answer(w, p.Overview.prefixes(), nil)
}

func (p *pages) apiPrefix(w http.ResponseWriter, r *http.Request) {
	v, err := p.prefixOf(r.Context(), r.URL.Query())
	if err != nil {
		answer(w, nil, err)
		return
	}
	answer(w, struct {
		PrefixUse
		Anchor  *logsink.Anchor `json:"anchor"`
		Against string          `json:"against,omitempty"`
		Changed []Line          `json:"changed,omitempty"`
	}{v.PrefixUse, v.Anchor, v.Against, v.Changed}, nil)
}

func (p *pages) apiAlarms(w http.ResponseWriter, _ *http.Request) {
	answer(w, struct {
		Alarms []Alarm `json:"alarms"`
	}{p.Overview.alarmList()}, nil)
}
