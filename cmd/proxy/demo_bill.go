package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/seed-9236c7ca/preface/bench/agent"
	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/internal/legible"
)

// A bill is what a player's requests used and cost.
type bill struct {
	Requests int             `json:"requests"` // that the provider charged
	Tokens   provider.Tokens `json:"tokens"`
	USD      float64         `json:"usd"`
	Refused  *refused        `json:"refused,omitempty"` // what ended the play before its end
}

// A refused says how a provider ended a play.
type refused struct {
	Turn    int    `json:"turn"`
	Status  int    `json:"status"` // 0 if it was something else
	Message string `json:"message"`
}

// bills are the players' bills by name.
func (perf *performance) bills() (map[string]bill, error) {
	all := map[string]bill{}
	for _, p := range perf.players {
		all[p.name] = bill{Refused: p.refused()}
	}
	for _, x := range perf.provider.Received() {
		name := playerOf(&x)
		b := all[name]
		if err := b.add(&x); err != nil {
			return nil, err
		}
		all[name] = b
	}
	return all, nil
}

// playerOf names the player that sent a request, itself or by a subagent.
func playerOf(x *provider.Exchange) string {
	name, _, _ := strings.Cut(callID(x), "/")
	name, _, _ = strings.Cut(name, ".")
	return name
}

func (b *bill) add(x *provider.Exchange) error {
	if x.Tokens == (provider.Tokens{}) {
		return nil
	}
	cost, err := costOf(x.Model, x.FirstByteAt, x.Tokens)
	if err == nil {
		*b = b.plus(bill{Requests: 1, Tokens: x.Tokens, USD: cost})
	}
	return err
}

// plus adds two bills. What either was refused, the sum was.
func (b bill) plus(c bill) bill {
	const places = 1e8 // floating-point sums have noise behind them
	sum := bill{b.Requests + c.Requests, b.Tokens.Plus(c.Tokens), math.Round((b.USD+c.USD)*places) / places, b.Refused}
	if sum.Refused == nil {
		sum.Refused = c.Refused
	}
	return sum
}

func (p *player) refused() *refused {
	if p.failed == nil {
		return nil
	}
	r := &refused{Turn: p.turns, Message: p.failed.Error()}
	var no *agent.StatusError
	var told struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if errors.As(p.failed, &no) {
		r.Status = no.Status
		if json.Unmarshal(no.Body, &told) == nil {
			r.Message = told.Error.Message
		}
	}
	return r
}

// String shows a bill in a line.
func (b bill) String() string {
	t := b.Tokens
	return fmt.Sprintf("%-11s %s tokens in, %s read, %s written", legible.Plural(b.Requests, "request")+",", legible.Grouped(t.Input()), legible.Grouped(t.CacheRead), legible.Grouped(t.Written()))
}
