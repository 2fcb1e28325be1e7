package account

import (
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/internal/redistest"
	"github.com/seed-9236c7ca/preface/logsink"
)

// Logs of the same records have the same report, whatever they are stored in.
func TestRedisAndSQLiteAgree(t *testing.T) {
	c := logsink.DefaultConfig()
	c.Path, c.Durability = redistest.Start(t).URL(), logsink.DurableMemory
	var reports []string
	for _, s := range []*sample{newSample(t), openSample(t, c)} {
		fill(s)
		s.freeze(logsink.Key{Tenant: "beef", Session: hostile}, 1, "one", sampleEnd)
		var b strings.Builder
		if err := s.read(nil).WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		reports = append(reports, b.String())
	}
	if reports[0] != reports[1] {
		t.Errorf("of SQLite:\n%s\nof Redis:\n%s", reports[0], reports[1])
	}
}
