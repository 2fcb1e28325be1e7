package provider

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/seed-9236c7ca/preface/bench/cache"
)

// Options configure a Provider. The zero value works.
type Options struct {
	// Now is the clock of the caches and of the time stamps inside answers; nil
	// means time.Now. The ledger always uses the wall clock.
	Now func() time.Time

	// Fault chooses what goes wrong with the n-th model request, counted from 1
	// in order of arrival. It is called from many goroutines. A request header
	// x-provider-fault wins over it, and it wins over Provider.SetFault unless
	// it returns the zero Fault.
	Fault func(n int, r *http.Request) Fault

	// OnFirstByte is called at the first byte of each request, control requests
	// included, before any more of it is read. It may block; that connection
	// then waits.
	OnFirstByte func()
	// OnArrive is called when a whole request was read and before anything of
	// the answer is sent. It may block. It must not change the Exchange.
	OnArrive func(*Exchange)

	// TLS, if not nil, makes the provider speak HTTPS.
	TLS *tls.Config

	// MaxBody is the largest request body in bytes, before and after content
	// decoding; beyond it the answer is 413. Default 64 MiB.
	MaxBody int64
	// KeepRequests is how many exchanges the ledger keeps. Default 4096.
	KeepRequests int
	// KeepBytes is how many bytes of bodies and answers the ledger keeps over
	// all exchanges; the oldest lose theirs first. Default 512 MiB.
	KeepBytes int64
}

func (o *Options) setDefaults() {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MaxBody <= 0 {
		o.MaxBody = 64 << 20
	}
	if o.KeepRequests <= 0 {
		o.KeepRequests = 4096
	}
	if o.KeepBytes <= 0 {
		o.KeepBytes = 512 << 20
	}
}

// A Provider is one simulated provider. Its methods may be called from any
// goroutine.
type Provider struct {
	opt    Options // immutable
	ledger *ledger
	server *http.Server
	conns  *connSet
	cache  *cache.Prompts
	store  *responseStore

	messagePrints  *prints[messagesPrint]
	responsePrints *prints[responsesPrint]

	mu      sync.Mutex
	url     string // of the first listener
	fault   Fault  // standing
	turns   int    // model requests so far
	tallies map[string]Tally
}

// New returns a provider that is not listening yet.
func New(opt Options) *Provider {
	opt.setDefaults()
	p := &Provider{opt: opt, cache: cache.NewPrompts(), store: newResponseStore(), tallies: map[string]Tally{}}
	p.messagePrints, p.responsePrints = newPrints[messagesPrint](), newPrints[responsesPrint]()
	p.ledger = newLedger(opt.KeepRequests, opt.KeepBytes)
	p.conns = newConnSet(p.ledger, opt.OnFirstByte)
	p.server = &http.Server{
		Handler:        http.HandlerFunc(p.serveHTTP),
		ConnContext:    withConn,
		ConnState:      connState,
		MaxHeaderBytes: 4 << 20,
	}
	return p
}

// Start listens on a TCP address, e.g. "127.0.0.1:0", and serves until Close.
func (p *Provider) Start(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w", addr, err)
	}
	p.setURL(l)
	p.conns.wg.Go(func() { _ = p.Serve(l) })
	return nil
}

// Serve accepts connections from l until Close; then it returns nil. It closes
// l.
func (p *Provider) Serve(l net.Listener) error {
	p.setURL(l)
	if p.opt.TLS != nil {
		l = tls.NewListener(l, p.opt.TLS)
	}
	err := p.server.Serve(&tapListener{Listener: l, set: p.conns})
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("cannot serve on %s: %w", l.Addr(), err)
}

func (p *Provider) setURL(l net.Listener) {
	scheme := "http://"
	if p.opt.TLS != nil {
		scheme = "https://"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.url == "" {
		p.url = scheme + l.Addr().String()
	}
}

// URL is the base URL of the first listener, without a slash at the end.
func (p *Provider) URL() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.url
}

// SetFault makes f happen to every model request that has no fault of its own
// from now on; the zero Fault ends that.
func (p *Provider) SetFault(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
}

// Close stops listening, cuts every connection, and returns when all handlers
// have returned.
func (p *Provider) Close() error {
	err := p.server.Close()
	p.conns.closeAll()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("cannot close provider: %w", err)
	}
	return nil
}
