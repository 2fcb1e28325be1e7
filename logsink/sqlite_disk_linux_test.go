package logsink_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-9236c7ca/preface/logsink"
)

// Fault 14 on a disk that is full, which takes root to make.
func TestFault14_FullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("cannot mount a small tmpfs (root can): %v", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	path, ballast := filepath.Join(dir, "log.db"), filepath.Join(dir, "ballast")
	writeFile(t, ballast, make([]byte, 512<<10))
	l := openLog(t, path)
	ids, failed := fill(t, l)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	goesOn(t, l, failed)
	l.Close()
	checkIntegrity(t, path)
	checkAcknowledged(t, path, append(ids, failed))
}

// The same by a limit of the process, which takes no root.
func TestFault14_FileSizeLimit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.db")
	openLog(t, path).Close()
	// ulimit -f counts in 512 bytes here or 1024 there; both are small.
	c := startChild(t, "write", path, "/bin/sh", "-c", `ulimit -f 400; exec "$0" "$@"`)
	c.expect("open")
	var lines []string
	for range 2000 {
		line := c.line()
		lines = append(lines, line)
		if strings.HasPrefix(line, "failed") {
			break
		}
	}
	lines = append(lines, c.kill()...)
	ok, failed := acknowledged(lines)
	if len(failed) == 0 || len(ok) == 0 {
		t.Fatalf("%d acknowledged, %d failed, last %q; want both", len(ok), len(failed), lines[len(lines)-1])
	}
	checkIntegrity(t, path)
	checkAcknowledged(t, path, ok)
}

// Fault 15: a sync fails. The record is not acknowledged; the handle is not
// used again (the fsyncgate rule), and from the next write on all is well.
func TestFault15_SyncFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	strace, trace := tracer(t, dir)
	for _, n := range []int{6, 4, 9, 14}[:max(1, less(4))] {
		path := filepath.Join(dir, fmt.Sprintf("log%d.db", n))
		syncFails(t, path, strace, trace, n)
	}
}

// tracer returns the path of strace and of a file for its output.
func tracer(t testing.TB, dir string) (strace, trace string) {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed; apt-get install strace")
	}
	trace = filepath.Join(dir, "trace")
	if out, err := exec.Command(strace, "-o", trace, "-e", "trace=none", "true").CombinedOutput(); err != nil {
		t.Skipf("strace may not trace here: %v %s", err, out)
	}
	return strace, trace
}

// Fault 17 rests on this: nothing is acknowledged before it was synced.
func TestI1_AcknowledgedIsSynced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	strace, trace := tracer(t, dir)
	path := filepath.Join(dir, "log.db")
	openLog(t, path).Close()
	c := startChild(t, "write", path, strace, "-f", "-qq", "-o", trace, "-e", "trace=fdatasync,fsync,write")
	c.expect("open")
	for range 30 {
		c.line()
	}
	c.finish()
	acks, synced := 0, false
	for line := range bytes.Lines(readFile(t, trace)) {
		switch {
		case bytes.Contains(line, []byte("sync(")) && bytes.Contains(line, []byte("= 0")), bytes.Contains(line, []byte("sync resumed")):
			synced = true
		case bytes.Contains(line, []byte(`write(1, "ok `)):
			if !synced {
				t.Fatalf("acknowledgement %d came without a sync since the one before", acks)
			}
			acks++
			synced = false
		}
	}
	if acks < 30 {
		t.Errorf("the trace has %d acknowledgements, want 30", acks)
	}
}

// syncFails has the n-th sync of each thread fail.
func syncFails(t testing.TB, path, strace, trace string, n int) {
	openLog(t, path).Close()
	c := startChild(t, "write", path, strace, "-f", "-qq", "-o", trace, "-e", "trace=fdatasync,fsync,open,openat",
		"-e", fmt.Sprintf("inject=fdatasync,fsync:error=EIO:when=%d", n))
	c.expect("open")
	var lines []string
	for range 60 {
		lines = append(lines, c.line())
	}
	lines = append(lines, c.finish()...)
	ok, failed := acknowledged(lines)
	if len(failed) == 0 {
		t.Fatalf("no write failed: %q", lines[:10])
	}
	for _, l := range lines {
		if strings.HasPrefix(l, "failed") && !strings.Contains(l, logsink.ErrUnavailable.Error()) {
			t.Errorf("%q does not say that the log is unavailable", l)
		}
	}
	if len(ok) < len(lines)-len(failed)-2 {
		t.Errorf("%d acknowledged of %d lines with %d failures; a failed one must succeed when it is offered again", len(ok), len(lines), len(failed))
	}
	checkIntegrity(t, path)
	checkAcknowledged(t, path, ok)
	reopened(t, readFile(t, trace), path)
}

// reopened wants the file to be opened again after a sync that failed.
func reopened(t testing.TB, trace []byte, path string) {
	t.Helper()
	open := []byte(fmt.Sprintf("%q,", path))
	first := bytes.Index(trace, []byte("(INJECTED)"))
	if first < 0 || !bytes.Contains(trace[first:], open) {
		t.Errorf("the log was not opened again after a sync failed")
	}
}

// A log in a directory that cannot be written, or a file that cannot.
func TestOpenReadOnly(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Run("as this user", func(t *testing.T) { openReadOnly(t, nil) })
		return
	}
	// Root may write everything; be nobody.
	openReadOnly(t, &syscall.Credential{Uid: 65534, Gid: 65534})
}

func openReadOnly(t *testing.T, as *syscall.Credential) {
	dir, err := os.MkdirTemp("", "preface-log")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "log.db")
	openLog(t, path).Close()
	before := readFile(t, path)
	f := func(what string, fileMode, dirMode os.FileMode) {
		t.Helper()
		if err := os.Chmod(path, fileMode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, dirMode); err != nil {
			t.Fatal(err)
		}
		out := runAs(t, as, "open", path)
		if !strings.HasPrefix(out, "error: cannot open header log /") || !strings.Contains(out, "write") && !strings.Contains(out, "permission") {
			t.Errorf("%s: the child says %q, want an error that says what it may not", what, out)
		}
		if !bytes.Equal(readFile(t, path), before) {
			t.Errorf("%s: the file was changed", what)
		}
	}
	f("no access", 0o600, 0o755)
	f("a file to read only", 0o444, 0o777)
	f("a directory to read only", 0o666, 0o555)
	f("both to read only", 0o444, 0o555)
	os.Chmod(dir, 0o777)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	os.Chmod(dir, 0o555)
	if out := runAs(t, as, "open", path); !strings.HasPrefix(out, "error: cannot open header log /") {
		t.Errorf("no file in a directory to read only: the child says %q", out)
	}
}

// runAs runs a child role to its end, as another user if as is not nil, and
// returns what it says.
func runAs(t testing.TB, as *syscall.Credential, role, path string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if as != nil { // the test binary lies where only its owner may look
		own := filepath.Join(filepath.Dir(path), "child.test")
		if _, err := os.Stat(own); err != nil {
			if err := os.WriteFile(own, readFile(t, self), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(own, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		self = own
	}
	cmd := exec.Command(self, path)
	cmd.Dir = "/"
	cmd.Env = childEnviron(role)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	out, err := cmd.CombinedOutput()
	if _, ran := err.(*exec.ExitError); err != nil && !ran {
		t.Skipf("cannot run a child as another user: %v", err)
	}
	return strings.TrimSpace(string(out))
}
