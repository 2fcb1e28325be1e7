package contrib

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

func TestNewComposerNamesContributorAndKey(t *testing.T) {
	text := func(change func(*Config)) []Config {
		c := Config{Name: "policy", Kind: "text", Text: "x"}
		change(&c)
		return []Config{c}
	}
	of := func(c Config) []Config { c.Name = "policy"; return []Config{c} }
	for _, tc := range []struct {
		cfgs []Config
		want string
	}{
		{of(Config{}), `unknown contributor kind "": want one of [file http skills text]`},
		{of(Config{Kind: "exec"}), `unknown contributor kind "exec": want one of [file http skills text]`},
		{text(func(c *Config) { c.Name = "policy"; c.Envelope = "<b>" }),
			`cannot use envelope "<b>": want a tag's name such as system-reminder, without brackets`},
		{text(func(c *Config) { c.Envelope = "Note" }),
			`cannot use envelope "Note": want a tag's name such as system-reminder, without brackets`},
		{text(func(c *Config) { c.MaxBytes = -1 }), `cannot use max_bytes -1: want 1 to 4194304`},
		{text(func(c *Config) { c.MaxBytes = 1 << 30 }), `cannot use max_bytes 1073741824: want 1 to 4194304`},
		{text(func(c *Config) { c.Deadline = -time.Second }), `cannot use deadline -1s: want more than 0`},
		{text(func(c *Config) { c.OnError = "ignore" }), `cannot use on_error "ignore": want refuse or skip`},
		{text(func(c *Config) { c.When.Headers = map[string]string{"Authorization": "*"} }),
			`cannot use header "authorization" in when.headers or forward_headers: it holds a credential`},
		{text(func(c *Config) { c.When.Headers = map[string]string{"x y": "*"} }),
			`cannot use header name "x y" in when.headers or forward_headers: it is no header name`},
		{text(func(c *Config) { c.Text = "a\x00" }), `cannot use text: text holds a NUL character, which providers refuse`},
		{text(func(c *Config) { c.Text = "</n>"; c.Envelope = "n" }), `cannot use text: text holds </n> and would end its own envelope`},
		{text(func(c *Config) { c.Text = "four"; c.MaxBytes = 3 }), `cannot use text of 4 bytes: max_bytes=3`},
		{text(func(c *Config) { c.URL = "http://h" }), `cannot use url: a contributor of kind text has no such key`},
		{text(func(c *Config) { c.Paths = []string{} }), `cannot use paths: a contributor of kind text has no such key`},
		{of(Config{Kind: "file"}), `cannot use paths []: a contributor of kind file needs at least one`},
		{of(Config{Kind: "file", Paths: []string{"a", ""}}), `cannot use "" in paths: it is neither a path nor a glob`},
		{of(Config{Kind: "file", Paths: []string{"a/[b"}}), `cannot use "a/[b" in paths: it is neither a path nor a glob`},
		{of(Config{Kind: "file", Paths: []string{"a"}, Folder: "b"}), `cannot use folder: a contributor of kind file has no such key`},
		{of(Config{Kind: "skills"}), `cannot use folder "": a contributor of kind skills needs one`},
		{of(Config{Kind: "http", URL: "h:/x y"}), `cannot use url: want http:// or https:// and a host`},
		{of(Config{Kind: "http", URL: "http://%zz"}), `cannot use url: it is no URL`},
		{of(Config{Kind: "http", URL: "ftp://host/x"}), `cannot use url: want http:// or https:// and a host`},
		{of(Config{Kind: "http", URL: "http://u:sk-CANARY@host"}), `cannot use url with user and password: send them in headers`},
		{of(Config{Kind: "http", URL: "http://h", Headers: map[string]string{"x-a": "sk-CANARY\n"}}),
			`cannot use the value of header "x-a" in headers: it has a control character`},
		{of(Config{Kind: "http", URL: "http://h", Headers: map[string]string{"x:": "sk-CANARY"}}),
			`cannot use header name "x:" in headers: it is no header name`},
		{of(Config{Kind: "http", URL: "http://h", Headers: map[string]string{"Host": "a"}}),
			`cannot use header "host" in headers: the HTTP client sets it`},
		{of(Config{Kind: "http", URL: "http://h", ForwardHeaders: []string{"X-Api-Key"}}),
			`cannot use header "x-api-key" in when.headers or forward_headers: it holds a credential`},
	} {
		_, err := NewComposer(tc.cfgs)
		if got, want := fmt.Sprint(err), `contributor "policy": `+tc.want; got != want {
			t.Errorf("NewComposer(%+v) = %v\nwant %s", tc.cfgs, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	c, err := NewComposer([]Config{{Kind: "text"}, {Kind: "text", Name: "policy_1.0"}, {Kind: "skills", Folder: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, st := range c.steps {
		got = append(got, st.cfg.Name)
	}
	if diff := cmp.Diff([]string{"text-1", "policy_1.0", "skills-3"}, got); diff != "" {
		t.Errorf("names differ (-want +got):\n%s", diff)
	}
	for _, bad := range []string{"a b", "-a", "a\n", "ä", strings.Repeat("a", 65)} {
		if _, err := NewComposer([]Config{{Kind: "text", Name: bad}}); err == nil || !strings.Contains(err.Error(), "cannot use name") {
			t.Errorf("NewComposer with name %q = %v, want an error about the name", bad, err)
		}
	}
	_, err = NewComposer([]Config{{Kind: "text", Name: "text-2"}, {Kind: "text"}})
	if want := `contributor "text-2": cannot use name "text-2" twice`; fmt.Sprint(err) != want {
		t.Errorf("NewComposer = %v, want %s", err, want)
	}
}

func TestConfigIsNotShared(t *testing.T) {
	cfg := Config{Kind: "http", URL: "http://127.0.0.1/", ForwardHeaders: []string{"X-A"},
		Headers: map[string]string{"X-B": "b"}, When: Matcher{Headers: map[string]string{"X-C": "c*"}}}
	c, err := NewComposer([]Config{cfg})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.ForwardHeaders[0] != "X-A" || cfg.Headers["X-B"] != "b" || cfg.When.Headers["X-C"] != "c*" {
		t.Errorf("NewComposer changed its argument to %+v", cfg)
	}
	cfg.ForwardHeaders[0] = "authorization"
	if diff := cmp.Diff([]string{"x-a", "x-c"}, c.HeaderNames()); diff != "" {
		t.Errorf("HeaderNames differs (-want +got):\n%s", diff)
	}
}

func TestConfigReadsAsStrictYAML(t *testing.T) {
	const y = `
name: team
kind: http
role: developer
envelope: system-reminder
max_bytes: 1000
deadline: 250ms
on_error: skip
when: {route: main, dialect: anthropic.messages, model: "claude-*", tenant: ab, headers: {x-team: core}}
allow_volatile: true
url: http://127.0.0.1/opener
headers: {authorization: Bearer x}
forward_headers: [x-repo]
`
	var got Config
	if err := yaml.UnmarshalWithOptions([]byte(y), &got, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	want := Config{Name: "team", Kind: "http", Role: "developer", Envelope: "system-reminder", MaxBytes: 1000,
		Deadline: 250 * time.Millisecond, OnError: Skip, AllowVolatile: true, URL: "http://127.0.0.1/opener",
		When:    Matcher{Route: "main", Dialect: "anthropic.messages", Model: "claude-*", Tenant: "ab", Headers: map[string]string{"x-team": "core"}},
		Headers: map[string]string{"authorization": "Bearer x"}, ForwardHeaders: []string{"x-repo"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the YAML reads as something else (-want +got):\n%s", diff)
	}
	if _, err := NewComposer([]Config{got}); err != nil {
		t.Errorf("NewComposer of it = %v, want nil", err)
	}
	if err := yaml.UnmarshalWithOptions([]byte("deadlines: 1s"), &got, yaml.Strict()); err == nil {
		t.Error("an unknown key was read, want an error")
	}
}
