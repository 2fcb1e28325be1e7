package report

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"

	"github.com/seed-9236c7ca/preface/bench/economics"
)

// columns of rows.csv; units are in their names.
var columns = []struct {
	name string
	of   func(r *economics.Row) string
}{
	{"trace", func(r *economics.Row) string { return cell(r.Trace) }},
	{"provider", func(r *economics.Row) string { return cell(r.Provider) }},
	{"model", func(r *economics.Row) string { return cell(r.Model) }},
	{"lifetime", func(r *economics.Row) string { return cell(r.Lifetime) }},
	{"strategy", func(r *economics.Row) string { return cell(r.Strategy) }},
	{"opener_tokens", func(r *economics.Row) string { return whole(r.OpenerTokens) }},
	{"change", func(r *economics.Row) string { return cell(r.Change) }},
	{"change_rate", func(r *economics.Row) string { return exact(r.ChangeRate) }},
	{"sessions", func(r *economics.Row) string { return whole(r.Sessions) }},
	{"requests", func(r *economics.Row) string { return whole(r.Requests) }},
	{"fresh_tokens", func(r *economics.Row) string { return whole(r.Tokens.Fresh) }},
	{"cache_read_tokens", func(r *economics.Row) string { return whole(r.Tokens.Read) }},
	{"cache_write_5m_tokens", func(r *economics.Row) string { return whole(r.Tokens.Write5m) }},
	{"cache_write_30m_tokens", func(r *economics.Row) string { return whole(r.Tokens.Write30m) }},
	{"cache_write_1h_tokens", func(r *economics.Row) string { return whole(r.Tokens.Write1h) }},
	{"cache_write_12h_tokens", func(r *economics.Row) string { return whole(r.Tokens.Write12h) }},
	{"output_tokens", func(r *economics.Row) string { return whole(r.Tokens.Output) }},
	{"hit_rate_tokens", func(r *economics.Row) string { return exact(r.HitRateTokens) }},
	{"hit_rate_requests", func(r *economics.Row) string { return exact(r.HitRateRequests) }},
	{"hit_rate_cost", func(r *economics.Row) string { return exact(r.HitRateCost) }},
	{"session_hit_median", func(r *economics.Row) string { return exact(r.SessionHit.Median) }},
	{"cost_vs_none", func(r *economics.Row) string { return exact(r.CostVsNone) }},
	{"cost_vs_bare", func(r *economics.Row) string { return exact(r.CostVsBare) }},
	{"cost_usd", func(r *economics.Row) string { return exact(r.CostUSD) }},
	{"none_usd", func(r *economics.Row) string { return exact(r.NoneUSD) }},
	{"cost_usd_per_session", func(r *economics.Row) string { return exact(r.CostUSDPerSession) }},
	{"first_token_mean_seconds", func(r *economics.Row) string { return exact(r.FirstTokenSeconds.Mean) }},
	{"first_token_p90_seconds", func(r *economics.Row) string { return exact(r.FirstTokenSeconds.P90) }},
	{"stale_requests", func(r *economics.Row) string { return whole(r.Stale) }},
	{"absent_requests", func(r *economics.Row) string { return whole(r.Absent) }},
	{"unnamed_requests", func(r *economics.Row) string { return whole(r.Unnamed) }},
	{"keepalives", func(r *economics.Row) string { return whole(r.Keepalives) }},
	{"keepalive_usd", func(r *economics.Row) string { return exact(r.KeepaliveUSD) }},
	{"price", func(r *economics.Row) string { return cell(r.Price) }},
	{"note", func(r *economics.Row) string { return cell(r.Note) }},
	{"capacity_tokens", func(r *economics.Row) string { return whole(r.CapacityTokens) }},
}

func (r *Report) csv() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	var head []string
	for _, c := range columns {
		head = append(head, c.name)
	}
	_ = w.Write(head) // the error is that of Flush
	for _, t := range r.Traces {
		for i := range t.Result.Rows {
			var line []string
			for _, c := range columns {
				line = append(line, c.of(&t.Result.Rows[i]))
			}
			_ = w.Write(line)
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// cell keeps a spreadsheet from taking a text for a formula.
func cell(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r\n", rune(s[0])) {
		return "'" + s
	}
	return s
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }

// exact writes the shortest text that gives the number back.
func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
