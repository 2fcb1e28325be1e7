package admin

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
)

// Deps are what the pages show and do.
type Deps struct {
	// Ready reports whether new requests are welcome: false while draining. A log
	// that is down does not make it false, since known sessions go on.
	Ready func() bool
	// Reload loads the configuration anew, all or nothing. The first line of its
	// error goes to the caller.
	Reload func() error
	// Metrics serves the metrics.
	Metrics http.Handler
	// Log is read for sessions.
	Log logsink.Reader
	// Overview is what this process has seen; nil is one that has seen nothing.
	Overview *Overview
	// Host is the name or address that the listener was configured with,
	// without a port.
	Host string
	// Version is shown on the index.
	Version string
}

// logTime bounds what one page asks of the log.
const logTime = 5 * time.Second

type pages struct{ Deps }

// New returns the handler of all pages.
func New(d Deps) http.Handler {
	if d.Overview == nil {
		d.Overview = newOverview(nil, time.Now)
	}
	p := &pages{d}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", p.index)
	mux.HandleFunc("GET /healthz", p.health)
	mux.HandleFunc("GET /readyz", p.ready)
	mux.Handle("GET /metrics", d.Metrics)
	mux.HandleFunc("POST /-/reload", p.reload)
	mux.HandleFunc("GET /sessions", p.sessions)
	mux.HandleFunc("GET /sessions/{tenant}/{session}", p.session)
	mux.HandleFunc("GET /api/overview", p.apiOverview)
	return p.guard(http.NewCrossOriginProtection().Handler(mux))
}

// guard refuses requests under a name that is not ours, and sets the headers
// that keep browsers from doing more with an answer than showing it.
func (p *pages) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Cache-Control", "no-store")
		if !p.ours(r.Host) {
			text(w, http.StatusMisdirectedRequest, "this listener answers to an IP address, localhost or its configured name (setting admin)")
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), logTime)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// ours reports whether a Host header names this listener. An IP address always
// does: a page that was rebound to us is under a name.
func (p *pages) ours(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	return net.ParseIP(host) != nil || strings.EqualFold(host, "localhost") || p.Host != "" && strings.EqualFold(host, p.Host)
}

func (p *pages) index(w http.ResponseWriter, _ *http.Request) {
	text(w, http.StatusOK, "Preface "+p.Version+`

GET  /healthz                     the process is alive
GET  /readyz                      new requests are welcome
GET  /metrics                     Prometheus metrics
GET  /sessions?tenant=&prefix=&n= sessions, newest first
GET  /sessions/TENANT/SESSION     one session: its epochs with their anchors
POST /-/reload                    load the configuration anew`)
}

func (p *pages) health(w http.ResponseWriter, _ *http.Request) { text(w, http.StatusOK, "ok") }

func (p *pages) ready(w http.ResponseWriter, _ *http.Request) {
	if !p.Ready() {
		text(w, http.StatusServiceUnavailable, "draining")
		return
	}
	text(w, http.StatusOK, "ready")
}

func (p *pages) reload(w http.ResponseWriter, _ *http.Request) {
	if err := p.Reload(); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		text(w, http.StatusUnprocessableEntity, "not reloaded, the old configuration stays: "+first)
		return
	}
	text(w, http.StatusOK, "reloaded")
}

func text(w http.ResponseWriter, status int, s string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, s+"\n") // the caller may have left
}
