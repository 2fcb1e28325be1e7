package admin

import "net/http"

func (p *pages) apiOverview(w http.ResponseWriter, _ *http.Request) { answer(w, p.summary(), nil) }

// summary is the overview with what it does not know by itself.
func (p *pages) summary() Summary {
	s := p.Overview.Summary()
	s.Version, s.Ready = p.Version, p.Ready()
	return s
}
