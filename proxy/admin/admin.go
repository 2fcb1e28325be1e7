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
	// Loopback says that nobody but this machine can reach the listener: without
	// it, pages other than health and metrics take the token.
	Loopback bool
	// Token is asked for if it is not empty, also on loopback.
	Token string
}

// logTime bounds what one page asks of the log.
const logTime = 5 * time.Second

type pages struct {
	Deps
	streams streams
}

// New returns the handler of all pages.
func New(d Deps) http.Handler {
	if d.Overview == nil {
		d.Overview = newOverview(nil, time.Now)
	}
	p := &pages{Deps: d}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", p.health)
	mux.HandleFunc("GET /readyz", p.ready)
	mux.Handle("GET /metrics", d.Metrics)
	mux.HandleFunc("POST /-/reload", p.reload)
	mux.HandleFunc("GET /sessions/{tenant}/{session}", p.session)
	mux.HandleFunc("GET /{$}", either(p.overview, p.index))
	mux.HandleFunc("GET /sessions", either(p.sessionList, p.sessions))
	p.addPages(mux)
	p.addAPI(mux)
	return p.guard(http.NewCrossOriginProtection().Handler(p.access(mux)))
}

func (p *pages) addPages(mux *http.ServeMux) {
	mux.HandleFunc("GET /session", p.sessionPage)
	mux.HandleFunc("GET /request", p.requestPage)
	mux.HandleFunc("GET /header", p.headerPage)
	mux.HandleFunc("GET /prefixes", p.prefixList)
	mux.HandleFunc("GET /prefix", p.prefixPage)
	mux.HandleFunc("GET /alarms", p.alarmPage)
	mux.HandleFunc("GET /login", p.loginForm)
	mux.HandleFunc("POST /login", p.login)
	mux.HandleFunc("POST /logout", p.logout)
	mux.Handle("GET "+assetsPath, assets())
}

func (p *pages) addAPI(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/{$}", p.apiIndex)
	mux.HandleFunc("GET /api/overview", p.apiOverview)
	mux.HandleFunc("GET /api/sessions", p.apiSessions)
	mux.HandleFunc("GET /api/session", p.apiSession)
	mux.HandleFunc("GET /api/request", p.apiRequest)
	mux.HandleFunc("GET /api/prefixes", p.apiPrefixes)
	mux.HandleFunc("GET /api/prefix", p.apiPrefix)
	mux.HandleFunc("GET /api/alarms", p.apiAlarms)
	mux.HandleFunc("GET "+eventsPath, p.events)
}

// either gives browsers a page, and programs what they always got there.
func either(page, plain http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Accept")
		if wantsPage(r) {
			page(w, r)
			return
		}
		plain(w, r)
	}
}

// policy lets a page load our own assets alone, and post to us alone.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard refuses requests under a name that is not ours, and sets the headers
// that keep browsers from doing more with an answer than showing it.
func (p *pages) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", policy)
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !p.ours(r.Host) {
			text(w, http.StatusMisdirectedRequest, "this listener answers to an IP address, localhost or its configured name (setting admin)")
			return
		}
		if r.URL.Path == eventsPath { // it has bounds of its own
			next.ServeHTTP(w, r)
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
GET  /api/                        all that the pages show, as JSON
POST /-/reload                    load the configuration anew

In a browser, / and /sessions are pages.`)
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
