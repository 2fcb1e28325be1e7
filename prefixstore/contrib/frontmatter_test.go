package contrib

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestCutFrontMatter(t *testing.T) {
	f := func(in, want string, wantErr error) {
		t.Helper()
		got, err := cutFrontMatter([]byte(in))
		if string(got) != want || err != wantErr {
			t.Errorf("cutFrontMatter(%q) = %q, %v, want %q, %v", in, got, err, want, wantErr)
		}
	}
	f("---\na: b\n---\nbody", "a: b\n", nil)
	f("---\n---", "", nil)
	f("--- \t\r\na\r\n---\r\n", "a\r\n", nil)
	f("\ufeff---\na\n---", "a\n", nil)
	f("---\n ---\na: ---\n----\n---\n", " ---\na: ---\n----\n", nil)
	f("", "", errNoFrontMatter)
	f("\n---\n---\n", "", errNoFrontMatter)
	f(" ---\n---\n", "", errNoFrontMatter)
	f("----\n---\n", "", errNoFrontMatter)
	f("---", "", errOpenMatter)
	f("---\n", "", errOpenMatter)
	f("---\na", "", errOpenMatter)
}

// Aliases that multiply must not cost memory: of nine levels of nine, one
// would need gigabytes.
func TestFrontMatterAliasesDoNotMultiply(t *testing.T) {
	y := "---\ndescription: x\na0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		refs := strings.TrimSuffix(strings.Repeat("*a"+string(rune('0'+i))+",", 9), ",")
		y += "a" + string(rune('1'+i)) + ": &a" + string(rune('1'+i)) + " [" + refs + "]\n"
	}
	m, err := parseFrontMatter([]byte(y + "---\n"))
	if err != nil || m.Description != "x" {
		t.Errorf("parseFrontMatter = %+v, %v, want the description", m, err)
	}
}

func FuzzFrontMatter(f *testing.F) {
	f.Add([]byte("name: deploy\ndescription: Ship it.\n"))
	f.Add([]byte("description: >\r\n  a\r\n  b\r\n"))
	f.Add([]byte("name: &a x\ndescription: *a\n"))
	f.Add([]byte("- list\n---\n"))
	f.Fuzz(func(t *testing.T, y []byte) {
		parseFrontMatter(y) // must not panic, whatever it begins with
		b := slices.Concat([]byte("---\n"), y, []byte("\n---\nbody"))
		before := bytes.Clone(b)
		k, err := newSkill("folder", b)
		if !bytes.Equal(b, before) {
			t.Fatalf("newSkill(%q) changed its input", before)
		}
		if err != nil {
			return
		}
		if k.name == "" || k.description == "" || checkText(k.name+k.description) != nil || strings.ContainsAny(k.name+k.description, "\r\n") {
			t.Errorf("newSkill(%q) = %+q, want a line of text each", b, k)
		}
		cut, err := cutFrontMatter(b)
		if err != nil || !bytes.HasPrefix(b[len("---\n"):], cut) {
			t.Errorf("cutFrontMatter(%q) = %q, %v, want its beginning", b, cut, err)
		}
	})
}
