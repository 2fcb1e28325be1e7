package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/seed-9236c7ca/preface/bench/trace"
)

// A session is what is played of one: the main agent's requests, one after the
// other, whether or not they overlapped.
type session struct {
	name     string
	requests []trace.Request
}

// readSessions reads the first sessions of a trace.
func readSessions(ctx context.Context, r *trace.Reader, o Options) ([]session, error) {
	var list []session
	for ctx.Err() == nil {
		var q trace.Request
		err := r.Next(&q)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if q.First {
			if o.Sessions > 0 && len(list) == o.Sessions {
				break
			}
			list = append(list, session{name: q.Scope})
		}
		s := &list[len(list)-1]
		if !q.Sub && (o.Turns == 0 || len(s.requests) < o.Turns) {
			q.Runs = slices.Clone(q.Runs)
			s.requests = append(s.requests, q)
		}
	}
	list = slices.DeleteFunc(list, func(s session) bool { return len(s.requests) == 0 })
	if len(list) == 0 && ctx.Err() == nil {
		return nil, fmt.Errorf("the trace %s has no requests that could be played", r.Info().Name)
	}
	return list, ctx.Err()
}
