package economics

import (
	"context"

	"github.com/seed-9236c7ca/preface/bench/trace"
)

// Simulate plays the requests that next gives until it says io.EOF; any other
// error of next is returned as it is. An unknown name in o is an error of one line
// that lists the known ones, before next is called. progress is told how many
// requests are done, now and then. Simulate ends soon after ctx does, with its error.
func Simulate(ctx context.Context, next func(*trace.Request) error, o Options, progress func(done int64)) (Result, error) {
	o = o.WithDefaults()
	st, err := newStage(o)
	if err != nil {
		return Result{}, err
	}
	pl := player{scenes: st.scenes, subagents: o.RecordedSubagents}
	if err := pl.play(ctx, next, progress); err != nil {
		return Result{}, err
	}
	return st.result(&pl), nil
}
