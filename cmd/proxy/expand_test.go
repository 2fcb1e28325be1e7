package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExpand(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("sk-1 \r\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := &expander{lookup: func(name string) (string, bool) {
		v, ok := map[string]string{"A": "x", "EMPTY": "", "NEST": "${A}", "_b1": "y"}[name]
		return v, ok
	}}
	f := func(in, want string) {
		t.Helper()
		if got, err := e.text(in); err != nil || got != want {
			t.Errorf("text(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	f("", "")
	f("plain $A {A} $", "plain $A {A} $")
	f("${A}", "x")
	f("a${A}b${_b1}c", "axbyc")
	f("${A:-z}${EMPTY:-z}${GONE:-z}${GONE:-}", "xzz")
	f("${GONE:-a:-b c}", "a:-b c")
	f("[${EMPTY}]", "[]")
	f("${NEST}", "${A}")
	f("$${A} $$${A}", "${A} $${A}")
	f("Bearer ${file:"+path+"}", "Bearer sk-1 ")
}

func TestExpandRefuses(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, make([]byte, maxSecret+1), 0o600); err != nil {
		t.Fatal(err)
	}
	e := &expander{lookup: noEnv}
	f := func(in, want string) {
		t.Helper()
		if _, err := e.text(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("text(%q) = %v, want %s", in, err, want)
		}
	}
	f("${GONE}", "environment variable GONE is not set")
	f("a ${", "${ has no closing brace")
	f("${A", "${A has no closing brace")
	f("${}", "${} names no environment variable")
	f("${1}", "${1} names no environment variable")
	f("${a-b}", "${a-b} names no environment variable")
	f("${#A}", "names no environment variable")
	f("${file:/none/key}", "cannot read ${file:…}: open /none/key: no such file")
	f("${file:"+large+"}", "more than 65536 bytes")
}

// I12: what was put in shows in no error.
func TestI12_ExpandedValuesAreHidden(t *testing.T) {
	e := &expander{lookup: func(name string) (string, bool) {
		return map[string]string{"KEY": "hunter2", "QUOTED": "a\"b\\c", "ON": "on"}[name], true
	}}
	if _, err := e.text("${KEY} ${QUOTED} ${ON}"); err != nil {
		t.Fatal(err)
	}
	cause := errors.New("cause")
	f := func(in error, want string) {
		t.Helper()
		got := e.hide(in)
		if fmt.Sprint(got) != want || in != nil && !errors.Is(got, cause) {
			t.Errorf("hide(%v) = %v, want %s around its cause", in, got, want)
		}
	}
	f(nil, "<nil>")
	f(cause, "cause")
	f(fmt.Errorf("cannot use %q: %w", "x-hunter2-y", cause), `cannot use "x-${KEY}-y": cause`)
	f(fmt.Errorf("cannot use %q: %w", "a\"b\\c", cause), `cannot use "${QUOTED}": cause`)
	f(fmt.Errorf("cannot go on: %w", cause), "cannot go on: cause") // "on" is too short to be a secret
}
