package wire

import (
	"context"
	"io"

	"github.com/seed-9236c7ca/preface/bench/economics"
	"github.com/seed-9236c7ca/preface/bench/trace"
)

// A Simulated is what package economics says of the same requests, which knows
// neither messages nor the dialect: with caches that end where agents mark them, or
// in any block.
type Simulated struct {
	Marks    string  `json:"marks"`
	Frozen   Figures `json:"frozen"`
	Volatile Figures `json:"volatile"`
	Factor   float64 `json:"factor"`
}

// Figures are those of a row.
type Figures struct {
	HitRateTokens float64 `json:"hit_rate_tokens"`
	CostVsNone    float64 `json:"cost_vs_none"`
}

// simulate asks economics, with the trace's own token counts.
func (c *check) simulate(ctx context.Context) (list []Simulated, err error) {
	for _, marks := range []economics.Marks{economics.MarksClient, economics.MarksIdeal} {
		r, err := economics.Simulate(ctx, c.requests(), economics.Options{
			Providers: []string{c.rules.Provider + "/" + c.opt.Model}, Lifetimes: []string{c.opt.Lifetime},
			Strategies:   []string{economics.Frozen, economics.PerRequestBefore},
			OpenerTokens: c.opt.Opener, Marks: marks, Prices: c.opt.Prices, PriceDate: priceDay, RowsOnly: true,
		}, func(int64) {})
		if err != nil {
			return nil, err
		}
		s := Simulated{Marks: string(marks)}
		for _, row := range r.Rows {
			f := Figures{row.HitRateTokens, row.CostVsNone}
			if row.Strategy == economics.Frozen {
				s.Frozen = f
			} else {
				s.Volatile = f
			}
		}
		if s.Frozen.CostVsNone > 0 {
			s.Factor = s.Volatile.CostVsNone / s.Frozen.CostVsNone
		}
		list = append(list, s)
	}
	return list, nil
}

// requests gives those that are played.
func (c *check) requests() func(*trace.Request) error {
	at, i := 0, 0
	return func(q *trace.Request) error {
		for at < len(c.sessions) && i == len(c.sessions[at].requests) {
			at, i = at+1, 0
		}
		if at == len(c.sessions) {
			return io.EOF
		}
		*q = c.sessions[at].requests[i]
		q.First = i == 0
		i++
		return nil
	}
}
