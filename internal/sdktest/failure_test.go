package sdktest

import (
	"context"
	"fmt"

	"github.com/seed-9236c7ca/preface/bench/provider"
)

// failures are scenarios in which something goes wrong, for one API: whole and
// stream send a request with one more header, and may be tried again.
func failures(whole, stream func(r *run, header, value string, retries int)) []scenario {
	var out []scenario
	add := func(name string, ends ending, play func(r *run)) {
		out = append(out, scenario{name: name, ends: ends, play: play})
	}
	for _, status := range []int{400, 401, 403, 404, 413, 429, 500, 529} {
		fault := fmt.Sprintf("status=%d,retry-after=7,message=no “luck”", status)
		add(fmt.Sprint("status ", status), well, func(r *run) {
			whole(r, faultHeader, fault, 0)
			stream(r, faultHeader, fault, 0)
		})
	}
	add("retry", well, func(r *run) {
		whole(r, firstTryHeader, "status=529,retry-after=0.01", 2)
		stream(r, firstTryHeader, "status=429,retry-after=0.01", 2)
	})
	add("error event", well, func(r *run) { stream(r, faultHeader, "error@3", 0) })
	add("no last event", well, func(r *run) { stream(r, faultHeader, "no-terminal", 0) })
	add("odd framing", well, func(r *run) {
		stream(r, faultHeader, "line-end=crlf", 0)
		stream(r, faultHeader, "chunks=7", 0)
		whole(r, faultHeader, "chunk-extensions", 0)
	})
	for _, cut := range []provider.Cut{provider.CutFIN, provider.CutRST} {
		add("cut "+string(cut), broken, func(r *run) { stream(r, faultHeader, fmt.Sprintf("cut=%s@200", cut), 0) })
	}
	add("cancel", canceled, func(r *run) {
		r.cancelAfter(2)
		stream(r, faultHeader, "stall@4", 0) // pings are events, too
	})
	return out
}

// cancelAfter ends the run's requests once it has been given n events.
func (r *run) cancelAfter(n int) {
	ctx, cancel := context.WithCancel(r.ctx)
	r.t.Cleanup(cancel)
	r.ctx, r.atEvent = ctx, func() {
		if n--; n == 0 {
			cancel()
		}
	}
}

// arrived is called for each event of a stream.
func (r *run) arrived() {
	if r.atEvent != nil {
		r.atEvent()
	}
}
