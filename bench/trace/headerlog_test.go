package trace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-9236c7ca/preface/logsink"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestHeaderLogWithoutUsage: where nothing was reported, four bytes are a token; and
// what was sent first comes first, in whatever order it was stored.
func TestHeaderLogWithoutUsage(t *testing.T) {
	k := logsink.Key{Tenant: "t", Session: "s"}
	late := logged{second: 9, messages: 3, size: 1600, thread: "main", header: "gone"}.records("late", k)
	late[1].Response.Usage = nil
	first := logged{messages: 1, size: 1000, thread: "main", header: "h1", fresh: 500}.records("first", k)
	r, err := Open(writeLog(t, append(late, first...), k))
	if err != nil {
		t.Fatal(err)
	}
	got, err := all(t, r)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || !got[0].First || got[0].Input != 500 || got[1].First || got[1].Input != 400 || got[1].Reported {
		t.Errorf("requests %+v, want one of 500 tokens, and then one of 400 that were not reported", got)
	}
}

// TestHeaderLogFaults: a file that is no header log, and one that stops being one.
func TestHeaderLogFaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	if err := os.WriteFile(path, []byte("SQLite format 3\x00 and nothing more"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.HasPrefix(err.Error(), "cannot read the trace (-trace): ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("a file that only begins like a log: error %v, want one line", err)
	}
	r := &Reader{from: pulled(func() ([]Request, error, bool) { return nil, &Fault{File: "x.db", Reason: "gone"}, true })}
	var q Request
	for range 2 { // a fault ends the reading
		if err := r.Next(&q); err == nil || err.Error() != "x.db: gone" {
			t.Errorf("a log that fails: error %v", err)
		}
	}
}
