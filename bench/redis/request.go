package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// client keeps its connections, as agents do.
var client = &http.Client{
	Timeout:   20 * time.Second,
	Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true},
}

// body is the request of an agent with a tool, of about n bytes.
func body(n int) string {
	text := strings.Repeat("Read the code, then say what it does. ", n/38)
	return fmt.Sprintf(`{"model":"claude-opus-4-8","max_tokens":1000,"system":"You are an agent.",`+
		`"tools":[{"name":"read","description":"Reads a file.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}],`+
		`"messages":[{"role":"user","content":"%s"}]}`, text)
}

// send sends one request of a session and returns how long its whole answer
// took. One that did not carry the prefix is an error.
func send(to process, session, body string) (time.Duration, error) {
	start := time.Now()
	req, err := http.NewRequest("POST", to.addr+"/v1/messages", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("content-type", "application/json")
	req.Header.Set("x-api-key", "any")
	req.Header.Set("anthropic-version", "2023-06-01")
	req.Header.Set("x-preface-session", session)
	res, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	took := time.Since(start)
	if prefix := res.Header.Get("x-preface-prefix"); err == nil && (res.StatusCode != 200 || !strings.HasPrefix(prefix, "sha256:")) {
		err = fmt.Errorf("session %s at %s: status %d, prefix %q: %.200s", session, to.addr, res.StatusCode, prefix, answer)
	}
	return took, err
}
