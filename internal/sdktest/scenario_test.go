package sdktest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/openai/openai-go/v3"

	"github.com/seed-9236c7ca/preface/bench/provider"
)

// A scenario is one use of an SDK. It gives everything that it gets to the run.
type scenario struct {
	name string
	play func(r *run)
	ends ending
}

// An ending is how the scenario's last answer ends. Unless it ends well, how much
// of it arrived before is chance.
type ending int

const (
	well     ending = iota
	canceled        // the SDK hangs up
	broken          // the connection breaks
)

// given is one thing that an SDK returned.
type given struct {
	value any
	raw   string // the JSON it was made from
}

// A document is a value that an SDK has made from JSON.
type document interface{ RawJSON() string }

func (r *run) give(v document, err error) {
	if err != nil {
		r.fail(err)
		return
	}
	r.given = append(r.given, given{v, v.RawJSON()})
}

// A stream is what both SDKs call one.
type stream[T any] interface {
	Next() bool
	Current() T
	Err() error
	Close() error
}

// giveAll reads a stream to its end, and hands out each event. What was
// buffered when the run was canceled is chance, and not counted.
func giveAll[T document](r *run, s stream[T], each func(T)) {
	defer s.Close()
	for s.Next() {
		if r.ctx.Err() != nil {
			continue
		}
		r.give(s.Current(), nil)
		each(s.Current())
	}
	if err := s.Err(); err != nil {
		r.fail(err)
	}
}

// A failure is what an error of an SDK says that does not name a connection.
type failure struct{ kind, text string }

func (r *run) fail(err error) {
	var a *anthropic.Error
	var o *openai.Error
	f := failure{kind: "connection"}
	raw := ""
	switch {
	case errors.As(err, &a):
		f, raw = failure{"anthropic " + string(a.Type()), a.Message + a.RequestID}, a.RawJSON()
	case errors.As(err, &o):
		f, raw = failure{"openai " + o.Type, o.Message + o.Code + o.Param}, o.RawJSON()
	case errors.Is(err, context.Canceled):
		f.kind = "canceled"
	}
	r.given = append(r.given, given{f, raw})
}

// An outcome is all that can be seen of a run from outside.
type outcome struct {
	given    []given
	answers  []answer
	received []provider.Exchange
}

func (s *stage) play(t *testing.T, sc scenario) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r := &run{t: t, ctx: ctx, stage: s, wire: newWire(t), key: "sk-test-" + strings.ReplaceAll(t.Name(), "/", "-")}
	sc.play(r)
	answers := r.wire.answers()
	if len(r.given) == 0 || len(answers) == 0 {
		t.Fatalf("the scenario was given %d things in %d answers", len(r.given), len(answers))
	}
	return outcome{r.given, answers, r.received(len(answers))}
}
