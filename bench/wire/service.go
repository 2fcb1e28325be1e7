package wire

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
)

// A service composes openers of one length that are never the same twice.
type service struct {
	texts  *texts
	tokens int64

	url    string
	server *http.Server
	served sync.WaitGroup
	asked  atomic.Int64
}

func openService(t *texts, tokens int64) (*service, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot compose openers: %w", err)
	}
	s := &service{texts: t, tokens: tokens, url: "http://" + l.Addr().String()}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 20 * time.Second}
	s.served.Go(func() { _ = s.server.Serve(l) }) // ends with close
	return s, nil
}

func (s *service) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	text := s.texts.write(nil, int(s.asked.Add(1)), textOf(s.tokens))
	_ = json.NewEncoder(w).Encode([]contrib.Message{{Role: "user", Text: string(text)}}) // the proxy tells what it misses
}

func (s *service) close() error {
	err := s.server.Close()
	s.served.Wait()
	return err
}

// contributor is how the proxy asks it. The time is long, so that a slow machine
// changes nothing.
func (s *service) contributor() contrib.Config {
	return contrib.Config{
		Name: "opener", Kind: "http", URL: s.url, Deadline: patience, AllowVolatile: true,
		MaxBytes: int(s.tokens)*tokenBytes + 1<<10,
	}
}
