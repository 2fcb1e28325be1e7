package admin

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// What needs no token: it holds nothing of a session, and who asks for it can
// often not be given one.
var free = map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true, "/login": true}

const (
	cookieName = "preface_admin"
	cookieAge  = 12 * time.Hour
)

// access lets those in that may see sessions: everyone on a loopback listener
// without a token, else who has the token. A listener that others can reach and
// that has no token shows its health alone.
func (p *pages) access(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case free[r.URL.Path] || strings.HasPrefix(r.URL.Path, assetsPath), p.Token == "" && p.Loopback, p.admits(r):
			next.ServeHTTP(w, r)
		case p.Token == "":
			text(w, http.StatusForbidden, "only /healthz, /readyz and /metrics are served here: other hosts can reach this listener (setting admin), so it takes a token (setting admin_token)")
		case r.Method == http.MethodGet && wantsPage(r):
			http.Redirect(w, r, "/login?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
		default:
			w.Header().Set("WWW-Authenticate", `Bearer realm="preface"`)
			text(w, http.StatusUnauthorized, "the token is missing or wrong (setting admin_token): send it as Authorization: Bearer TOKEN, or open /login")
		}
	})
}

// admits reports whether a request brings the token, or the cookie of who gave it.
func (p *pages) admits(r *http.Request) bool {
	if p.Token == "" {
		return false
	}
	if scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		return p.isToken(strings.TrimSpace(token))
	}
	c, err := r.Cookie(cookieName)
	return err == nil && p.isCookie(c.Value)
}

// isToken takes the same time for every wrong token, whatever its length.
func (p *pages) isToken(s string) bool {
	got, want := sha256.Sum256([]byte(s)), sha256.Sum256([]byte(p.Token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// cookie is a moment and a proof that whoever made it knew the token, so that it
// outlives a restart and ends with the token.
func (p *pages) cookie(until time.Time) string {
	moment := strconv.FormatInt(until.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(p.Token))
	mac.Write([]byte("preface admin cookie until " + moment))
	return moment + "." + hex.EncodeToString(mac.Sum(nil))
}

func (p *pages) isCookie(value string) bool {
	moment, _, _ := strings.Cut(value, ".")
	unix, err := strconv.ParseInt(moment, 10, 64)
	if err != nil || !time.Now().Before(time.Unix(unix, 0)) {
		return false
	}
	return subtle.ConstantTimeCompare([]byte(value), []byte(p.cookie(time.Unix(unix, 0)))) == 1
}

// A loginView is the form that asks for the token.
type loginView struct {
	Frame frame
	Next  string
	Wrong bool
}

func (p *pages) loginForm(w http.ResponseWriter, r *http.Request) {
	p.askToken(w, http.StatusOK, ownPath(r.URL.Query().Get("next")), false)
}

// askToken shows the form, which says nothing of what is behind it.
func (p *pages) askToken(w http.ResponseWriter, status int, next string, wrong bool) {
	p.show(w, status, "login.html", loginView{Frame: frame{Title: "Sign in", Assets: assetsAt, Now: time.Now().UTC()}, Next: next, Wrong: wrong})
}

// mostForm bounds the body of a form.
const mostForm = 8 << 10

func (p *pages) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, mostForm)
	next := ownPath(r.PostFormValue("next"))
	if p.Token == "" || !p.isToken(r.PostFormValue("token")) {
		p.askToken(w, http.StatusUnauthorized, next, true)
		return
	}
	until := time.Now().Add(cookieAge)
	p.setCookie(w, r, p.cookie(until), until)
	http.Redirect(w, r, next, http.StatusSeeOther)
}

func (p *pages) logout(w http.ResponseWriter, r *http.Request) {
	p.setCookie(w, r, "", time.Unix(1, 0))
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

func (p *pages) setCookie(w http.ResponseWriter, r *http.Request, value string, until time.Time) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: value, Path: "/", Expires: until, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	})
}

// ownPath returns a path of this listener, "/" for what is none: a link must not
// lead from the form to somewhere else.
func ownPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsRune(next, '\\') {
		return "/"
	}
	return u.RequestURI()
}

// wantsPage reports whether a browser asks, which is to get a page where a
// program gets text or JSON.
func wantsPage(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }
