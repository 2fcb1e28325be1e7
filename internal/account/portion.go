package account

import (
	"math/bits"

	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// portion is whole*part/all rounded down, exactly, for 0 <= part <= all.
func portion(whole usage.Money, part, all int64) usage.Money {
	if whole < 0 {
		return -portion(-whole, part, all)
	}
	hi, lo := bits.Mul64(uint64(whole), uint64(part))
	q, _ := bits.Div64(hi, lo, uint64(all))
	return usage.Money(q)
}
