package configs

import (
	"bufio"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"syscall"
	"testing"
)

// TestReadyWithoutRedis: the program, serving from a log in Redis, answers the
// probes of the manifests when Redis is gone.
func TestReadyWithoutRedis(t *testing.T) {
	_, _, c := readManifests(t).pod(t)
	users := threeUsers()
	redis := startRedis(t, users, "--min-replicas-to-write", "0")
	config := write(t, t.TempDir(), "preface.yaml", `
listen: 127.0.0.1:0
admin: 127.0.0.1:0
log:
  path: redis://`+redis.addr+`
  redis: {username: preface, password: `+users["preface"]+`}
`)
	_, operators := serve(t, config)
	probes := map[string]probe{"startup": c.Startup, "readiness": c.Readiness, "liveness": c.Liveness}
	for _, when := range []string{"with", "without"} {
		for name, p := range probes {
			if status, body := get(t, operators+p.HTTPGet.Path); status != http.StatusOK {
				t.Errorf("%s Redis, the %s probe is answered with %d: %s", when, name, status, body)
			}
		}
		redis.stop()
	}
	if status, body := get(t, operators+"/sessions"); status == http.StatusOK {
		t.Errorf("without Redis, /sessions is answered with %s: it was not gone", body)
	}
}

// serve runs the program until the test ends and returns where agents and
// operators are.
func serve(t *testing.T, config string) (agents, operators string) {
	t.Helper()
	cmd := exec.Command(program(t), "serve", "-config", config)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it is there: nobody else waits for it
		_, _ = io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil {
			t.Logf("proxy serve ended: %v", err) // its log is gone
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	m := regexp.MustCompile(`agents (http://\S+), operators (http://\S+),`).FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("proxy serve says %q, %v, not where operators are", line, err)
	}
	return m[1], m[2]
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}
