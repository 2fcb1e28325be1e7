package logsink

// A Cost is what one answer cost, in picodollars: 10^-12 USD, in which every
// price per token is a whole number.
type Cost struct {
	Paid int64 `json:"paid_pusd"`
	// Uncached is what it had cost if nothing had been cached: Uncached - Paid is
	// the saving, which is negative where writes cost more than reads saved.
	Uncached int64 `json:"uncached_pusd"`
	// Prefix is the part of Paid that the inserted prefix caused: its reads,
	// writes and fresh tokens. Estimated says that its tokens were estimated from
	// its size, since no provider counts them apart.
	Prefix    int64 `json:"prefix_pusd,omitempty"`
	Estimated bool  `json:"prefix_estimated,omitempty"`
	// Price names the entry of the price table, and the date it is valid from,
	// e.g. "claude-opus-5-5 from 2026-10-08".
	Price string `json:"price"`
}

// A Cause says why the cache read of one answer fell short of what the request
// before it in its thread had left in the cache.
type Cause struct {
	Name  string `json:"name"`  // e.g. "tools_changed"; the names are those of package explain
	Owner string `json:"owner"` // client, contributor, preface, upstream, provider
	// Section is the part of the request that differs, empty if none does.
	Section string `json:"section,omitempty"`
	// Offset is the byte of the client's body where the difference begins, Index
	// the message; nil where it has none.
	Offset *int   `json:"offset,omitempty"`
	Index  *int   `json:"index,omitempty"`
	Detail string `json:"detail,omitempty"`
	// Expected is how many tokens could have been read, Missed how many of them
	// were not, and Lost what that cost, in picodollars.
	Expected int64  `json:"expected,omitempty"`
	Missed   int64  `json:"missed,omitempty"`
	Lost     int64  `json:"lost_pusd,omitempty"`
	Waste    bool   `json:"waste,omitempty"`   // avoidable; false for what was to be expected
	Against  string `json:"against,omitempty"` // id of the request that it was compared with
	// Provider is the provider's own verdict in its own word, where it was asked.
	Provider string `json:"provider,omitempty"`
}
