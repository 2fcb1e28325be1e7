package wire

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/seed-9236c7ca/preface/bench/cache"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// Options say what is played. Zero values mean the default.
type Options struct {
	Trace    string // its name, for the result
	Sessions int    // the first so many of the trace; below 0 all
	Turns    int    // the first so many requests of each; default all
	Shrink   int64  // all token counts of the trace are divided by it, the opener's too
	Opener   int64  // tokens, before they are divided
	Dialect  string // see Dialects; default anthropic
	Model    string // default one that fits the dialect
	Lifetime string // of cache entries, as cache.LifetimeName writes it; default the provider's
	Workers  int    // how many sessions are played at once; default one for each processor
	Seed     uint64 // of the texts

	Prices *usage.Prices // required
	// Tell is called with how many requests were made, of how many. It must
	// return soon, and is called by one goroutine at a time.
	Tell func(done, all int)

	// sessionID, if not nil, makes the ids that requests carry, so that a test can
	// break what is compared.
	sessionID func(way, session, request int) string
}

// What Options mean where they say nothing.
const (
	DefaultSessions = 200
	DefaultShrink   = 8
	DefaultOpener   = 4000
)

// Dialects are the names of the wire formats that can be played.
func Dialects() (names []string) {
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// complete sets defaults and refuses what cannot be played.
func (o *Options) complete() (*format, cache.Rules, error) {
	orDefault(&o.Sessions, DefaultSessions)
	orDefault(&o.Shrink, DefaultShrink)
	orDefault(&o.Opener, DefaultOpener)
	orDefault(&o.Dialect, formats[0].name)
	orDefault(&o.Workers, runtime.GOMAXPROCS(0))
	at := slices.IndexFunc(formats, func(f format) bool { return f.name == o.Dialect })
	if at < 0 {
		return nil, cache.Rules{}, fmt.Errorf("unknown dialect %q: known are %s", o.Dialect, strings.Join(Dialects(), ", "))
	}
	f := &formats[at]
	orDefault(&o.Model, f.model)
	rules, err := cache.RulesOfModel(o.Model)
	switch {
	case err != nil:
		return nil, rules, err
	case !slices.Contains(f.kinds, rules.Kind):
		return nil, rules, fmt.Errorf("model %q is not one of dialect %s", o.Model, o.Dialect)
	case o.Turns < 0 || o.Shrink < 1 || o.Workers < 1:
		return nil, rules, fmt.Errorf("turns %d, shrink %d, workers %d: want numbers that are not negative", o.Turns, o.Shrink, o.Workers)
	case o.Opener/o.Shrink < shortest || o.Opener > maxOpener:
		return nil, rules, fmt.Errorf("an opener of %d tokens divided by %d: want at least %d, and at most %d before", o.Opener, o.Shrink, shortest, maxOpener)
	}
	return f, rules, o.checkLifetime(f, rules)
}

// maxOpener is what a contributor may give, with some room.
const maxOpener = 1_000_000

// checkLifetime completes the lifetime: one that the provider sells, and that the
// dialect's requests here ask for.
func (o *Options) checkLifetime(f *format, rules cache.Rules) error {
	var sold []string
	for _, l := range rules.Lifetimes {
		if _, ok := f.ask(rules.Kind, l); ok {
			sold = append(sold, cache.LifetimeName(l))
		}
	}
	orDefault(&o.Lifetime, sold[0])
	if !slices.Contains(sold, o.Lifetime) {
		return fmt.Errorf("unknown lifetime %q of model %s: known are %s", o.Lifetime, o.Model, strings.Join(sold, ", "))
	}
	return nil
}

func orDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}
