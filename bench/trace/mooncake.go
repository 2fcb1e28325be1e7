package trace

import "time"

// arrivals read Mooncake's traces: one request a line, numbers of blocks of 512
// tokens that all requests share, the last of a prompt a part of one, times in
// milliseconds.
// Source: the README of kvcache-ai/Mooncake, FAST25-release.
type arrivals struct {
	scope string
	begun bool
	last  time.Duration
}

const mooncakeBlock = 512

func (a *arrivals) next(l *lines) ([]Request, error) {
	line, err := l.next()
	if err != nil {
		return nil, err
	}
	var r struct {
		Timestamp float64 `json:"timestamp"`
		Input     int64   `json:"input_length"`
		Output    int64   `json:"output_length"`
		IDs       []int64 `json:"hash_ids"`
	}
	if err := l.decode(line, &r); err != nil {
		return nil, err
	}
	q := Request{
		Scope: a.scope, First: !a.begun, At: span(r.Timestamp, time.Millisecond),
		Input: r.Input, Output: r.Output, Block: mooncakeBlock, Runs: runsOf(r.IDs),
	}
	if why := q.check((r.Input + mooncakeBlock - 1) / mooncakeBlock); why != "" {
		return nil, l.fault("%s", why)
	}
	if q.At < a.last {
		return nil, l.fault("times out of order: %v after %v", q.At, a.last)
	}
	a.begun, a.last = true, q.At
	return []Request{q}, nil
}

// span is n units as a duration; what no duration can be is negative.
func span(n float64, unit time.Duration) time.Duration {
	d := n * float64(unit)
	if !(d >= 0 && d < float64(1<<62)) {
		return -1
	}
	return time.Duration(d)
}
