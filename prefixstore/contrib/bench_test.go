package contrib_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
)

func benchmark(b *testing.B, cfgs ...contrib.Config) {
	b.Helper()
	c, err := contrib.NewComposer(cfgs)
	if err != nil {
		b.Fatal(err)
	}
	s := contrib.Session{Tenant: "t", Session: "s", Model: "claude-x"}
	b.ReportAllocs()
	for b.Loop() {
		r, err := c.Compose(b.Context(), s)
		if err != nil || len(r.Messages) != len(cfgs) {
			b.Fatalf("Compose = %d messages, %v", len(r.Messages), err)
		}
	}
}

func BenchmarkComposeText4K(b *testing.B) {
	benchmark(b, contrib.Config{Kind: "text", Text: strings.Repeat("Be careful. ", 341)})
}

func BenchmarkComposeTextInEnvelope4K(b *testing.B) {
	benchmark(b, contrib.Config{Kind: "text", Text: strings.Repeat("Be careful. ", 341), Envelope: "system-reminder"})
}

func BenchmarkComposeFile4K(b *testing.B) {
	root := b.TempDir()
	write(b, root, "AGENTS.md", strings.Repeat("Be careful. ", 341))
	benchmark(b, contrib.Config{Kind: "file", Root: root, Paths: []string{"AGENTS.md"}})
}

func BenchmarkComposeGlobOf1000Folders(b *testing.B) {
	root := b.TempDir()
	for i := range 1000 {
		write(b, root, fmt.Sprintf("d%d/e/notes.txt", i), "x")
	}
	write(b, root, "AGENTS.md", "Be careful.")
	benchmark(b, contrib.Config{Kind: "file", Root: root, Paths: []string{"**/AGENTS.md"}, Deadline: 1e10})
}
