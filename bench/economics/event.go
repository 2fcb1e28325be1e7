package economics

// An event is something that falls upon a request or a scope by chance. The same
// seed makes the same fall, whatever else is simulated.
type event uint64

const (
	eventResume event = iota + 1
	eventFork
	eventCompaction
	eventWarm
	eventShared
	eventOffset
	eventSubagents
)

// falls reports whether an event falls upon a request.
func (s *scene) falls(p *prompt, e event, rate float64) bool {
	switch {
	case rate <= 0:
		return false
	case rate >= 1:
		return true
	}
	return s.plan.share(p.scope, uint64(p.seq), e) < rate
}

// share is a number from 0 to below 1, spread evenly.
func (p *plan) share(scope, seq uint64, e event) float64 {
	x := mix(p.seed + uint64(e)*0x9e3779b97f4a7c15)
	x = mix(x ^ mix(scope+1) ^ mix(mix(seq+1)))
	return float64(x>>11) / (1 << 53)
}

// mix is the finisher of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
