package faulttest

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed-9236c7ca/preface/internal/redistest"
)

// A series is what one process took up over time.
type series struct {
	name    string
	of      *child    // nil for a server's
	at      []float64 // seconds since the first sample of the soak
	samples []sample
}

// A sampler measures replicas and a server every now and then.
type sampler struct {
	client *http.Client
	since  time.Time
	list   []*series
}

// newSampler makes one that does not wait for what is stopped.
func newSampler() *sampler {
	return &sampler{client: &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{}}, since: time.Now()}
}

// run takes samples until stop is closed.
func (s *sampler) run(r *replicas, stop <-chan struct{}, every time.Duration) {
	defer s.client.CloseIdleConnections()
	for {
		sessions := float64(r.jury.sessions())
		for i := range r.list {
			p := r.list[i].Load()
			if f, err := scrapedFootprint(s.client, p); err == nil {
				s.add(fmt.Sprint("replica ", i), p, sample{f, sessions})
			}
		}
		if used, ok := usedMemory(r.server); ok {
			s.add("redis", nil, sample{footprint{memory: used}, sessions})
		}
		select {
		case <-stop:
			return
		case <-time.After(every):
		}
	}
}

// add appends a sample to the series of a process, or begins that.
func (s *sampler) add(name string, p *child, f sample) {
	var last *series
	for _, old := range s.list {
		if old.name == name && old.of == p {
			last = old
		}
	}
	if last == nil {
		last = &series{name: name, of: p}
		s.list = append(s.list, last)
	}
	last.at = append(last.at, time.Since(s.since).Seconds())
	last.samples = append(last.samples, f)
}

// trendOf is the trend of a quantity when a quarter of the series has gone by:
// until then the heap finds its size and caches fill.
func (s *series) trendOf(q quantity) trend {
	from := len(s.at) / 4
	var v []float64
	for _, f := range s.samples[from:] {
		v = append(v, q.of(f))
	}
	return trendOf(s.at[from:], v)
}

// slopes judges all series and returns them as text.
func (s *sampler) slopes(c *counters) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-10s %-20s %8s %8s %12s %14s %10s %10s\n", "process", "", "samples", "seconds", "median", "slope/10 min", "%/10 min", "growth")
	short := 0
	for _, one := range s.list {
		if one.trendOf(quantities[0]).span < leastSpan.Seconds() {
			short++
			continue
		}
		for _, q := range quantities {
			t := one.trendOf(q)
			if one.of == nil && (q.noise != 0 || q.unit == 1) {
				continue
			}
			absolute, percent := t.per10min()
			fmt.Fprintf(&b, "%-10s %-20s %8d %8.0f %12.0f %14.1f %10.1f %10.1f\n", one.name, q.name, t.n, t.span, t.level/q.unit, absolute/q.unit, percent, t.growth()/q.unit)
			if q.noise != 0 {
				err := q.leaks(t)
				c.judge(10, unless(err == nil, "%s: %w", one.name, err))
			}
		}
	}
	fmt.Fprintf(&b, "and %d series of less than %v, which are not judged\n", short, leastSpan)
	return b.String()
}

// usedMemory is what a server has allocated, if it answers.
func usedMemory(s *redistest.Server) (float64, bool) {
	v, err := s.Do("INFO", "memory")
	text, ok := v.(string)
	if err != nil || !ok {
		return 0, false
	}
	_, after, _ := strings.Cut(text, "\nused_memory:")
	n, err := strconv.ParseFloat(strings.TrimSpace(firstLine(after)), 64)
	return n, err == nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// scrape reads the metrics without labels of a process that may be stopped or
// gone.
func scrape(c *http.Client, p *child) (map[string]float64, error) {
	resp, err := c.Get(p.operators + "/metrics")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	m := map[string]float64{}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if name, value, ok := strings.Cut(lines.Text(), " "); ok {
			if n, err := strconv.ParseFloat(value, 64); err == nil {
				m[name] = n
			}
		}
	}
	_, _ = io.Copy(io.Discard, resp.Body) // for the connection to be used again
	return m, lines.Err()
}

func scrapedFootprint(c *http.Client, p *child) (footprint, error) {
	m, err := scrape(c, p)
	return footprint{m["go_goroutines"], m["process_open_fds"], m["process_resident_memory_bytes"]}, err
}
