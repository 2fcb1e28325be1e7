package faulttest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
)

// openers is a service for contributors of kind http. It never gives the same
// opener twice.
type openers struct {
	url   string
	asked atomic.Int64
	// answer replaces the ordinary answer if it is not nil.
	answer atomic.Pointer[http.HandlerFunc]
}

// openerMark begins every opener, and stands nowhere else.
const openerMark = "Opener \u2713 & <exact> "

func startOpeners(t *testing.T) *openers {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := &openers{url: "http://" + ln.Addr().String()}
	srv := &http.Server{Handler: http.HandlerFunc(o.serve)}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(ln) }()
	t.Cleanup(func() { _ = srv.Close(); <-done })
	return o
}

func (o *openers) serve(w http.ResponseWriter, r *http.Request) {
	n := o.asked.Add(1)
	if h := o.answer.Load(); h != nil {
		(*h)(w, r)
		return
	}
	writeOpener(w, fmt.Sprint(openerMark, n))
}

func writeOpener(w http.ResponseWriter, text string) {
	type message struct {
		Role string `json:"role"`
		Text string `json:"text"`
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"messages": []message{{"user", text}}}) // the proxy may be gone
}

// setAnswer replaces the ordinary answer from now on; nil brings it back.
func (o *openers) setAnswer(h http.HandlerFunc) {
	if h == nil {
		o.answer.Store(nil)
		return
	}
	o.answer.Store(&h)
}
