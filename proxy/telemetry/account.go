package telemetry

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// Accounts are the metrics of what answers cost and why their cache reads fell
// short. Labels are names of ours and of dialects, so there are few of them.
type Accounts struct {
	costs sync.Map // dialect → *costCounters: looked up once, since each answer has a cost

	cost, unpriced, shortfalls, missed, lost, alarms, verdicts *prometheus.CounterVec
}

func newAccounts(reg *prometheus.Registry) *Accounts {
	a := &Accounts{
		cost:       vec("preface_cost_usd_total", "What priced answers cost (paid), had cost without any cache (uncached), and what of it the opener caused (prefix, an estimate). Savings are uncached less paid.", "dialect", "kind"),
		unpriced:   vec("preface_unpriced_total", "Answers that have no price, by reason; none of them is in preface_cost_usd_total.", "dialect", "reason"),
		shortfalls: vec("preface_cache_shortfalls_total", "Answers whose cache read fell short of what could have been read, by cause and by whose it is.", "dialect", "cause", "owner"),
		missed:     vec("preface_cache_missed_tokens_total", "Tokens that could have been read from the cache and were not.", "dialect", "cause"),
		lost:       vec("preface_cache_lost_usd_total", "What tokens that were not read cost more than reading them would have.", "dialect", "cause"),
		alarms:     vec("preface_alarms_total", "What a person should look at, by kind; the log has a line for each.", "alarm"),
		verdicts:   vec("preface_verdicts_total", "Verdicts of providers on their own caches (usage.verdict), by whether they agree with ours: yes, no, or incomparable.", "dialect", "agrees"),
	}
	reg.MustRegister(a.cost, a.unpriced, a.shortfalls, a.missed, a.lost, a.alarms, a.verdicts)
	return a
}

// Cost counts a priced answer.
func (a *Accounts) Cost(dialect string, paid, uncached, prefix usage.Money) {
	to, ok := a.costs.Load(dialect)
	if !ok {
		to, _ = a.costs.LoadOrStore(dialect, &costCounters{
			a.cost.WithLabelValues(dialect, "paid"), a.cost.WithLabelValues(dialect, "uncached"), a.cost.WithLabelValues(dialect, "prefix"),
		})
	}
	c := to.(*costCounters)
	c.paid.Add(paid.USD())
	c.uncached.Add(uncached.USD())
	c.prefix.Add(prefix.USD())
}

type costCounters struct{ paid, uncached, prefix prometheus.Counter }

// Unpriced counts an answer without a price.
func (a *Accounts) Unpriced(dialect, reason string) {
	a.unpriced.WithLabelValues(dialect, reason).Inc()
}

// Shortfall counts an answer whose cache read fell short.
func (a *Accounts) Shortfall(dialect, cause, owner string, missed int64, lost usage.Money) {
	a.shortfalls.WithLabelValues(dialect, cause, owner).Inc()
	a.missed.WithLabelValues(dialect, cause).Add(float64(max(0, missed)))
	a.lost.WithLabelValues(dialect, cause).Add(max(0, lost).USD())
}

// Alarm counts an alarm.
func (a *Accounts) Alarm(name string) { a.alarms.WithLabelValues(name).Inc() }

// Verdict counts a provider's verdict by whether it agrees with ours.
func (a *Accounts) Verdict(dialect, agrees string) {
	a.verdicts.WithLabelValues(dialect, agrees).Inc()
}
