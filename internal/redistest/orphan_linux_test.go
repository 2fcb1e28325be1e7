package redistest

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestInvariant1_ServersDieWithAKilledTest(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimEnv+"="+t.TempDir())
	in, err := cmd.StdinPipe() // never closed: the victim waits for it
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	addr, ok := strings.CutPrefix(strings.TrimSpace(line), "addr ")
	if !ok {
		t.Fatalf("the victim said %q, not where its server is", line)
	}
	if err := await("the server's end", func() error {
		if v, err := ask(addr, []string{"PING"}); err == nil {
			return Error("it still answers " + v.(string))
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}
