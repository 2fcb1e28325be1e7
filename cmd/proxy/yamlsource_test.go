package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A tree is a configuration of every type that ours has.
type tree struct {
	Leaf `yaml:",inline"`
	List []Leaf            `yaml:"list"`
	Map  map[string]string `yaml:"map"`
	Sub  Leaf              `yaml:"sub"`
}

type Leaf struct {
	Text string        `yaml:"text"`
	Int  int           `yaml:"int"`
	Big  int64         `yaml:"big"`
	Flag bool          `yaml:"flag"`
	Wait time.Duration `yaml:"wait"`
	Each []string      `yaml:"each"`
}

func noEnv(string) (string, bool) { return "", false }

func decode(text string, v any, lookup func(string) (string, bool)) error {
	s, err := parseSource("f.yaml", []byte(text))
	if err != nil {
		return err
	}
	return s.into(v, &expander{lookup: lookup})
}

func TestDecode(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"N": "17", "T": "1s", "X": "x: y", "E": ""}[name]
		return v, ok
	}
	f := func(in string, want tree) {
		t.Helper()
		var got tree
		if err := decode(in, &got, env); err != nil {
			t.Errorf("decode(%q) = %v, want %+v", in, err, want)
			return
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(tree{})); diff != "" {
			t.Errorf("decode(%q) differs (-want +got):\n%s", in, diff)
		}
	}
	f("", tree{})
	f("# nothing\n", tree{})
	f("text:\nlist:\nwait:\nflag:\nmap:\n", tree{})
	f("text: a\nint: 5\nbig: 0x10\nflag: true\nwait: 1m\neach: [a, b]\n", tree{Leaf: Leaf{"a", 5, 16, true, time.Minute, []string{"a", "b"}}})
	f("list:\n- text: a\n- {int: 1}\nsub: {text: b}\nmap: {any: c}\n", tree{
		List: []Leaf{{Text: "a"}, {Int: 1}}, Sub: Leaf{Text: "b"}, Map: map[string]string{"any": "c"}})
	f("text: |\n  two\n  lines\n", tree{Leaf: Leaf{Text: "two\nlines\n"}})
	f("text: &a x\nsub: {text: *a}\n", tree{Leaf: Leaf{Text: "x"}, Sub: Leaf{Text: "x"}})
	// What is put in takes the type that is wanted, and is no YAML.
	f("int: ${N}\nwait: ${T}\ntext: ${N}\n", tree{Leaf: Leaf{Text: "17", Int: 17, Wait: time.Second}})
	f("text: ${X}\neach: [\"${X}\", 'a ${N}']\n", tree{Leaf: Leaf{Text: "x: y", Each: []string{"x: y", "a 17"}}})
	f("text: |\n  ${N}\n  $${N}\n", tree{Leaf: Leaf{Text: "17\n${N}\n"}})
	f("text: &a ${N}\nsub: {text: *a}\n", tree{Leaf: Leaf{Text: "17"}, Sub: Leaf{Text: "17"}})
	f("map: {\"${N}\": \"${E}\"}\n", tree{Map: map[string]string{"${N}": ""}})
}

func TestDecodeSaysWhere(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		var got tree
		err := decode(in, &got, noEnv)
		if fmt.Sprint(err) != want {
			t.Errorf("decode(%q) = %v\nwant %s", in, err, want)
		}
	}
	f("texd: a\n", "f.yaml:1:1: unknown key \"texd\": did you mean text?\n   1 | texd: a\n       ^")
	f("sub:\n\n  other: a\n", "f.yaml:3:3: unknown key \"other\": want one of big, each, flag, int, text, wait\n   3 |   other: a\n         ^")
	f("list: {text: a}\n", "f.yaml:1:7: want a list here, each item behind a dash\n   1 | list: {text: a}\n             ^")
	f("sub: a\n", "f.yaml:1:6: want keys with values here\n   1 | sub: a\n            ^")
	f("- a\n", "f.yaml:1:1: want keys with values here\n   1 | - a\n       ^")
	f("int: a\n", "f.yaml:1:6: want a whole number\n   1 | int: a\n            ^")
	f("int: 1e3\n", "f.yaml:1:6: want a whole number\n   1 | int: 1e3\n            ^")
	f("flag: yes\n", "f.yaml:1:7: want true or false\n   1 | flag: yes\n             ^")
	f("text: 1.10\n", "f.yaml:1:7: want text; put it in quotes\n   1 | text: 1.10\n             ^")
	f("text: true\n", "f.yaml:1:7: want text; put it in quotes\n   1 | text: true\n             ^")
	f("text: [a]\n", "f.yaml:1:7: want text; put it in quotes\n   1 | text: [a]\n             ^")
	f("wait: 5\n", "f.yaml:1:7: want a time with its unit, such as 500ms, 10m or 720h\n   1 | wait: 5\n             ^")
	f("map: {a: [b]}\n", "f.yaml:1:10: want text; put it in quotes\n   1 | map: {a: [b]}\n                ^")
	f("text: a\ntext: b\n", "f.yaml:2:1: mapping key \"text\" already defined at [1:1]\n   2 | text: b\n       ^")
	f("text: *a\n", "f.yaml:1:8: could not find alias \"a\"\n   1 | text: *a\n              ^")
	f("text: ä ${GONE}\n", "f.yaml:1:7: environment variable GONE is not set; set it, or give a default: ${GONE:-…}\n   1 | text: ä ${GONE}\n             ^")
}

func TestReadSourceRefuses(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large.yaml")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, maxConfig+1); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		large:                           "it has 4194305 bytes, more than 4194304",
		dir:                             "is a directory",
		filepath.Join(dir, "none.yaml"): "no such file",
	} {
		if _, err := readSource("configuration", name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("readSource(%q) = %v, want %s", name, err, want)
		}
	}
}

func TestDistance(t *testing.T) {
	f := func(a, b string, want int) {
		t.Helper()
		if got := distance(a, b); got != want {
			t.Errorf("distance(%q, %q) = %d, want %d", a, b, got, want)
		}
	}
	f("", "", 0)
	f("", "abc", 3)
	f("abc", "", 3)
	f("listen", "lisen", 1)
	f("contributor", "contributors", 1)
	f("kitten", "sitting", 3)
	f("ab", "ba", 2)
}

// A file that is being written while it is loaded anew must not end the
// program, and one that decodes must decode to what it says.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"text: a\n", "list:\n- {int: 1}\n", "map: {a: \"${B:-c}\"}\n", "text: &a x\nsub: {text: *a}\n", "<<: {text: a}\n", "text: |\n  a\n", "? text\n: a\n", "!!str text: !!int 5\n", "a: &a [*a]\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got tree
		if err := decode(text, &got, noEnv); err != nil {
			if !reflect.DeepEqual(got, tree{}) && !strings.HasPrefix(err.Error(), "f.yaml:") {
				t.Errorf("decode(%q) = %v without a place", text, err)
			}
		}
	})
}
