package proxy

import (
	"cmp"
	"encoding/json"

	"github.com/seed-9236c7ca/preface/proxy/telemetry"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// observeOver makes spans and metrics of an exchange that is over. Its records are
// filled in: they came before it.
func (a *accountant) observeOver(o *observed) {
	defer a.recovered()
	if o.Call != nil {
		o.fill(o.Call)
	}
	a.pipeline.Observe(&o.Exchange)
}

// fill adds to a call what its records and its answer tell.
func (o *observed) fill(c *telemetry.Call) {
	c.Asked = asked(o.asked)
	c.Model, c.Stream = o.model, o.stream
	if r := o.req; r != nil {
		for _, s := range r.Splices {
			if s.Kind == kindPrefix {
				c.Inserted = s.Length
			}
		}
	}
	rep := &o.report
	c.ResponseID, c.Answerer, c.StopReason, c.Usage = rep.ID, rep.Model, rep.StopReason, rep.Usage
	c.Label = o.label(c.Model)
	if o.resp == nil {
		return
	}
	c.Unpriced = o.resp.Unpriced
	if why := o.resp.Cause; why != nil {
		c.Cause, c.Owner, c.Missed = why.Name, why.Owner, why.Missed
	}
	if m := o.resp.Cost; m != nil {
		c.Priced, c.Price = true, m.Price
		c.Paid, c.Uncached, c.OfPrefix = usage.Money(m.Paid), usage.Money(m.Uncached), usage.Money(m.Prefix)
	}
}

// otherModel is the label of models that the price table does not have: a client
// can ask for any.
const otherModel = "other"

func (o *observed) label(model string) string {
	if rate, ok := o.prices.Find(usage.Query{Model: model, At: o.Start}); ok {
		return rate.Model()
	}
	return otherModel
}

// asked reads the numbers among a request's parameters. Dialects have names of
// their own for the limit on output; what is no number is left out.
func asked(members []byte) (p telemetry.Asked) {
	if len(members) == 0 {
		return p
	}
	var in struct {
		MaxTokens           *int64   `json:"max_tokens"`
		MaxCompletionTokens *int64   `json:"max_completion_tokens"`
		MaxOutputTokens     *int64   `json:"max_output_tokens"`
		Temperature         *float64 `json:"temperature"`
		TopP                *float64 `json:"top_p"`
		TopK                *float64 `json:"top_k"`
		FrequencyPenalty    *float64 `json:"frequency_penalty"`
		PresencePenalty     *float64 `json:"presence_penalty"`
		Seed                *int64   `json:"seed"`
		N                   *int64   `json:"n"`
	}
	text := append(append([]byte{'{'}, members...), '}')
	_ = json.Unmarshal(text, &in) // members of other types are left out
	return telemetry.Asked{
		MaxTokens:   cmp.Or(in.MaxTokens, in.MaxCompletionTokens, in.MaxOutputTokens),
		Temperature: in.Temperature, TopP: in.TopP, TopK: in.TopK,
		FrequencyPenalty: in.FrequencyPenalty, PresencePenalty: in.PresencePenalty, Seed: in.Seed, Choices: in.N,
	}
}
