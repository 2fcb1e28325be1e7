package usage

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// An Entry is what some models cost from one day to another, as it is written in
// a price file. Prices are decimal numbers in USD per million tokens. A class
// without a price is not sold: what is reported of it leaves the answer unpriced.
type Entry struct {
	// Models are names as providers write them, without a date, e.g.
	// "claude-opus-5-5". Dated names of the same model match too.
	Models []string `yaml:"models"`
	From   string   `yaml:"from"`   // first day, 2006-01-02, UTC; empty: always
	Until  string   `yaml:"until"`  // last day; empty: until further notice
	Source string   `yaml:"source"` // where the price is from
	Date   string   `yaml:"date"`   // of the source: a day or a month, 2006-01-02 or 2006-01

	Input    string `yaml:"input"`
	Output   string `yaml:"output"`
	Read     string `yaml:"read"`
	Write5m  string `yaml:"write_5m"`
	Write1h  string `yaml:"write_1h"`
	Write30m string `yaml:"write_30m"`
	Write12h string `yaml:"write_12h"`

	// Over changes the price of a whole request that has more input.
	Over Over `yaml:"over"`
	// Peaks are hours of the day at which all costs more.
	Peaks []Peak `yaml:"peaks"`
	// Tiers and Regions are factors by what the answer names. A tier that is not
	// listed leaves the answer unpriced; "", "default" and "standard" are 1.
	Tiers   map[string]string `yaml:"tiers"`
	Regions map[string]string `yaml:"regions"`
}

// An Over is a threshold of input tokens, and the factors above it. That of
// input is that of reads and writes too.
type Over struct {
	Tokens int64  `yaml:"tokens"`
	Input  string `yaml:"input"`
	Output string `yaml:"output"`
}

// A Peak is a time of day in UTC, from one hour to another.
type Peak struct {
	From     int    `yaml:"from"`     // hour at which it begins
	Until    int    `yaml:"until"`    // hour at which it is over
	Weekdays bool   `yaml:"weekdays"` // Monday to Friday only
	Times    string `yaml:"times"`
}

// rates are those of the entry's models.
func (e *Entry) rates() ([]Rate, error) {
	if len(e.Models) == 0 || slices.Contains(e.Models, "") {
		return nil, errors.New("models: want at least one name, and none that is empty")
	}
	if e.Source == "" {
		return nil, fmt.Errorf("%s: source is missing: say where the price is from", e.Models[0])
	}
	if !isDayOrMonth(e.Date) {
		return nil, fmt.Errorf("%s: date %q: want the day or month of the source, such as 2026-10-08 or 2026-10", e.Models[0], e.Date)
	}
	r := Rate{source: e.Source, date: e.Date, until: forever}
	if err := cmp.Or(r.readDates(e), r.readPrices(e), r.readOver(e.Over), r.readPeaks(e.Peaks), r.readFactors(e)); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Models[0], err)
	}
	rates := make([]Rate, len(e.Models))
	for i, m := range e.Models {
		rates[i] = r
		rates[i].model = strings.ToLower(m)
		rates[i].label = rates[i].model + " of " + r.date
		if !r.from.IsZero() {
			rates[i].label += ", from " + day(r.from)
		}
	}
	return rates, nil
}

func isDayOrMonth(s string) bool {
	_, notDay := time.Parse(time.DateOnly, s)
	_, notMonth := time.Parse("2006-01", s)
	return notDay == nil || notMonth == nil
}

func (r *Rate) readDates(e *Entry) (err error) {
	if e.From != "" {
		if r.from, err = time.Parse(time.DateOnly, e.From); err != nil {
			return fmt.Errorf("from %q: want a day such as 2026-10-08", e.From)
		}
	}
	if e.Until != "" {
		last, err := time.Parse(time.DateOnly, e.Until)
		if err != nil || last.Before(r.from) {
			return fmt.Errorf("until %q: want a day such as 2026-10-08, not before from", e.Until)
		}
		r.until = last.AddDate(0, 0, 1)
	}
	return nil
}

func (r *Rate) readPrices(e *Entry) error {
	for class, s := range [...]string{e.Input, e.Output, e.Read, e.Write5m, e.Write1h, e.Write30m, e.Write12h} {
		if s == "" {
			continue
		}
		m, err := parsePrice(s)
		if err != nil {
			return fmt.Errorf("%s: %w", classNames[class], err)
		}
		r.price[class], r.sold[class] = m, true
	}
	if !r.sold[input] || !r.sold[output] {
		return errors.New("want a price of input and of output")
	}
	return nil
}

func (r *Rate) readOver(o Over) (err error) {
	if o == (Over{}) {
		return nil
	}
	if r.over = o.Tokens; r.over <= 0 {
		return errors.New("over.tokens: want a number of tokens above 0")
	}
	if r.overInput, err = parseFactor(o.Input); err == nil {
		r.overOutput, err = parseFactor(o.Output)
	}
	return err
}

func (r *Rate) readPeaks(list []Peak) error {
	for _, p := range list {
		f, err := parseFactor(p.Times)
		if err == nil && (p.From < 0 || p.Until > 24 || p.From >= p.Until) {
			err = fmt.Errorf("hours %d to %d: want hours of one day in order", p.From, p.Until)
		}
		if err != nil {
			return fmt.Errorf("peaks: %w", err)
		}
		r.peaks = append(r.peaks, peak{p.From, p.Until, p.Weekdays, f})
	}
	return nil
}

func (r *Rate) readFactors(e *Entry) (err error) {
	if r.tiers, err = factors(e.Tiers); err == nil {
		r.regions, err = factors(e.Regions)
	}
	return err
}

func factors(in map[string]string) (map[string]int64, error) {
	out := make(map[string]int64, len(in))
	for name, s := range in {
		f, err := parseFactor(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = f
	}
	return out, nil
}
