package configs

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const redisFile = "redis.conf"

// noHash is what stands in the file for each password.
var noHash = strings.Repeat("0", 64)

// A redisServer is a real server that runs with the file, at a port of its own.
type redisServer struct {
	addr      string
	passwords map[string]string // by user
	stop      func()            // kills it; may be called again
}

// startRedis starts a server with the file, its passwords set as its comments
// say. It ends with the test.
func startRedis(t *testing.T, passwords map[string]string, args ...string) *redisServer {
	t.Helper()
	text := read(t, redisFile)
	for user, password := range passwords {
		sum := sha256.Sum256([]byte(password))
		locked := "\nuser " + user + " on #" + noHash
		if !strings.Contains(text, locked) {
			t.Fatalf("%s has no line %q", redisFile, locked)
		}
		text = strings.Replace(text, locked, "\nuser "+user+" on #"+hex.EncodeToString(sum[:]), 1)
	}
	dir := t.TempDir()
	addr := freeAddr(t)
	_, port, _ := net.SplitHostPort(addr)
	stop := launch(t, append([]string{write(t, dir, "redis.conf", text), "--bind", "127.0.0.1", "--port", port, "--dir", dir}, args...))
	return &redisServer{addr, passwords, stop}
}

// launch runs redis-server until the test ends, or stop is called, and returns
// once it is ready.
func launch(t *testing.T, args []string) (stop func()) {
	t.Helper()
	cmd := exec.Command("redis-server", args...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatalf("cannot start redis-server; install it, make test does as root: %v", err)
	}
	ready, over := make(chan struct{}), make(chan string)
	go func() {
		var said strings.Builder
		for lines := bufio.NewScanner(out); lines.Scan(); {
			fmt.Fprintln(&said, lines.Text())
			if strings.Contains(lines.Text(), "eady to accept connections") { // 7.2 says it in other words
				close(ready)
			}
		}
		over <- said.String()
	}()
	select {
	case <-ready:
	case said := <-over:
		t.Fatalf("redis-server %q ended: %v\n%s", args, cmd.Wait(), said)
	}
	stop = sync.OnceFunc(func() {
		_ = cmd.Process.Kill() // it is there: nobody else waits for it
		<-over
		_ = cmd.Wait() // it was killed
	})
	t.Cleanup(stop)
	return stop
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// threeUsers have passwords that nobody knows.
func threeUsers() map[string]string {
	return map[string]string{"preface": rand.Text(), "replica": rand.Text(), "operator": rand.Text()}
}

// as signs in.
func (s *redisServer) as(t *testing.T, user string) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{
		Addr: s.addr, Username: user, Password: s.passwords[user], MaxRetries: -1, ReadTimeout: 20 * time.Second,
	})
	t.Cleanup(func() { _ = c.Close() })
	return c
}
