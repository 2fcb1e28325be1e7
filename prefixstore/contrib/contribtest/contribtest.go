// Package contribtest is the suite that every kind of contributor passes.
//
// # Invariants
//
//  1. Each case holds one promise of contrib.Contributor or of contrib.Config;
//     what a bug in one kind taught becomes a case for all.
package contribtest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
)

// Run tests the kind of the configuration that newConfig gives, which is called
// once per case and may use t for folders and servers that live as long as the
// case. The contributor must give at least one message of at least two bytes,
// and the same ones to all sessions.
func Run(t *testing.T, newConfig func(t *testing.T) contrib.Config) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, cfg contrib.Config)
	}{
		{"appends", appends},
		{"gives the same again", givesTheSame},
		{"survives a caller that writes", survivesWriter},
		{"serves many at once", servesMany},
		{"returns when cancelled", returnsWhenCancelled},
		{"composes", composes},
		{"keeps to max_bytes", keepsToMaxBytes},
		{"refuses keys of other kinds", refusesForeignKeys},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := newConfig(t)
			cfg.Deadline = time.Minute // no slow machine is to decide a test
			c.test(t, cfg)
		})
	}
}

var (
	sessionA = contrib.Session{Tenant: "aaaa", Session: "s-alpha", Epoch: 1, Reason: "initial", Route: "r", Dialect: "d", Model: "m"}
	sessionB = contrib.Session{Tenant: "bbbb", Session: "s-beta", Epoch: 2, Reason: "resume", Route: "r", Dialect: "d", Model: "m"}
)

func earlier() []contrib.Message {
	return []contrib.Message{{Role: "system", Text: "one"}, {Role: "user", Text: "two"}}
}

func newContributor(t *testing.T, cfg contrib.Config) contrib.Contributor {
	t.Helper()
	c, err := contrib.New(cfg)
	if err != nil {
		t.Fatalf("New(%q) = %v, want a contributor", cfg.Kind, err)
	}
	return c
}

func contribute(t *testing.T, c contrib.Contributor, s contrib.Session, list []contrib.Message) []contrib.Message {
	t.Helper()
	got, err := c.Contribute(t.Context(), s, list)
	if err != nil {
		t.Fatalf("Contribute(%q) = %v, want messages", s.Session, err)
	}
	return got
}

func appends(t *testing.T, cfg contrib.Config) {
	list := earlier()
	got := contribute(t, newContributor(t, cfg), sessionA, slices.Clip(list))
	if diff := cmp.Diff(earlier(), list); diff != "" {
		t.Errorf("Contribute changed the list it was given (-before +after):\n%s", diff)
	}
	if len(got) <= len(list) {
		t.Fatalf("Contribute gave %d messages after %d, want more", len(got), len(list))
	}
	if diff := cmp.Diff(earlier(), got[:len(list)]); diff != "" {
		t.Errorf("Contribute returned no extension (-given +returned):\n%s", diff)
	}
}

func givesTheSame(t *testing.T, cfg contrib.Config) {
	c := newContributor(t, cfg)
	first := contribute(t, c, sessionA, nil)
	if diff := cmp.Diff(first, contribute(t, c, sessionB, nil)); diff != "" {
		t.Errorf("a second session was given something else (-first +second):\n%s", diff)
	}
	if diff := cmp.Diff(first, contribute(t, newContributor(t, cfg), sessionA, nil)); diff != "" {
		t.Errorf("a second contributor of one configuration gave something else (-first +second):\n%s", diff)
	}
}

func survivesWriter(t *testing.T, cfg contrib.Config) {
	c := newContributor(t, cfg)
	got := contribute(t, c, sessionA, nil)
	want := slices.Clone(got)
	for i := range got {
		got[i] = contrib.Message{Role: "user", Text: "words of session A"}
	}
	if diff := cmp.Diff(want, contribute(t, c, sessionB, nil)); diff != "" {
		t.Errorf("what one session wrote into its messages reached another (-want +got):\n%s", diff)
	}
}

func servesMany(t *testing.T, cfg contrib.Config) {
	c := newContributor(t, cfg)
	want := contribute(t, c, sessionA, nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := c.Contribute(t.Context(), sessionB, nil)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("Contribute beside others = %v, %v, want the %d messages it gives alone", got, err, len(want))
			}
		})
	}
	wg.Wait()
}

func returnsWhenCancelled(t *testing.T, cfg contrib.Config) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	list := earlier()
	got, err := newContributor(t, cfg).Contribute(ctx, sessionA, slices.Clip(list))
	if err == nil && len(got) <= len(list) {
		t.Errorf("Contribute with a cancelled context = %d messages, nil, want an error or all of them", len(got))
	}
}

func composes(t *testing.T, cfg contrib.Config) {
	cfg.Envelope = "opener"
	c, err := contrib.NewComposer([]contrib.Config{cfg})
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Compose(t.Context(), sessionA)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Contributions[0]; got.Outcome != contrib.OK || got.Messages != len(r.Messages) || len(got.SHA256) != 64 {
		t.Errorf("Compose recorded %+v for %d messages, want ok, their number and their hash", got, len(r.Messages))
	}
	for _, m := range r.Messages {
		if m.Role == "" || !strings.HasPrefix(m.Text, "<opener>\n") || !strings.HasSuffix(m.Text, "\n</opener>") {
			t.Errorf("Compose gave %q, want a role and the envelope", m)
		}
	}
}

func keepsToMaxBytes(t *testing.T, cfg contrib.Config) {
	cfg.MaxBytes = 1
	c, err := contrib.NewComposer([]contrib.Config{cfg})
	if err == nil {
		_, err = c.Compose(t.Context(), sessionA)
	}
	if err == nil || !strings.Contains(err.Error(), "max_bytes=1") {
		t.Errorf("composing with max_bytes 1 = %v, want an error that names max_bytes=1", err)
	}
}

func refusesForeignKeys(t *testing.T, cfg contrib.Config) {
	cfg.Text, cfg.Paths, cfg.Root, cfg.Folder, cfg.URL = "x", []string{"x"}, "x", "x", "http://127.0.0.1"
	cfg.Headers, cfg.ForwardHeaders = map[string]string{"x": "x"}, []string{"x"}
	if _, err := contrib.New(cfg); err == nil || !strings.Contains(err.Error(), "has no such key") {
		t.Errorf("New with the keys of all kinds = %v, want an error that names the first foreign one", err)
	}
}
