package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
)

// A workspace is a service that contributes to openers. What it says is new each
// time that it is asked, so an opener that was composed again shows; and it takes
// its time, so that requests which race have to wait for one another.
type workspace struct {
	url      string
	revision atomic.Int64
	server   *http.Server
	served   sync.WaitGroup

	mu       sync.Mutex // guards the following
	composed map[logsink.EpochRef]int
}

const workspacePause = 30 * time.Millisecond

func openWorkspace() (*workspace, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &workspace{url: "http://" + l.Addr().String(), composed: map[logsink.EpochRef]int{}}
	w.server = &http.Server{Handler: w, ReadHeaderTimeout: 20 * time.Second}
	w.served.Go(func() { _ = w.server.Serve(l) }) // ends with close
	return w, nil
}

func (w *workspace) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	var s contrib.Session
	if err := json.NewDecoder(r.Body).Decode(&s); err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	k := logsink.Key{Tenant: s.Tenant, Session: s.Session}
	w.note(logsink.EpochRef{Key: k, Epoch: s.Epoch})
	n := w.revision.Add(1)
	time.Sleep(workspacePause)
	mark := workspaceMark(k)
	_ = printJSON(out, []contrib.Message{{Role: "user", Text: fmt.Sprintf("%s, revision %d: all branches are clean.", mark, n)}}) // the proxy tells what it misses
}

func (w *workspace) note(e logsink.EpochRef) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.composed[e]++
}

// compositions are how often it was asked for a part of each epoch's opener.
func (w *workspace) compositions() map[logsink.EpochRef]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.composed)
}

// workspaceMark is what stands in the opener of one session and no other.
func workspaceMark(k logsink.Key) string {
	return "Workspace of session " + k.Session + " of tenant " + k.Tenant
}

func (w *workspace) close() error {
	err := w.server.Close()
	w.served.Wait()
	return err
}
