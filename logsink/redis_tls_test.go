package logsink_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	mrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/internal/redistest"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/logsink/logtest"
)

// An authority issues certificates as files.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	a.cert = &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.file, _, a.key = a.issue(name, a.cert)
	return a
}

// issue makes a certificate and its key; the authority's own is the first.
func (a *authority) issue(name string, c *x509.Certificate) (certFile, keyFile string, key *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	signer := a.key
	if signer == nil {
		signer = key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.write(name+".crt", "CERTIFICATE", der), a.write(name+".key", "PRIVATE KEY", private), key
}

func (a *authority) write(name, kind string, der []byte) string {
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}

// overTLS has a server take TLS connections too, and returns the port.
func overTLS(t *testing.T, s *redistest.Server, conf ...string) int {
	t.Helper()
	for try := 1; ; try++ {
		port := 10000 + mrand.IntN(20000)
		_, err := s.Do(append([]string{"CONFIG", "SET", "tls-port", fmt.Sprint(port)}, conf...)...)
		if err == nil {
			return port
		}
		if try == 5 { // the port may have been taken
			t.Fatal(err)
		}
	}
}

// TestRedisTLS: a server with an authority of its own, which may want to know its
// clients too.
func TestRedisTLS(t *testing.T) {
	t.Parallel()
	ours, theirs := newAuthority(t, "ours"), newAuthority(t, "theirs")
	serverCert, serverKey, _ := ours.issue("server", &x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: []string{"localhost", "redis.example"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	cert, key, _ := ours.issue("client", &x509.Certificate{SerialNumber: big.NewInt(3), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	foreignCert, foreignKey, _ := theirs.issue("client", &x509.Certificate{SerialNumber: big.NewInt(4), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	conf := []string{"tls-cert-file", serverCert, "tls-key-file", serverKey, "tls-ca-cert-file", ours.file}
	open := overTLS(t, redistest.Start(t), append(conf, "tls-auth-clients", "no")...)
	closed := overTLS(t, redistest.Start(t), append(conf, "tls-auth-clients", "yes")...)
	f := func(host string, port int, c logsink.RedisConfig, want string) {
		t.Helper()
		l, err := logsink.Open(t.Context(), logsink.Config{Path: fmt.Sprintf("rediss://%s:%d", host, port), Durability: logsink.DurableMemory, Redis: c})
		if err == nil {
			defer l.Close()
			_, err = l.Freeze(t.Context(), logtest.Anchor(logsink.Key{Tenant: "t", Session: "s"}, 1, "opener"))
		}
		switch {
		case want == "" && err != nil:
			t.Errorf("%s with %+v: %v", host, c, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, logsink.ErrUnavailable)):
			t.Errorf("%s with %+v: %v, want ErrUnavailable with %q", host, c, err, want)
		}
	}
	f("localhost", open, logsink.RedisConfig{CA: ours.file}, "")
	f("localhost", open, logsink.RedisConfig{CA: ours.file, Cert: cert, Key: key}, "")
	f("127.0.0.1", open, logsink.RedisConfig{CA: ours.file, ServerName: "redis.example"}, "")
	f("127.0.0.1", open, logsink.RedisConfig{CA: ours.file}, "cannot validate certificate for 127.0.0.1")
	f("localhost", open, logsink.RedisConfig{CA: ours.file, ServerName: "other.example"}, "not other.example")
	f("localhost", open, logsink.RedisConfig{CA: theirs.file}, "certificate signed by unknown authority")
	f("localhost", open, logsink.RedisConfig{}, "certificate signed by unknown authority")
	f("localhost", closed, logsink.RedisConfig{CA: ours.file, Cert: cert, Key: key}, "")
	f("localhost", closed, logsink.RedisConfig{CA: ours.file}, "certificate required")
	f("localhost", closed, logsink.RedisConfig{CA: ours.file, Cert: foreignCert, Key: foreignKey}, "unknown certificate authority")
}

// TestI12_RedisPassword: the password opens the log, and no error shows it.
func TestI12_RedisPassword(t *testing.T) {
	t.Parallel()
	const canary = "canary-pa55word"
	s := redistest.Start(t, "requirepass "+canary, "user preface on >"+canary+"-2 ~preface:* +@all")
	open := func(r logsink.RedisConfig) (*logsink.Redis, error) {
		return logsink.OpenRedis(t.Context(), s.URL(), logsink.Config{Durability: logsink.DurableMemory, Redis: r})
	}
	f := func(want string, r logsink.RedisConfig) {
		t.Helper()
		l, err := open(r)
		if err == nil {
			l.Close()
		}
		if err == nil || !errors.Is(err, logsink.ErrUnavailable) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), canary) {
			t.Errorf("OpenRedis = %v, want ErrUnavailable with %q and no password", err, want)
		}
	}
	f("log.redis.password", logsink.RedisConfig{})
	f("log.redis.username", logsink.RedisConfig{Password: canary + "-wrong"})
	f("log.redis.username", logsink.RedisConfig{Username: canary, Password: canary})
	for _, r := range []logsink.RedisConfig{{Password: canary}, {Username: "preface", Password: canary + "-2"}} {
		l, err := open(r)
		opened(t, l, err)
		k := logsink.Key{Tenant: "t", Session: "s"}
		if _, err := l.Freeze(t.Context(), logtest.Anchor(k, 1, "opener")); err != nil {
			t.Error(err)
		}
		if strings.Contains(l.Guarantee(), canary) {
			t.Errorf("I12: Guarantee = %q", l.Guarantee())
		}
	}
	s.Kill()
	f("the server cannot be reached", logsink.RedisConfig{Password: canary})
}
