package explain

import "testing"

func TestAgreement(t *testing.T) {
	f := func(dialect, cause, against, word, asked, want string) {
		t.Helper()
		got := Agreement(&Request{Dialect: dialect, Verdict: word, Asked: asked}, &Verdict{Cause: cause, Against: against})
		if got != want {
			t.Errorf("%s: %q against %q, and the provider says %q about %q: %q, want %q", dialect, cause, against, word, asked, got, want)
		}
	}
	const anthropic, responses = "anthropic", "openai-responses"
	f(anthropic, ToolsChanged, "r1", "tools_changed", "r1", Agrees)
	f(anthropic, ToolsChanged, "r1", "system_changed", "r1", Disagrees)
	f(anthropic, ToolsChanged, "r1", "tools_changed", "r2", Incomparable)
	f(anthropic, ToolsChanged, "r1", "tools_changed", "", Incomparable)
	f(anthropic, ToolsChanged, "r1", NoDifference, "r1", Disagrees)
	f(anthropic, Expired, "r1", NoDifference, "r1", Agrees)
	f(anthropic, "", "", NoDifference, "r1", Agrees)
	f(anthropic, "", "", "messages_changed", "r1", Incomparable)
	f(anthropic, Unknown, "r1", NoDifference, "r1", Disagrees)
	f(responses, "", "", "cache_hit", "r1", Agrees)
	f(responses, "", "", "input_changed", "r1", Disagrees)
	f(responses, ToolsChanged, "r1", "cache_hit", "r1", Disagrees)
	f(responses, Expired, "r1", "unavailable", "r1", Agrees)
	f(responses, HistoryRewritten, "r1", "context_compacted", "r1", Agrees)
	f("openai-chat", ToolsChanged, "r1", "tools_changed", "r1", Disagrees)
}
