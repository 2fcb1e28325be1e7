package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
)

// files makes a working directory with these files.
func files(t *testing.T, content map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range content {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func mustLoad(t *testing.T, o options) *settings {
	t.Helper()
	s, err := load(o)
	if err != nil {
		t.Fatalf("load(%+v) = %v", o, err)
	}
	return s
}

func TestContributorsWithoutConfiguration(t *testing.T) {
	files(t, map[string]string{"AGENTS.md": "a", "c.yaml": "listen: 127.0.0.1:1\n", "b.md": "b"})
	f := func(o options, want ...string) {
		t.Helper()
		var got []string
		for _, c := range mustLoad(t, o).Contributors {
			got = append(got, c.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("load(%+v): contributors differ (-want +got):\n%s", o, diff)
		}
	}
	f(options{}, "AGENTS.md")
	f(options{listen: "127.0.0.1:2", policy: "enforced"}, "AGENTS.md")
	f(options{files: list{"b.md"}}, "b.md")
	f(options{files: list{"b.md", "b.md", "./AGENTS.md"}}, "b.md", "file-2", "AGENTS.md")
	f(options{config: "c.yaml"})
	if err := os.Remove("AGENTS.md"); err != nil {
		t.Fatal(err)
	}
	f(options{})
	if err := os.Mkdir("AGENTS.md", 0o700); err != nil {
		t.Fatal(err)
	}
	f(options{})
}

func TestFlagsWin(t *testing.T) {
	files(t, map[string]string{"c.yaml": `
listen: 127.0.0.1:1
admin: 127.0.0.1:2
log: {path: a.db}
routes:
- {name: anthropic, dialect: anthropic, upstream: "http://a"}
- {name: mine, path: /m, dialect: openai, upstream: "http://b", policy: enforced}
`})
	s := mustLoad(t, options{config: "c.yaml", listen: "l:3", admin: "off", log: "b.db", policy: "best_effort", upstreams: list{"mine=http://c/base"}})
	if s.Listen != "l:3" || s.Admin != "off" || s.Log.Path != "b.db" {
		t.Errorf("listen %q, admin %q, log %q, want those of the flags", s.Listen, s.Admin, s.Log.Path)
	}
	for i, want := range []string{"http://a best_effort", "http://c/base best_effort"} {
		if got := s.Routes[i].Upstream + " " + s.Routes[i].Policy; got != want {
			t.Errorf("route %d has %s, want %s", i, got, want)
		}
	}
	none := mustLoad(t, options{upstreams: list{"anthropic=http://a", "openai=http://b"}})
	for _, r := range none.Routes {
		want := map[string]string{"anthropic": "http://a", "openai": "http://b"}[r.Dialect]
		if r.Upstream != want {
			t.Errorf("built-in route %s goes to %s, want %s", r.Name, r.Upstream, want)
		}
	}
}

func TestFileName(t *testing.T) {
	f := func(path, want string) {
		t.Helper()
		taken := []contrib.Config{{Name: "taken.md"}}
		if got := fileName(taken, path); got != want {
			t.Errorf("fileName(%q) = %q, want %q", path, got, want)
		}
		if err := checkName(want); err != nil {
			t.Errorf("fileName(%q) = %q, which is no name: %v", path, want, err)
		}
	}
	f("AGENTS.md", "AGENTS.md")
	f("/a/b/AGENTS.md", "AGENTS.md")
	f("a/taken.md", "file-2")
	f("two words.md", "two-words.md")
	f(".hidden", "hidden")
	f("ä", "file-2")
	f("..", "file-2")
	f(strings.Repeat("x", 100), strings.Repeat("x", 64))
}

func checkName(name string) error {
	_, err := contrib.NewComposer([]contrib.Config{{Name: name, Kind: "text", Text: "x"}})
	return err
}

func TestClosing(t *testing.T) {
	files(t, map[string]string{"c.yaml": `
prefix: {closing: Yes.}
routes:
- {name: all, dialect: anthropic, upstream: "http://a"}
- {name: none, path: /n, dialect: anthropic, upstream: "http://a", contributors: [never]}
- {name: said, path: /s, dialect: anthropic, upstream: "http://a", contributors: [user, said]}
contributors:
- {name: user, kind: text, text: Be kind.}
- {name: said, kind: text, text: I will., role: assistant, when: {route: said}}
- {name: never, kind: text, text: x, when: {route: other}}
`})
	s := mustLoad(t, options{config: "c.yaml"})
	for i, want := range []string{"[{user Be kind.} {assistant Yes.}]", "[]", "[{user Be kind.} {assistant I will.}]"} {
		p, err := s.composed(t.Context(), s.Routes[i], imagined{session: "s"})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(p.Messages); got != want {
			t.Errorf("route %s: %s, want %s", s.Routes[i].Name, got, want)
		}
	}
}

func TestHash(t *testing.T) {
	files(t, map[string]string{
		"a.yaml": "listen: x:1\nlogging: {level: info}\n",
		"b.yaml": "# other layout\nlogging:\n  level: info\nlisten: \"x:1\"\n",
		"c.yaml": "listen: x:2\nlogging: {level: info}\n",
		"d.yaml": "contributors: [{kind: text, text: \"${PREFACE_TEST}\"}]\n",
		"f.md":   "f",
	})
	t.Setenv("PREFACE_TEST", "one")
	hash := func(o options) string { return mustLoad(t, o).hash }
	if a, b := hash(options{config: "a.yaml"}), hash(options{config: "b.yaml"}); a != b {
		t.Errorf("hashes of one meaning in two layouts are %s and %s", a, b)
	}
	before := hash(options{config: "d.yaml"})
	t.Setenv("PREFACE_TEST", "two")
	if after := hash(options{config: "d.yaml"}); after != before {
		t.Errorf("the hash changed with the environment from %s to %s", before, after)
	}
	seen := map[string]options{}
	for _, o := range []options{
		{}, {config: "a.yaml"}, {config: "c.yaml"}, {config: "d.yaml"}, {listen: "x:1"}, {policy: "enforced"},
		{files: list{"f.md"}}, {upstreams: list{"openai=http://a"}}, {log: "x.db"}, {admin: "off"},
	} {
		h := hash(o)
		if other, ok := seen[h]; ok {
			t.Errorf("%+v and %+v have one hash", o, other)
		}
		seen[h] = o
	}
	if err := os.WriteFile("AGENTS.md", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := seen[hash(options{})]; ok {
		t.Error("a found AGENTS.md does not count in the hash")
	}
}

// I12: a secret shows in no error of a configuration, wherever it stands.
func TestI12_ConfigurationErrorsHideSecrets(t *testing.T) {
	t.Setenv("SECRET", "hunter2-hunter2")
	for _, text := range []string{
		"listen: ${SECRET}\nlimits: {body: x}\n",
		"limits: {body: \"${SECRET}\"}\n",
		"timeouts: {drain: \"${SECRET}\"}\n",
		"logging: {level: \"${SECRET}\"}\n",
		"logging: {format: \"${SECRET}\"}\n",
		"log: {path: \"${SECRET}:x\"}\n",
		"log: {sync: \"${SECRET}\"}\n",
		"routes: [{dialect: \"${SECRET}\", upstream: \"http://a\"}]\n",
		"routes: [{dialect: anthropic, upstream: \"http://a:${SECRET}@b\"}]\n",
		"routes: [{dialect: anthropic, upstream: \"${SECRET}\"}]\n",
		"contributors: [{kind: \"${SECRET}\"}]\n",
		"contributors: [{kind: http, url: \"${SECRET}\"}]\n",
		"contributors: [{kind: http, url: \"http://a\", headers: {authorization: \"${SECRET}\\n\"}}]\n",
	} {
		files(t, map[string]string{"c.yaml": text})
		if _, err := load(options{config: "c.yaml"}); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("load of %q = %v, want an error without the secret", text, err)
		}
	}
}
