package main

import (
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// A stream is an answer that is read in the background.
type stream struct {
	ended chan struct{} // closed when the following are set
	body  []byte
	err   error
}

// startStream posts a file and returns when the answer has begun.
func startStream(ts *testscript.TestScript, neg bool, args []string) {
	vars, args := assignments(args)
	require(ts, !neg && len(args) == 2, "stream [NAME=VALUE]... PATH FILE")
	r, err := http.NewRequest("POST", ts.Getenv("AGENTS")+args[0], strings.NewReader(ts.ReadFile(args[1])))
	ts.Check(err)
	r.Header.Set("content-type", "application/json")
	r.Header.Set("x-api-key", "sk-test-1")
	for _, v := range vars {
		name, value, _ := strings.Cut(v, "=")
		r.Header.Set(name, value)
	}
	c := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Do(r)
	ts.Check(err)
	s := &stream{ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		defer resp.Body.Close()
		s.body, s.err = io.ReadAll(resp.Body)
	}()
	stageOf(ts).stream = s
}

// finished waits for the end of the stream, which must match and be clean, or
// with ! be cut.
func finished(ts *testscript.TestScript, neg bool, args []string) {
	require(ts, len(args) == 1, "[!] finished PATTERN")
	s := stageOf(ts).stream
	<-s.ended
	clean := s.err == nil && regexp.MustCompile(args[0]).Match(s.body)
	if clean == neg {
		ts.Fatalf("the stream ended with %v after\n%s", s.err, s.body)
	}
}
