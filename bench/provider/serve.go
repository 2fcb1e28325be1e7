package provider

import "net/http"

func (p *Provider) serveHTTP(w http.ResponseWriter, r *http.Request) {
	e := tapOf(r.Context()).take()
	_ = e
	http.NotFound(w, r)
}
