package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/seed-9236c7ca/preface/bench/agent"
	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/logsink"
)

// A witness stands before the provider: it looks into the log, as another
// process would, at the moment when a request has arrived.
type witness struct {
	reader logsink.Reader // set before the first request

	mu       sync.Mutex // guards the following
	sent     map[string]*agent.Call
	logged   int               // requests that carried a prefix which the log had
	unlogged map[string]string // those that did not, by id: why
}

func newWitness() *witness {
	return &witness{sent: map[string]*agent.Call{}, unlogged: map[string]string{}}
}

func (w *witness) open(ctx context.Context, path string) (err error) {
	w.reader, err = logsink.OpenReader(ctx, logsink.Config{Path: path})
	return err
}

func (w *witness) close() error {
	if w.reader == nil {
		return nil
	}
	return w.reader.Close()
}

// sends notes what an agent is about to send.
func (w *witness) sends(c *agent.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent[c.ID] = c
}

// arrive is called when the provider has read a request.
func (w *witness) arrive(x *provider.Exchange) {
	c := w.callOf(x)
	if c == nil {
		return // told by I9
	}
	in, err := insertedInto(c, x)
	if err != nil || len(in.messages) == 0 {
		return // told by I3; or there is nothing to look for
	}
	err = w.find(c.Session, in)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.unlogged[c.ID] = err.Error()
		return
	}
	w.logged++
}

// verdict returns how many requests carried a prefix that the log had when they
// arrived, and those that carried one which it had not.
func (w *witness) verdict() (logged int, unlogged map[string]string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.logged, maps.Clone(w.unlogged)
}

func (w *witness) callOf(x *provider.Exchange) *agent.Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent[callID(x)]
}

// callID is the id that an agent gave a request which arrived.
func callID(x *provider.Exchange) string {
	for _, f := range x.Header {
		if strings.EqualFold(f.Name, agent.IDHeader) {
			return f.Value
		}
	}
	return ""
}

// find looks for an anchor that holds the very bytes.
func (w *witness) find(session string, in insertion) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var keys []logsink.Key
	err := w.reader.Sessions(ctx, "", session, func(s logsink.SessionInfo) bool {
		keys = append(keys, s.Key)
		return true
	})
	if err != nil {
		return err
	}
	for _, k := range keys {
		anchors, err := w.reader.Anchors(ctx, k)
		if err != nil {
			return err
		}
		for _, a := range anchors {
			if in.renderingOf(a) != nil {
				return nil
			}
		}
	}
	return fmt.Errorf("no anchor in the log holds the %d bytes that were inserted", len(in.bytes()))
}

// An insertion is the messages that stand in a body which arrived and not in the
// one that the agent sent. It is found by reading both as JSON, with nothing of
// the proxy's.
type insertion struct {
	at       int // how many of the client's messages stand before them
	messages []json.RawMessage
}

func (in insertion) bytes() []byte {
	list := make([][]byte, len(in.messages))
	for i, m := range in.messages {
		list[i] = m
	}
	return bytes.Join(list, []byte(","))
}

// renderingOf returns the anchor's rendering that has the same bytes, or nil.
func (in insertion) renderingOf(a *logsink.Anchor) *logsink.Rendering {
	inserted := in.bytes()
	for i := range a.Renderings {
		if bytes.Equal(a.Renderings[i].Bytes, inserted) {
			return &a.Renderings[i]
		}
	}
	return nil
}

// insertedInto compares what was sent with what arrived. It fails if messages
// were not only added, all in one place.
func insertedInto(c *agent.Call, x *provider.Exchange) (insertion, error) {
	before, err := messagesIn(c.Body)
	if err != nil {
		return insertion{}, err
	}
	after, err := messagesIn(x.Body)
	if err != nil {
		return insertion{}, err
	}
	at := 0
	for at < min(len(before), len(after)) && bytes.Equal(before[at], after[at]) {
		at++
	}
	more := len(after) - len(before)
	if more < 0 {
		return insertion{}, fmt.Errorf("%d messages became %d", len(before), len(after))
	}
	for i, m := range before[at:] {
		if !bytes.Equal(m, after[at+more+i]) {
			return insertion{}, fmt.Errorf("message %d is not what the agent sent", at+i)
		}
	}
	return insertion{at, after[at : at+more]}, nil
}

// messagesIn are the messages of a body, each as it is written.
func messagesIn(body []byte) ([]json.RawMessage, error) {
	var o struct {
		Messages []json.RawMessage `json:"messages"`
		Input    []json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, fmt.Errorf("cannot read the body: %w", err)
	}
	return append(o.Messages, o.Input...), nil
}

// headOf reads an answer's head as the provider wrote it.
func headOf(x *provider.Exchange) http.Header {
	h := http.Header{}
	head, _, _ := bytes.Cut(x.Sent, []byte("\r\n\r\n"))
	for i, line := range strings.Split(string(head), "\r\n") {
		if name, value, ok := strings.Cut(line, ":"); ok && i > 0 {
			h.Add(name, strings.TrimSpace(value))
		}
	}
	return h
}
