//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestBenchInterrupted sends Ctrl-C to a simulation in the middle of a trace that
// does not end, and wants everything as it was.
func TestBenchInterrupted(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "endless.jsonl")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-o", "report"}, {"-o", "plots", "-page", "RESULTS.md"}, {"-json"}} {
		cmd := exec.Command("proxy", append([]string{"bench", "economics", "-trace", pipe, "-provider", "anthropic"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1") // so the pipe has one reader
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // returns when it reads
		if err != nil {
			t.Fatal(err)
		}
		interrupt(t, cmd, w, ended, &stderr)
		if stdout.Len() > 0 {
			t.Errorf("%q printed %q", args, stdout.String())
		}
		if !strings.HasPrefix(stderr.String(), "preface: interrupted") || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%q said %q", args, stderr.String())
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("%q left %v (%v), want the pipe alone", args, entries, err)
		}
	}
}

// interrupt feeds requests until the process has read many, sends Ctrl-C, and
// feeds on until it has ended.
func interrupt(t *testing.T, cmd *exec.Cmd, w io.WriteCloser, ended <-chan error, stderr *bytes.Buffer) {
	t.Helper()
	defer w.Close()
	late := time.After(patience)
	for i := 0; ; i++ {
		_, err := fmt.Fprintf(w, `{"timestamp":%d,"input_length":9000,"output_length":5,"hash_ids":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,%d]}`+"\n", 1000*i, 17+i)
		if i == 5000 {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case err := <-ended:
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != exitError {
				t.Errorf("it ended with %v, want exit code %d; stderr: %s", err, exitError, stderr)
			}
			return
		case <-late:
			_ = cmd.Process.Kill() // the fault is reported
			t.Fatalf("it still runs after %v", patience)
		default:
		}
		if err != nil && i < 5000 {
			t.Fatalf("it stopped reading after %d requests: %v; stderr: %s", i, err, stderr)
		}
	}
}
