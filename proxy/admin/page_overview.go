package admin

import (
	"html/template"
	"net/http"
	"time"
)

// An overviewView is the first page.
type overviewView struct {
	Frame frame
	Summary
	Span   string // hour or days
	By     string
	Shown  Group // of the span
	Causes template.HTML
	Tokens template.HTML
	NoMiss bool
	Quiet  bool // no request at all
	Misses []Miss
}

// misses shown on the first page.
const missesShown = 8

func (p *pages) overview(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v := overviewView{Frame: p.frame("Overview", "overview"), Summary: p.summary(), Span: "hour", By: byRequests}
	v.Frame.Live, v.Frame.JSON = true, "/api/overview"
	if q.Get("span") == "days" {
		v.Span = "days"
	}
	if by := q.Get("by"); by == byTokens || by == byMoney {
		v.By = by
	}
	list, step := v.Minutes, time.Minute
	if v.Span == "days" {
		list, step = v.Summary.Hours, time.Hour
	}
	v.Shown = together(list)
	v.NoMiss, v.Quiet = len(v.Shown.Causes) == 0, v.Shown.Requests == 0
	if c := causeChart(list, step, v.By); !c.empty() {
		v.Causes = c.HTML()
	}
	if c := tokenChart(list, step); !c.empty() {
		v.Tokens = c.HTML()
	}
	v.Misses = v.Summary.Misses[:min(missesShown, len(v.Summary.Misses))]
	p.show(w, http.StatusOK, "overview.html", v)
}

// together is the sum of some steps.
func together(list []Step) Group {
	var s Sums
	for i := range list {
		s.plus(&list[i].Sums)
	}
	return groupOf(s)
}
