package provider

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// A request is one request in hand, read whole.
type request struct {
	method, path string
	header       http.Header
	tenant       string
	fault        Fault
	start        moment // arrival, by the clock of the caches
	body         []byte // content-decoded
}

// controlPrefix is where the provider's own endpoints are.
const controlPrefix = "/__provider/"

func (p *Provider) serveHTTP(w http.ResponseWriter, r *http.Request) {
	t := tapOf(r.Context())
	e := t.take()
	if !p.conns.enter() {
		panic(http.ErrAbortHandler) // Close is under way
	}
	defer p.conns.wg.Done()
	if strings.HasPrefix(r.URL.Path, controlPrefix) {
		t.disown()
		p.serveControl(w, r)
		return
	}
	q := &request{method: r.Method, path: r.URL.Path, header: r.Header}
	x := &exchange{Exchange: e, tap: t, p: p, w: w, request: q}
	a, err := p.take(x, r)
	if err != nil {
		panic(http.ErrAbortHandler) // the client left, or broke its own framing
	}
	if !x.send(a) {
		panic(http.ErrAbortHandler)
	}
	t.succeed()
}

// An exchange is an Exchange while it is handled.
type exchange struct {
	*Exchange // changed through note alone
	*request
	tap *tap
	p   *Provider
	w   http.ResponseWriter
	at  endpoint
}

func (x *exchange) note(change func(*Exchange)) { x.p.ledger.update(x.Exchange, change) }

// take reads the request and makes its answer.
func (p *Provider) take(x *exchange, r *http.Request) (*answer, error) {
	x.at = routeOf(x.method, x.path, x.header)
	refused := p.admit(x, r)
	raw, err := p.readBody(x, r)
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		refused = &apiError{status: 413, message: "Request exceeds the maximum size"}
	} else if err != nil {
		return nil, err
	}
	if refused == nil {
		x.body, refused = decode(raw, x.header.Get("content-encoding"), p.opt.MaxBody)
	}
	x.start = p.cache.Arrive(p.opt.Now())
	x.note(func(e *Exchange) {
		e.Body, e.BodySize, e.SHA256 = raw, int64(len(raw)), sha256.Sum256(raw)
		e.Dialect, e.Fault, e.Tenant, e.ReceivedAt = x.at.dialect, x.fault, x.tenant, time.Now()
	})
	if p.opt.OnArrive != nil {
		e, _ := p.Exchange(x.ID)
		p.opt.OnArrive(&e)
	}
	if x.fault.Reset {
		x.tap.reset()
		return nil, errReset
	}
	return p.answer(x, refused), nil
}

var errReset = errors.New("reset on purpose")

// answer makes the answer, or the refusal in the shape of the dialect.
func (p *Provider) answer(x *exchange, refused *apiError) *answer {
	if refused == nil && x.fault.Status != 0 {
		refused = &apiError{status: x.fault.Status, message: x.fault.message()}
	}
	requestID := fmt.Sprintf("req_%06d", x.ID)
	var a *answer
	if refused == nil {
		a, refused = x.at.answer(p, x.request)
	}
	if refused != nil {
		a = x.at.failed(refused, requestID)
	}
	a.header[x.at.requestID] = []string{requestID}
	for name, value := range x.at.format.header {
		a.header[name] = []string{value}
	}
	if x.fault.Status != 0 && x.fault.RetryAfter != "" {
		a.header.Set("Retry-After", x.fault.RetryAfter)
	}
	return a
}
