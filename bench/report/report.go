package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9236c7ca/preface/bench/economics"
)

// A Report is what was found on some traces.
type Report struct {
	Command string // that makes it again
	Notes   []string
	Options economics.Options // of all traces, with their defaults
	Traces  []Trace
}

// A Trace is a trace's name and what was found on it.
type Trace struct {
	Name   string
	Result economics.Result
}

// A File is a part of a report, by its name in the folder.
type File struct {
	Name string
	Data []byte
}

// Index is the name of a report's page.
const Index = "report.md"

// Files are the parts of a report, but for its page, which [Report.Markdown] writes.
func (r *Report) Files() ([]File, error) {
	var files []File
	for _, p := range r.plots() {
		files = append(files, File{p.file, p.draw()})
	}
	table, err := r.csv()
	if err != nil {
		return nil, err
	}
	files = append(files, File{"rows.csv", table})
	data, err := r.json()
	if err != nil {
		return nil, err
	}
	files = append(files, File{"results.json", data})
	list, err := r.manifest(files)
	if err != nil {
		return nil, err
	}
	return append(files, File{manifest, list}), nil
}

// A tier is a provider's model at a lifetime.
type tier struct {
	provider, model, lifetime string
	name                      string // without the model, where the provider has one
}

func (t tier) String() string { return t.name }

// is reports whether something was simulated at the tier.
func (t tier) is(provider, model, lifetime string) bool {
	return t.provider == provider && t.model == model && t.lifetime == lifetime
}

// tiers are those of a trace's rows, in their order.
func (t *Trace) tiers() (list []tier) {
	models := map[string]string{}
	several := map[string]bool{}
	for _, r := range t.Result.Rows {
		if m, ok := models[r.Provider]; ok && m != r.Model {
			several[r.Provider] = true
		}
		models[r.Provider] = r.Model
	}
	for _, r := range t.Result.Rows {
		at := tier{r.Provider, r.Model, r.Lifetime, r.Provider + " " + r.Lifetime}
		if several[r.Provider] {
			at.name = r.Provider + "/" + r.Model + " " + r.Lifetime
		}
		if !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	return list
}

// shownTiers is how many tiers have plots of their own.
const shownTiers = 2

// shown are the tiers that have plots of their own: the first of some providers.
func (t *Trace) shown() (list []tier) {
	for _, at := range t.tiers() {
		if !slices.ContainsFunc(list, func(x tier) bool { return x.provider == at.provider }) {
			list = append(list, at)
		}
	}
	return list[:min(len(list), shownTiers)]
}

// row finds what a strategy cost at a tier, nil if it was not simulated.
func (t *Trace) row(at tier, strategy string) *economics.Row {
	for i := range t.Result.Rows {
		if r := &t.Result.Rows[i]; at.is(r.Provider, r.Model, r.Lifetime) && r.Strategy == strategy {
			return r
		}
	}
	return nil
}

// rows are those of a tier.
func (t *Trace) rows(at tier) (list []economics.Row) {
	for _, r := range t.Result.Rows {
		if at.is(r.Provider, r.Model, r.Lifetime) {
			list = append(list, r)
		}
	}
	return list
}

// knowsSessions reports whether the trace tells sessions apart.
func (t *Trace) knowsSessions() bool {
	return len(t.Result.Rows) > 0 && t.Result.Rows[0].Sessions > 1
}

// study finds what was asked by name, of one tier.
func (t *Trace) study(name string, at tier) *economics.BreakEven {
	for i := range t.Result.BreakEvens {
		if b := &t.Result.BreakEvens[i]; b.Name == name && at.is(b.Provider, b.Model, b.Lifetime) {
			return b
		}
	}
	return nil
}

// conditions are those of a tier.
func (t *Trace) conditions(at tier) (list []economics.Condition) {
	for _, c := range t.Result.Sensitivity {
		if at.is(c.Provider, c.Model, c.Lifetime) {
			list = append(list, c)
		}
	}
	return list
}

// times is what a row's input costs relative to another's.
func times(r, of *economics.Row) float64 {
	if r.CostVsBare > 0 && of.CostVsBare > 0 {
		return r.CostVsBare / of.CostVsBare
	}
	return r.CostVsNone / of.CostVsNone
}

// fileName makes a name of a file from any text, unlike those in taken.
func fileName(text string, taken map[string]bool) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '-' {
			return r
		}
		return '-'
	}, text)
	clean = strings.Trim(clean[:min(len(clean), 80)], ".-")
	name := clean
	for i := 2; taken[name] || name == ""; i++ {
		name = fmt.Sprintf("%s-%d", clean, i)
	}
	taken[name] = true
	return name
}
