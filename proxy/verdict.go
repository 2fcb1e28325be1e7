package proxy

import (
	"bytes"
	"slices"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/explain"
)

// maxVerdictAge is how old an answer may be that the provider is asked to
// compare with: providers keep for a limited time, which they do not tell, what
// it takes. They say then that they do not find it, which is no error, but no
// verdict either.
const maxVerdictAge = time.Hour

// maxVerdictRefusals is how many requests running that asked for a verdict may be
// refused as invalid before an upstream is asked no more. A thread is not after
// its first.
const maxVerdictRefusals = 3

// An answered is an answer that the provider can be asked to compare with.
type answered struct {
	id            string // the provider's
	request       string // ours
	host, account string
	start         time.Time // of the request
}

// An asking says whether a thread's requests ask for verdicts.
type asking byte

const (
	undecided asking = iota
	asks
	asksNot
)

// A question is what is kept of a request's until its answer is there.
type question struct {
	ours    bool     // inserted by us
	named   bool     // an answer was named, by us or by the client
	against string   // the request that it answered, "" if that is not known
	now     answered // this one, but for its id
}

// askVerdict has the provider say itself what its cache missed, if the operator
// wants that (usage.verdict). The question is an insertion like any other.
// Nothing of it can hurt: an answer that the provider does not know is no error,
// and only hosts that know the question are asked (usage.verdict_hosts).
func (x *exchange) askVerdict() {
	q := &x.facts.Question
	if !x.wantsVerdict(q) {
		return
	}
	ask := &question{now: answered{request: x.id, host: x.route.upstream.base.Host, account: x.account(), start: x.start}}
	x.sent.question = ask
	if q.Own {
		ask.named, ask.against = len(q.Named) > 0, x.thread.answerTo(string(q.Named))
		return
	}
	before, ok := x.thread.asksAbout(ask.now, q.Beta != "")
	if !ok || q.Beta != "" && x.head.ends(betaHeader) {
		return
	}
	s, ok := q.Ask(before.id)
	if !ok {
		return
	}
	if q.Beta != "" {
		x.head.extend(betaHeader, []byte(q.Beta))
	}
	ask.ours, ask.named, ask.against = true, before.id != "", before.request
	x.plan.splices = merge(x.plan.splices, []dialect.Splice{s})
}

// wantsVerdict: not for side requests, which are on a line of their own; not for
// subscriptions that pass bare, whose traffic stays as it is; and not at an
// upstream that does not like it.
func (x *exchange) wantsVerdict(q *dialect.Question) bool {
	cfg := &x.gen.cfg.Usage
	return cfg.Verdict == VerdictAsk && cfg.Account == On && (q.At > 0 || q.Own) &&
		x.class() == classTurn && !x.facts.Side && x.epoch.Why != whySubscription &&
		x.route.upstream.refusals.Load() < maxVerdictRefusals &&
		slices.Contains(cfg.VerdictHosts, x.route.upstream.base.Host)
}

const whySubscription = "subscription"

var betaHeader = []byte("anthropic-beta")

// extend adds an element to a header that is a list, in the line that is there
// or in a new one.
func (h *head) extend(name, element []byte) {
	for i := range h.fields {
		f := &h.fields[i]
		if !is(f.name, string(name)) {
			continue
		}
		for old := range bytes.SplitSeq(f.value, []byte(",")) {
			if bytes.Equal(trimBlanks(old), element) {
				return
			}
		}
		if len(f.value) > 0 {
			element = slices.Concat(f.value, []byte(","), element) // the old value is the request's
		}
		f.value = element
		return
	}
	h.fields = append(h.fields, field{name, element})
	h.lengths |= lengthBit(len(name))
}

// asksAbout returns the answer that a request of the thread may ask about, which
// is none for its first, and whether it may ask at all. constant says that all
// turns of the thread must ask or none, so that one which began without does not
// begin to. Side requests and counts never ask, and often come first.
func (t *thread) asksAbout(now answered, constant bool) (answered, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asking == undecided && (!t.began || !constant) {
		t.asking = asks
	}
	a := t.answered
	if a.host != now.host || a.account != now.account || now.start.Sub(a.start) > maxVerdictAge {
		a = answered{}
	}
	return a, t.asking == asks
}

// answerTo returns the request that an answer with an id was to, if it is the
// thread's last.
func (t *thread) answerTo(id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.answered.id != id {
		return ""
	}
	return t.answered.request
}

// answeredBy makes an answer the thread's last, unless a later request has one.
func (t *thread) answeredBy(a answered) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a.start.After(t.answered.start) {
		t.answered = a
	}
}

// askNoMore ends the thread's questions.
func (t *thread) askNoMore() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asking = asksNot
}

// resumeAsking: a thread of an earlier process goes on asking if its last request
// did. One that could not have asked says nothing, and the configuration was most
// likely the same.
func (t *thread) resumeAsking(last *logsink.Request) {
	t.began = true
	if t.asking == undecided && (last.Class != classTurn ||
		slices.ContainsFunc(last.Splices, func(s logsink.Splice) bool { return s.Kind == dialect.KindVerdict })) {
		t.asking = asks
	}
}

// heard takes in what an answer says: its id for the next question, and the
// verdict.
func (x *exchange) heard(resp *logsink.Response, rep *dialect.Report) {
	q := x.sent.question
	if q == nil {
		return
	}
	switch {
	case q.ours && resp.Status == 400:
		x.thread.askNoMore()
		if x.route.upstream.refusals.Add(1) == maxVerdictRefusals {
			x.s.log.Warn("upstream refuses requests that ask for verdicts; it is asked no more (usage.verdict)", "host", q.now.host)
		}
		return
	case resp.Status/100 != 2:
		return
	case q.ours:
		x.route.upstream.refusals.Store(0)
	}
	if rep.Terminal && len(rep.ID) <= maxAnswerID {
		q.now.id = rep.ID
		x.thread.answeredBy(q.now)
	}
	if call := x.sent.call; call != nil && q.named {
		call.Verdict, call.Asked = rep.Verdict, q.against
	}
}

// maxAnswerID bounds what is kept of each thread.
const maxAnswerID = 128

// compare counts whether the provider agrees with what was found, where it says
// anything.
func (a *accountant) compare(ans *answer, v *explain.Verdict) {
	if ans.call.Verdict == "" {
		return
	}
	agreement := explain.Agreement(ans.call, v)
	a.counters.Accounts.Verdict(ans.req.Dialect, agreement)
	if agreement == explain.Disagrees {
		a.log.Info("the provider's verdict is another", "request", ans.req.ID, "session", ans.req.Session,
			"cause", v.Cause, "detail", v.Detail, "provider", ans.call.Verdict)
	}
}
