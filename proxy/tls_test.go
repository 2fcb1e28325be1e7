package proxy

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/prefixstore"
)

// selfSigned is a certificate for a name, and the pool that trusts it.
func selfSigned(t *testing.T, name string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	if ip := net.ParseIP(name); ip != nil {
		tmpl.IPAddresses = []net.IP{ip}
	} else {
		tmpl.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// TestTLSUpstream: the same exchange over TLS, streamed and not, with large and
// small bodies, and cancelled.
func TestTLSUpstream(t *testing.T) {
	cert, roots := selfSigned(t, "127.0.0.1")
	up := provider.New(provider.Options{TLS: &tls.Config{Certificates: []tls.Certificate{cert}}})
	if err := up.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { up.Close() })
	b := newBench(t, func(b *bench, s *Setup, _ *Deps, _ *prefixstore.Options) {
		b.up = up
		s.Config = b.config(up.URL())
	})
	for _, u := range b.srv.current.Load().ups {
		u.tls.RootCAs = roots // before its first connection
	}
	large := strings.Replace(anthropicTurn, "hello", strings.Repeat("hello ", 50_000), 1)
	for _, body := range []string{anthropicTurn, large} {
		for range 3 { // the second and third on a pooled connection
			r := b.post("/v1/messages", strings.Replace(body, `{"model"`, `{"stream":true,"model"`, 1), "x-claude-code-session-id", "s")
			reqs := b.requests()
			sent := b.last()
			if r.StatusCode != 200 || r.err != nil || !bytes.Equal(r.body, sent.Answer) {
				t.Fatalf("over TLS: %d, %v", r.StatusCode, r.err)
			}
			if back := cut(sent.Body, reqs[len(reqs)-1].Splices); !strings.HasSuffix(string(back), body[len(`{"model"`):]) {
				t.Errorf("over TLS the body arrived changed")
			}
		}
	}
	c := b.raw(rawPost("/v1/messages", anthropicTurn, "x-provider-fault", "delay=30s"))
	n := len(b.received())
	eventually(t, "the provider has the request", func() bool { all := b.received(); return len(all) > n-1 && all[len(all)-1].Fault.Delay > 0 })
	c.Close()
	eventually(t, "TestI7: the provider sees it end", func() bool { all := b.received(); return all[len(all)-1].Aborted() })
	b.verify()
}

// TestHTTPSProxy: the environment's proxy is asked for a tunnel.
func TestHTTPSProxy(t *testing.T) {
	asked := make(chan string, 10)
	addr := accepting(t, func(c net.Conn) {
		line, _ := bufio.NewReader(c).ReadString('\n')
		asked <- strings.TrimSpace(line)
		io.WriteString(c, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
	})
	t.Setenv("HTTPS_PROXY", "http://"+addr)
	b := newBench(t, func(b *bench, s *Setup, _ *Deps, _ *prefixstore.Options) {
		s.Config = b.config("https://provider.invalid")
	})
	if r := b.post("/v1/messages", anthropicTurn); r.StatusCode != 502 {
		t.Errorf("through a proxy that refuses: %d %s", r.StatusCode, r.body)
	}
	if got := <-asked; got != "CONNECT provider.invalid:443 HTTP/1.1" {
		t.Errorf("the proxy was asked %q, want a tunnel to provider.invalid:443", got)
	}
}

// wrongName is the URL of a TLS server whose certificate nobody trusts and
// which is for another name.
func wrongName(t *testing.T) string {
	t.Helper()
	cert, _ := selfSigned(t, "other.example")
	return "https://" + accepting(t, func(c net.Conn) {
		_ = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{cert}}).Handshake() // it fails
	})
}

func zipped(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
