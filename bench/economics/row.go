package economics

// A Row is what a strategy cost on a trace.
type Row struct {
	Trace    string `json:"trace"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Lifetime string `json:"lifetime"` // "lru" if CapacityTokens bound it
	Strategy string `json:"strategy"`
	// CapacityTokens is how much the cache holds; 0 is room for everything.
	CapacityTokens int64 `json:"capacity_tokens,omitempty"`

	OpenerTokens int64  `json:"opener_tokens"`
	Marks        string `json:"marks"`  // as in Options
	Change       string `json:"change"` // "each_request", "never", "midnight", "deploy 4h"
	// ChangeRate is how many new texts of the opener there were per request.
	ChangeRate float64 `json:"change_rate"`

	Sessions int64  `json:"sessions"` // scopes of the trace
	Requests int64  `json:"requests"`
	Tokens   Tokens `json:"tokens"`

	// HitRateTokens is the share of input tokens that were read from the cache.
	HitRateTokens float64 `json:"hit_rate_tokens"`
	// HitRateRequests is the mean over requests of the share of their input read.
	HitRateRequests float64 `json:"hit_rate_requests"`
	// HitRateCost is the share of the input's cost that was paid for reads.
	HitRateCost float64 `json:"hit_rate_cost"`
	// HitRateLastHalf is HitRateTokens of the second half of the trace's requests,
	// when caches are warm.
	HitRateLastHalf float64 `json:"hit_rate_last_half"`
	// SessionHit is HitRateTokens of each session, summed up.
	SessionHit Spread `json:"session_hit"`

	// CostVsNone is the input's cost relative to the same tokens without any cache,
	// by the list price's multipliers for prompts of ordinary length.
	CostVsNone float64 `json:"cost_vs_none"`
	// CostVsBare is the input's cost relative to the same requests, cached, without
	// an opener: what having one costs. 0 if bare was not simulated.
	CostVsBare float64 `json:"cost_vs_bare"`
	// CostUSD is all that was paid: input, output, long-prompt surcharges, keepalives
	// and subagents; NoneUSD the same without a cache and without keepalives.
	CostUSD           float64 `json:"cost_usd"`
	NoneUSD           float64 `json:"none_usd"`
	CostUSDPerSession float64 `json:"cost_usd_per_session"`

	// FirstTokenSeconds is the time to the first token by the model in Assumptions.
	FirstTokenSeconds Spread `json:"first_token_seconds"`

	// Stale are requests that saw another opener than one composed at their time
	// would have been. Absent are requests of a strategy with an opener that saw
	// none (a compaction took it). Unnamed are those whose opener nobody can name
	// afterwards.
	Stale   int64 `json:"stale"`
	Absent  int64 `json:"absent"`
	Unnamed int64 `json:"unnamed"`

	Keepalives   int64   `json:"keepalives"` // requests sent for nothing else
	KeepaliveUSD float64 `json:"keepalive_usd"`

	Price string `json:"price"` // label of the price: model and first day
	Note  string `json:"note,omitempty"`
}

// Tokens are disjoint classes.
type Tokens struct {
	Fresh    int64 `json:"fresh"`
	Read     int64 `json:"cache_read"`
	Write5m  int64 `json:"cache_write_5m"`
	Write30m int64 `json:"cache_write_30m"`
	Write1h  int64 `json:"cache_write_1h"`
	Write12h int64 `json:"cache_write_12h"`
	Output   int64 `json:"output"`
}

// Input is all but the output.
func (t Tokens) Input() int64 {
	return t.Fresh + t.Read + t.Write5m + t.Write30m + t.Write1h + t.Write12h
}

// A Spread sums up a set of numbers.
type Spread struct {
	Mean   float64 `json:"mean"`
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	P90    float64 `json:"p90"`
}

// A Result is all that [Run] found.
type Result struct {
	Rows        []Row       `json:"rows"`
	BreakEvens  []BreakEven `json:"break_evens"`
	Sensitivity []Condition `json:"sensitivity"`
	Goldens     []Golden    `json:"goldens"`
	Assumptions []string    `json:"assumptions"`
}

// A BreakEven is a question whose answer changes along an axis, or two: curves
// over X, and for two axes who wins where.
type BreakEven struct {
	Name     string `json:"name"` // "session_length", "change_rate", "lifetime_by_gaps", "keepalive", "length_by_change"
	Question string `json:"question"`
	Trace    string `json:"trace"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Lifetime string `json:"lifetime"` // empty where it is compared

	X      Axis     `json:"x"`
	Series []Series `json:"series"` // over X; empty for two axes
	Value  string   `json:"value"`  // what the series' values are, with the unit

	Y      *Axis      `json:"y,omitempty"`
	Winner [][]string `json:"winner,omitempty"` // Winner[y][x], with two axes

	// At is the first X at which the answer turns; null if it does not.
	At     *float64 `json:"at"`
	Answer string   `json:"answer"`
}

// An Axis has a label for each value, for those that a number says badly.
type Axis struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit"`
	Values []float64 `json:"values"`
	Labels []string  `json:"labels"`
}

// A Series is a curve; its values are those at the axis' values.
type Series struct {
	Name   string    `json:"name"`
	Values []float64 `json:"values"`
}

// A Condition is one under which strategies were compared, and what came out.
// Cost is of input, relative to a frozen opener's under the same condition.
type Condition struct {
	Name      string `json:"name"`
	Condition string `json:"condition"` // in words, with its numbers
	Trace     string `json:"trace"`
	Provider  string `json:"provider"`
	Model     string `json:"model"`
	Lifetime  string `json:"lifetime"`

	FrozenCostVsNone float64  `json:"frozen_cost_vs_none"`
	Best             string   `json:"best"` // the cheapest that gives every request an opener
	BestVsFrozen     float64  `json:"best_vs_frozen"`
	FrozenWins       bool     `json:"frozen_wins"`
	FrozenStale      float64  `json:"frozen_stale"` // share of requests
	BestStale        float64  `json:"best_stale"`
	VsFrozen         []Series `json:"vs_frozen"` // each strategy's cost, one value
	Finding          string   `json:"finding"`
}

// A Golden is a figure that somebody published, or that was computed once by
// other means, beside the simulator's.
type Golden struct {
	Name      string  `json:"name"`
	Trace     string  `json:"trace"`
	Got       float64 `json:"got"`
	Want      float64 `json:"want"` // computed independently from the same file
	Tolerance float64 `json:"tolerance"`
	OK        bool    `json:"ok"`

	Published  float64 `json:"published,omitempty"` // 0: nobody did
	Source     string  `json:"source,omitempty"`
	Difference float64 `json:"difference,omitempty"` // Got - Published
	Why        string  `json:"why,omitempty"`        // they differ
}
