package dialect

import (
	"strings"

	"github.com/seed-9236c7ca/preface/proxy/internal/lineage"
)

// Family returns the API family of a dialect's name: what stands before its
// first hyphen. The dialects of one family share a provider and its
// credentials.
func Family(name string) string {
	family, _, _ := strings.Cut(name, "-")
	return family
}

// Histories begin where their family does, so that the same words over two APIs
// are two conversations: the routes of one family know nothing of the other's.
var (
	anthropicOrigin = lineage.Of([]byte("anthropic"))
	openaiOrigin    = lineage.Of([]byte("openai"))
)

// owned lists paths, beside the model calls, that only one family's clients
// ask for, without a leading /v1 and with everything below them. Paths that
// both families have, such as /v1/models, are not among them.
var owned = map[string]string{
	"/messages":          "anthropic",
	"/complete":          "anthropic",
	"/organizations":     "anthropic",
	"/api/hello":         "anthropic", // Claude Code's probe at start
	"/api/event_logging": "anthropic",
	"/api/claude_cli":    "anthropic",
	"/responses":         "openai",
	"/chat":              "openai",
	"/completions":       "openai",
	"/conversations":     "openai",
	"/embeddings":        "openai",
	"/moderations":       "openai",
	"/images":            "openai",
	"/audio":             "openai",
	"/realtime":          "openai",
	"/vector_stores":     "openai",
	"/fine_tuning":       "openai",
	"/assistants":        "openai",
	"/threads":           "openai",
}

// Owner returns the family whose clients use a path, or "" if the path does not
// tell.
func Owner(path string) string {
	path = strings.TrimPrefix(path, "/v1")
	for p, family := range owned {
		if path == p || strings.HasPrefix(path, p+"/") {
			return family
		}
	}
	return ""
}
