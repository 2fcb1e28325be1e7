package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/seed-9236c7ca/preface/bench/cache"
	"github.com/seed-9236c7ca/preface/bench/provider"
)

// The ways in which each request is made.
const (
	frozen   = iota // with its session's id
	volatile        // with an id of its own
	ways
)

var keys = [ways]string{"sk-made-up-frozen", "sk-made-up-volatile"}

// A worker plays sessions one after the other, to a provider of its own.
type worker struct {
	*stage
	provider *timedProvider
	client   *http.Client
	url      string
	lastID   int // of the provider's exchanges
	rules    cache.Rules
	lifetime time.Duration
	texts    *texts
	sums     chan<- measured
}

// epoch is when the first session of a worker begins; between sessions is more
// than any entry lives.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const between = 48 * time.Hour

// longestPrompt is what fits into a body that the proxy takes, in tokens.
const longestPrompt = 15 << 20

// A measured is one request as it was made in one way.
type measured struct {
	way              int
	session, request int    // from 0
	id               string // in Preface's log
	got, want        cache.Tokens
}

// play plays one session from some time on, and returns when it ended.
func (w *worker) play(ctx context.Context, number int, s session, from time.Time) (time.Time, error) {
	asked, _ := w.format.ask(w.rules.Kind, w.lifetime) // options were checked
	d := &dialogue{shrink: w.opt.Shrink, leastTool: w.format.leastTool()}
	b := &writer{format: w.format, texts: w.texts, asked: asked, model: w.opt.Model, number: number}
	var models [ways]*model
	for i := range models {
		models[i] = newModel(w.rules, w.lifetime, w.format, w.opt.Opener/w.opt.Shrink)
	}
	at := from
	for i := range s.requests {
		d.turn(&s.requests[i])
		if n := d.end(); n > longestPrompt {
			return at, fmt.Errorf("session %q, request %d has %d tokens: the proxy takes no body that long; divide by more than %d (-shrink)", s.name, i+1, n, w.opt.Shrink)
		}
		body := b.write(d)
		at = from.Add(s.requests[i].At)
		w.provider.set(at)
		for way, m := range models {
			id, got, err := w.send(ctx, w.idOf(way, number, i), keys[way], body)
			if err != nil {
				return at, fmt.Errorf("session %q, request %d: %w", s.name, i+1, err)
			}
			want := m.plays(m.lay(d, opener(way, i)), at)
			w.sums <- measured{way, number, i, id, got, want}
		}
	}
	return at.Add(between), nil
}

// idOf is the session's id that a request carries.
func (w *worker) idOf(way, session, request int) string {
	if w.opt.sessionID != nil {
		return w.opt.sessionID(way, session, request)
	}
	if way == volatile {
		return fmt.Sprintf("session-%d-request-%d", session, request)
	}
	return fmt.Sprintf("session-%d", session)
}

// opener names the opener of a request, by what the model says of freezing.
func opener(way, request int) int {
	if way == volatile {
		return request + 1
	}
	return 1
}

// send makes a request and returns its id and what the provider charged for it.
func (w *worker) send(ctx context.Context, session, key string, body []byte) (string, cache.Tokens, error) {
	var none cache.Tokens
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return "", none, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Preface-Session", session)
	w.format.authorize(r.Header, key)
	answer, err := w.client.Do(r)
	if err != nil {
		return "", none, err
	}
	text, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close() // it was read
	switch {
	case err != nil:
		return "", none, err
	case answer.StatusCode != http.StatusOK:
		return "", none, fmt.Errorf("status %d: %.200s", answer.StatusCode, text)
	case !strings.HasPrefix(answer.Header.Get("X-Preface-Prefix"), "sha256:"):
		return "", none, fmt.Errorf("no opener was inserted: %s", answer.Header.Get("X-Preface-Prefix"))
	}
	got, err := w.charged()
	return answer.Header.Get("X-Preface-Request"), got, err
}

// charged is what the provider charged for the request made last.
func (w *worker) charged() (cache.Tokens, error) {
	list := w.provider.ReceivedAfter(w.lastID)
	if len(list) != 1 {
		return cache.Tokens{}, fmt.Errorf("the provider got %d requests where one was made", len(list))
	}
	w.lastID = list[0].ID
	return tokensOf(list[0].Tokens), nil
}

func tokensOf(t provider.Tokens) cache.Tokens {
	return cache.Tokens{Fresh: t.Fresh, Read: t.CacheRead, Write5m: t.Write5m, Write1h: t.Write1h, Write30m: t.Write30m, Write12h: t.Write12h}
}
