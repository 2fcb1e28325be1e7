package provider

import "maps"

// Tokens are counts of one answer or many, in disjoint classes.
type Tokens struct {
	Fresh     int64 `json:"fresh"` // input at the full rate
	CacheRead int64 `json:"cache_read"`
	Write5m   int64 `json:"write_5m"` // Anthropic
	Write1h   int64 `json:"write_1h"`
	Write30m  int64 `json:"write_30m"` // OpenAI from GPT-5.6
	Write12h  int64 `json:"write_12h"`
	Output    int64 `json:"output"`
}

// Input is the sum of all input classes.
func (t Tokens) Input() int64 { return t.Fresh + t.CacheRead + t.Written() }

// Written is the sum of the cache writes.
func (t Tokens) Written() int64 { return t.Write5m + t.Write1h + t.Write30m + t.Write12h }

// Plus returns the sum.
func (t Tokens) Plus(u Tokens) Tokens {
	return Tokens{t.Fresh + u.Fresh, t.CacheRead + u.CacheRead, t.Write5m + u.Write5m, t.Write1h + u.Write1h,
		t.Write30m + u.Write30m, t.Write12h + u.Write12h, t.Output + u.Output}
}

// A Tally is what one tenant, or all of them, used. Model requests whose answer
// began are counted, whether or not the client saw its end.
type Tally struct {
	Requests int64  `json:"requests"`
	Tokens   Tokens `json:"tokens"`
}

// Totals returns the tallies since the start: of each tenant, by the digest
// that TenantOf gives for its credential, and of all.
func (p *Provider) Totals() (byTenant map[string]Tally, all Tally) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.tallies {
		all.Requests += t.Requests
		all.Tokens = all.Tokens.Plus(t.Tokens)
	}
	return maps.Clone(p.tallies), all
}

// maxTenants bounds Totals; those that come later share one tally.
const (
	maxTenants   = 4096
	otherTenants = "others"
)

// tally counts one answer.
func (p *Provider) tally(tenant string, t Tokens) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.tallies[tenant]; !known && len(p.tallies) >= maxTenants {
		tenant = otherTenants
	}
	sum := p.tallies[tenant]
	sum.Requests++
	sum.Tokens = sum.Tokens.Plus(t)
	p.tallies[tenant] = sum
}
