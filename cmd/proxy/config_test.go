package main

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"

	"github.com/goccy/go-yaml/ast"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-9236c7ca/preface/proxy/identity"
)

const sample = "../../configs/preface.yaml"

// uncommented returns the sample with its examples, written to a file.
func uncommented(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile(`(?m)^#( +(?:[a-z-]|#).*)$`)
	inContributors := regexp.MustCompile(`(?ms)^contributors:\n(?:#.*?\n)+\n`)
	b = inContributors.ReplaceAllFunc(b, func(part []byte) []byte { return examples.ReplaceAll(part, []byte("$1")) })
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b = regexp.MustCompile(`/run/secrets/\w+`).ReplaceAll(b, []byte(secret))
	name := filepath.Join(t.TempDir(), "preface.yaml")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// What configs/preface.yaml says are the defaults are the defaults.
func TestSampleIsTheDefault(t *testing.T) {
	from, err := load(options{config: sample})
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir()) // no AGENTS.md
	none, err := load(options{})
	if err != nil {
		t.Fatal(err)
	}
	none.Identity = identity.Defaults()
	if diff := cmp.Diff(none.config, from.config, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("configs/preface.yaml is not what no file means (-default +file):\n%s", diff)
	}
}

func TestSampleExamplesLoad(t *testing.T) {
	s, err := load(options{config: uncommented(t)})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, c := range s.Contributors {
		kinds[c.Kind] = true
	}
	want := map[string]bool{"text": true, "file": true, "skills": true, "http": true}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("the examples have other kinds of contributor (-want +got):\n%s", diff)
	}
	if got := s.Contributors[3].Headers["authorization"]; got != "Bearer s3cret" {
		t.Errorf("authorization = %q, want the file's content", got)
	}
}

// Every key of every struct is in the sample, set or as an example.
func TestSampleHasEveryKey(t *testing.T) {
	src, err := readSource("configuration", uncommented(t))
	if err != nil {
		t.Fatal(err)
	}
	there := keysThere{}
	there.collect(src.root, reflect.TypeFor[config]())
	for of, seen := range there {
		for key := range keysOf(of) {
			if !seen[key] {
				t.Errorf("configs/preface.yaml lacks the key %s of %v", key, of)
			}
		}
	}
	if len(there) < 12 {
		t.Errorf("found the keys of %d structs: the walk is broken", len(there))
	}
}

// keysThere says which keys of a struct are in a file.
type keysThere map[reflect.Type]map[string]bool

func (k keysThere) collect(n ast.Node, t reflect.Type) {
	switch n := n.(type) {
	case ast.MapNode:
		if t.Kind() == reflect.Struct && k[t] == nil {
			k[t] = map[string]bool{}
		}
		for each := n.MapRange(); each.Next() && t.Kind() == reflect.Struct; {
			key := each.Key().GetToken().Value
			k[t][key] = true
			k.collect(each.Value(), keysOf(t)[key])
		}
	case *ast.SequenceNode:
		for _, item := range n.Values {
			k.collect(item, t.Elem())
		}
	}
}
