package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/admin"
)

const badText = "\x1b]0;owned\x07\x1b[2J\u202egnp.exe\r\n\x9b31m<script>"

// hostile is an overview in which everything that others choose speaks to a
// terminal.
func hostile() admin.Summary {
	half := 0.5
	g := admin.Group{Sums: admin.Sums{Requests: 7, Priced: 1, Paid: 1234567e12}, Saved: -3e11, Rates: admin.Rates{OfInputTokens: &half}, Causes: []admin.Cause{{Name: badText, Requests: 3, Lost: 5}}}
	return admin.Summary{
		Version: badText, Ready: true, Hour: g, Day: g, Total: g, Known: 1, Active: 1,
		Recent: []admin.Session{{Key: logsink.Key{Session: strings.Repeat(badText, 50)}, Cause: badText, Requests: 7}},
	}
}

func overviewServer(t *testing.T, token string, s admin.Summary) string {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/api/overview":
			http.NotFound(w, r)
		case token != "" && r.Header.Get("Authorization") != "Bearer "+token:
			w.WriteHeader(http.StatusUnauthorized)
		default:
			_ = json.NewEncoder(w).Encode(s)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestTopCannotBeSpokenThrough(t *testing.T) {
	var out strings.Builder
	if err := top(t.Context(), []string{"-admin", overviewServer(t, "", hostile()), "-once"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, r := range out.String() {
		if r != '\n' && !unicode.IsGraphic(r) {
			t.Fatalf("top printed %U: %q", r, out.String())
		}
	}
	if lines := strings.Count(out.String(), "\n"); lines != 21 {
		t.Errorf("top printed %d lines, want 21: what others chose must break none:\n%s", lines, out.String())
	}
	for _, want := range []string{"50.0%", "-$0.3000", "<script>", "1 active of 1 sessions"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("top printed %q, want %q in it", out.String(), want)
		}
	}
}

func TestTopSendsItsToken(t *testing.T) {
	at := overviewServer(t, "0123456789abcdef", admin.Summary{})
	f := func(args []string, want string) {
		t.Helper()
		err := top(t.Context(), append(args, "-admin", at), io.Discard, io.Discard)
		if got := ""; err != nil {
			got = err.Error()
			if want == "" || !strings.Contains(got, want) {
				t.Errorf("top %q = %q, want %q", args, got, want)
			}
		} else if want != "" {
			t.Errorf("top %q succeeded, want %q", args, want)
		}
	}
	f(nil, tokenVariable)
	f([]string{"-token", "wrong"}, tokenVariable)
	f([]string{"-token", "0123456789abcdef"}, "")
	t.Setenv(tokenVariable, "0123456789abcdef")
	f(nil, "")
}

func TestTopFitsTheTerminal(t *testing.T) {
	f := func(text string, width int, clipped, padded string) {
		t.Helper()
		if got := clipTo(text, width); got != clipped {
			t.Errorf("clipTo(%q, %d) = %q, want %q", text, width, got, clipped)
		}
		if got := padTo(text, width); got != padded {
			t.Errorf("padTo(%q, %d) = %q, want %q", text, width, got, padded)
		}
	}
	f("abc", 5, "abc", "abc  ")
	f("abcdef", 5, "abcde", "abcd…")
	f("日本語", 5, "日本", "日本…")
	f("", 2, "", "  ")
}

// A terminal is left as it was, and what does not fit it is cut.
func TestTopLeavesTheTerminal(t *testing.T) {
	t.Setenv("COLUMNS", "40")
	t.Setenv("LINES", "6")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out strings.Builder
	f := topFlags{admin: overviewServer(t, "", hostile()), every: time.Hour}
	if err := f.watch(ctx, &out); err != nil {
		t.Fatal(err)
	}
	shown, ok := strings.CutPrefix(out.String(), ansiEnter+ansiHome)
	shown, left := strings.CutSuffix(shown, ansiRest+ansiLeave)
	if !ok || !left {
		t.Fatalf("top wrote %q, want it to enter and leave", out.String())
	}
	lines := strings.Split(strings.TrimSuffix(shown, ansiLine), ansiLine)
	if len(lines) > 5 {
		t.Errorf("top shows %d lines on a terminal of 6", len(lines))
	}
	for _, l := range lines {
		if clipTo(l, 40) != l {
			t.Errorf("the line %q is wider than the terminal", l)
		}
	}
}
