package faulttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
)

// Secrets of two tenants. They begin alike so that all can be searched at once.
const canary = "CANARY-"

// A tenant is what sets one tenant of a soak apart: a credential, and words
// which all of its conversations begin with.
type tenant struct{ key, words string }

var tenants = []tenant{
	{"sk-" + canary + "key-of-the-first", canary + "words-of-the-first"},
	{"sk-" + canary + "key-of-the-second", canary + "words-of-the-second"},
}

// owned gives a fresh session to a tenant: the one that its number says.
func (s *session) owned() {
	if strings.Contains(s.key, canary) {
		return
	}
	t := tenants[strings.Count(s.key, "1")%len(tenants)]
	s.key = t.key
	s.history[0] = strings.Replace(s.history[0], "hello", "hello "+t.words, 1)
}

// composedFor stands in each opener of a soak.
func composedFor(session string) string { return " for " + session + "." }

// personalOpeners is a contributor's service that never says the same twice and
// names the session it was asked for.
func personalOpeners() http.HandlerFunc {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Session string `json:"session"`
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		writeOpener(w, fmt.Sprint(openerMark, n.Add(1), composedFor(asked.Session)))
	}
}

// secretIn tells of a canary in what should have none.
func secretIn(where string, text []byte) error {
	at := strings.Index(string(text), canary)
	if at < 0 {
		return nil
	}
	return fmt.Errorf("a canary is in %s: …%.200q…", where, text[max(0, at-100):])
}
