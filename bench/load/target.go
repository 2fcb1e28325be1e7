package load

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"
)

// A target is a server under load: the provider or the proxy.
type target struct {
	name   string   // immutable, as the following are
	url    *url.URL // where requests go
	format format
	secret []string // what no error may repeat

	// conns are those open, so that what is under way can be ended from outside.
	mu    sync.Mutex
	conns map[net.Conn]bool
}

func (o Options) target(name, base string) (*target, error) {
	u, err := o.endpoint(base)
	if err != nil {
		return nil, fmt.Errorf("cannot measure the %s: %w", name, err)
	}
	t := &target{name: name, url: u, format: formats[o.Format], secret: []string{o.Key}, conns: map[net.Conn]bool{}}
	for _, h := range o.Headers {
		_, value, _ := strings.Cut(h, ":")
		if value = strings.TrimSpace(value); len(value) >= minSecret {
			t.secret = append(t.secret, value)
		}
	}
	return t, nil
}

// minSecret is how long the value of a header is at least that nobody may see
// again: no credential is shorter.
const minSecret = 8

// without is a text without what is secret, whoever repeated it.
func (t *target) without(text string) string {
	for _, secret := range t.secret {
		text = strings.ReplaceAll(text, secret, "[secret]")
	}
	return text
}

const dialTimeout = 5 * time.Second

func (t *target) dial(ctx context.Context) (net.Conn, error) {
	port := t.url.Port()
	if port == "" {
		port = t.url.Scheme // net knows both by name
	}
	d := net.Dialer{Timeout: dialTimeout}
	c, err := d.DialContext(ctx, "tcp", net.JoinHostPort(t.url.Hostname(), port))
	if err != nil {
		return nil, err
	}
	if t.url.Scheme == "https" {
		c = tls.Client(c, &tls.Config{ServerName: t.url.Hostname(), MinVersion: tls.VersionTLS12})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conns[c] = true
	return c, nil
}

func (t *target) hangUp(c net.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.conns, c)
	c.Close()
}

// cut ends what is under way.
func (t *target) cut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.conns {
		c.Close()
	}
}
