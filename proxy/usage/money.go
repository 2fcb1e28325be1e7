package usage

import (
	"fmt"
	"strconv"
	"strings"
)

// Money is an amount in picodollars, 10^-12 USD: in them every list price of a
// token is a whole number, so sums are exact. It holds 9 million dollars.
type Money int64

const (
	perDollar = 1_000_000_000_000
	// perMillion turns a price in USD per million tokens into picodollars per token.
	perMillion = perDollar / 1_000_000
)

// USD is m in dollars, for metrics and plots.
func (m Money) USD() float64 { return float64(m) / perDollar }

// String shows m in dollars with six decimals at most and two at least, rounded
// to the nearest: "$0.0123", "-$1.50".
func (m Money) String() string {
	sign, n := "", uint64(m)
	if m < 0 {
		sign, n = "-", -n
	}
	const micro = perDollar / 1_000_000
	n = (n + micro/2) / micro
	s := fmt.Sprintf("%d.%06d", n/1_000_000, n%1_000_000)
	for strings.HasSuffix(s, "0") && s[len(s)-3] != '.' {
		s = s[:len(s)-1]
	}
	if n == 0 {
		sign = ""
	}
	return sign + "$" + s
}

// parsePrice reads USD per million tokens as picodollars per token. It may have
// six decimals.
func parsePrice(s string) (Money, error) {
	n, err := parseDecimal(s, 6)
	if err != nil {
		return 0, fmt.Errorf("price %q: %w", s, err)
	}
	return Money(n), nil
}

// parseFactor reads a factor in thousandths.
func parseFactor(s string) (int64, error) {
	n, err := parseDecimal(s, 3)
	if err == nil && n == 0 {
		err = fmt.Errorf("want more than 0")
	}
	if err != nil {
		return 0, fmt.Errorf("factor %q: %w", s, err)
	}
	return n, nil
}

// parseDecimal reads a number that is not negative in units of its last decimal.
func parseDecimal(s string, decimals int) (int64, error) {
	whole, fraction, _ := strings.Cut(s, ".")
	if len(fraction) > decimals || len(whole) > 9 {
		return 0, fmt.Errorf("want at most %d decimals", decimals)
	}
	n, err := strconv.ParseUint(whole+fraction+strings.Repeat("0", decimals-len(fraction)), 10, 63)
	if err != nil || whole == "" {
		return 0, fmt.Errorf("want a number that is not negative, such as 0.25")
	}
	return int64(n), nil
}

// times is m by a factor in thousandths, rounded to the nearest.
func (m Money) times(thousandths int64) Money { return (m*Money(thousandths) + 500) / 1000 }
