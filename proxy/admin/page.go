package admin

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/logsink"
)

//go:embed pages/*.html
var pageFiles embed.FS

//go:embed assets/*
var assetFiles embed.FS

// assetsPath begins the paths of assets. A hash of them all follows, so that
// browsers may keep them for ever.
const assetsPath = "/assets/"

// assetsAt is where this build's assets are.
var assetsAt = func() string {
	sum := sha256.New()
	_ = fs.WalkDir(assetFiles, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			b, _ := assetFiles.ReadFile(path) // it is there
			sum.Write(b)
		}
		return err
	})
	return assetsPath + hex.EncodeToString(sum.Sum(nil)[:6]) + "/"
}()

func assets() http.Handler {
	sub, err := fs.Sub(assetFiles, "assets")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	files := http.StripPrefix(assetsAt, http.FileServerFS(sub))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		files.ServeHTTP(w, r)
	})
}

// templates are each page with the frame around it.
var templates = func() map[string]*template.Template {
	list := map[string]*template.Template{}
	names, err := fs.Glob(pageFiles, "pages/*.html")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	for _, name := range names {
		base := strings.TrimPrefix(name, "pages/")
		if base == "frame.html" {
			continue
		}
		t := template.New("frame.html").Funcs(showing)
		list[base] = template.Must(t.ParseFS(pageFiles, "pages/frame.html", name))
	}
	return list
}()

// showing are the functions that templates show values by.
var showing = template.FuncMap{
	"usd": usd, "priced": priced, "tok": grouped, "brief": brief, "percent": percent, "stamp": stamp, "clock": clock, "ago": ago,
	"took": took, "shown": shown, "short": short, "phrase": phrase, "visible": legible.Visible, "cut": cut,
	"plural": legible.Plural[int], "writes": written,
	"add":   func(a, b int) int { return a + b },
	"sum":   func(a, b, c int64) int64 { return a + b + c },
	"tok64": func(n int) string { return grouped(int64(n)) },
	"sessionLink": func(k logsink.Key) string {
		return "/session?" + url.Values{"tenant": {k.Tenant}, "session": {k.Session}}.Encode()
	},
	"requestLink": func(k logsink.Key, id string) string {
		return "/request?" + url.Values{"tenant": {k.Tenant}, "session": {k.Session}, "id": {id}}.Encode()
	},
	"headerLink": func(k logsink.Key, id string) string {
		return "/header?" + url.Values{"tenant": {k.Tenant}, "session": {k.Session}, "id": {id}}.Encode()
	},
	"prefixLink": func(hash string) string { return "/prefix?" + url.Values{"hash": {hash}}.Encode() },
	"num": func(n *int64) string {
		if n == nil {
			return "–"
		}
		return grouped(*n)
	},
	"place": func(n *int) string {
		if n == nil {
			return "–"
		}
		return grouped(int64(*n))
	},
	"negative": func(n int64) bool { return n < 0 },
	"sign":     func(s string) string { return map[string]string{"+": "plus", "-": "minus", "…": "gap"}[s] },
}

// A frame is what all pages have.
type frame struct {
	Title, At string // At is the entry of the navigation
	Assets    string
	Version   string
	Alarms    int
	Now       time.Time
	SignedIn  bool   // there is a token
	JSON      string // the same as JSON; empty if there is no such thing
	Live      bool   // it changes while it is looked at
	Seen      uint64 // version of what it shows
}

func (p *pages) frame(title, at string) frame {
	return frame{Title: title, At: at, Assets: assetsAt, Version: p.Version, Alarms: p.Overview.alarmed(), Now: time.Now().UTC(), SignedIn: p.Token != "", Seen: p.Overview.versionNow()}
}

// show writes a page. It is made whole first, so that a fault leaves no half of one.
func (p *pages) show(w http.ResponseWriter, status int, name string, data any) {
	var b bytes.Buffer
	if err := templates[name].Execute(&b, data); err != nil {
		panic(fmt.Sprintf("BUG: cannot make the page %s: %v", name, err))
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the caller may have left
}

// A sorryView is a page that says why there is none.
type sorryView struct {
	Frame frame
	Text  string
}

// sorry says why there is no page.
func (p *pages) sorry(w http.ResponseWriter, err error) {
	status := http.StatusServiceUnavailable
	switch {
	case errors.Is(err, logsink.ErrNoSession), errors.Is(err, errNotFound):
		status = http.StatusNotFound
	case errors.Is(err, errAsked):
		status = http.StatusBadRequest
	}
	p.show(w, status, "sorry.html", sorryView{p.frame("Not to be had", ""), err.Error()})
}

var (
	errNotFound = errors.New("not found")
	errAsked    = errors.New("cannot understand the request")
)

// keyOf is the session that a query names.
func keyOf(q url.Values) logsink.Key {
	return logsink.Key{Tenant: q.Get("tenant"), Session: q.Get("session")}
}
