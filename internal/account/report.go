package account

import (
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// A Report is the account of a span of time. Its tables sum the same requests,
// each in another way.
type Report struct {
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"` // not in the span any more
	Tenant string    `json:"tenant,omitempty"`
	Log    string    `json:"log,omitempty"` // where it was read; the caller's to fill in
	// PricesNow says that answers without a price were priced by a table given
	// to the report.
	PricesNow bool `json:"prices_now,omitempty"`
	// Full says that a sum of money is beyond what can be counted, and is shown
	// as the most that can.
	Full bool `json:"sums_full,omitempty"`

	Sessions int64 `json:"sessions"` // that sent anything in the span
	Total    Group `json:"total"`

	Days     Table `json:"days"` // UTC, of when the request was sent
	Models   Table `json:"models"`
	Routes   Table `json:"routes"`
	Prefixes Table `json:"prefixes"` // by hash; "" is those without one

	Contributors []Contributor `json:"contributors"` // dearest first
	// Undivided is what prefixes cost whose contributors are not known: their
	// anchors are gone, or they are too many to be told apart.
	Undivided usage.Money `json:"contributors_unknown_pusd_estimated"`

	Causes   []Cause    `json:"causes"`   // dearest first
	Unpriced []Unpriced `json:"unpriced"` // most frequent first

	DearestSessions []Session `json:"dearest_sessions"`
	DearestMisses   []Miss    `json:"dearest_misses"`
}

// A Contributor is what one contributor's text cost: its share, by bytes, of the
// cost of each prefix that it stands in.
type Contributor struct {
	Name     string      `json:"name"`
	Kind     string      `json:"kind"`
	Versions int         `json:"versions"` // of its text, in the prefixes told apart
	Requests int64       `json:"requests"` // that carried it
	Bytes    int         `json:"bytes"`    // of its largest version
	Cost     usage.Money `json:"cost_pusd_estimated"`
}

// A Cause sums the reads that fell short for one reason.
type Cause struct {
	Name       string      `json:"name"` // "" is all that were too many to be told apart
	Owner      string      `json:"owner"`
	Avoidable  bool        `json:"avoidable"` // false: to be expected
	Requests   int64       `json:"requests"`
	Expected   int64       `json:"expected_tokens"`
	Missed     int64       `json:"missed_tokens"`
	Lost       usage.Money `json:"lost_pusd"`
	LostUntold int64       `json:"lost_untold"` // of Requests: those without a price
}

// Unpriced counts answers without a price.
type Unpriced struct {
	Reason   string `json:"reason"` // BeforePrices, or one of package usage's
	Model    string `json:"model"`
	Requests int64  `json:"requests"`
}

// A Session is what one session amounts to in the span.
type Session struct {
	logsink.Key
	Group
	Epochs  int    `json:"epochs"` // that were used in the span
	Cause   string `json:"cause,omitempty"`
	Owner   string `json:"owner,omitempty"`
	Command string `json:"command,omitempty"` // that shows more
}

// A Miss is one request whose read fell short.
type Miss struct {
	Time time.Time `json:"time"` // when it was sent
	logsink.Key
	Request  string         `json:"request"`
	Epoch    int            `json:"epoch"`
	Thread   string         `json:"thread"`
	Model    string         `json:"model,omitempty"`
	LostTold bool           `json:"lost_told"`
	Cause    *logsink.Cause `json:"cause"`
	Command  string         `json:"command,omitempty"`
}
