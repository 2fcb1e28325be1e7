package economics

import (
	"context"
	"runtime"
	"sync"

	"github.com/seed-9236c7ca/preface/bench/trace"
)

// Run plays a trace. open is called after o was checked, once for each core that
// it is worth to use; what it returns is closed. An unknown name in o is an error
// of one line that lists the known ones; a fault of the trace is the reader's.
// progress may be nil; it is told bytes of the file or, where total is 0,
// requests, by one goroutine at a time. Run ends soon after ctx does, with its
// error.
func Run(ctx context.Context, open func() (*trace.Reader, error), o Options, progress func(done, total int64)) (Result, error) {
	st, err := newStage(o.WithDefaults())
	if err != nil {
		return Result{}, err
	}
	var players []*player
	var readers []*trace.Reader
	defer func() {
		for _, rd := range readers {
			_ = rd.Close() // nothing was written to it
		}
	}()
	for _, scenes := range share(st.scenes) {
		rd, err := open()
		if err != nil {
			return Result{}, err
		}
		readers = append(readers, rd)
		players = append(players, &player{scenes: scenes, subagents: st.o.RecordedSubagents})
	}
	if err := playAll(ctx, players, readers, progress); err != nil {
		return Result{}, err
	}
	return st.result(players[0]), nil
}

// playAll lets each player read the trace for itself: scenes share nothing that
// they write, and reading twice costs less than handing requests over.
func playAll(ctx context.Context, players []*player, readers []*trace.Reader, progress func(done, total int64)) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var all sync.WaitGroup
	for i, pl := range players {
		tell := func(int64) {}
		if i == 0 && progress != nil {
			tell = teller(readers[0], progress)
		}
		all.Go(func() {
			if err := pl.play(ctx, readers[i].Next, tell); err != nil {
				stop(err)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// teller turns requests into bytes of the file where its size is known.
func teller(rd *trace.Reader, progress func(done, total int64)) func(int64) {
	return func(requests int64) {
		if info := rd.Info(); info.Size > 0 {
			progress(info.Read, info.Size)
			return
		}
		progress(requests, 0)
	}
}

// worthSharing is so much work for a request that reading it again is little
// beside it.
const worthSharing = 400

// maxShares bounds how often a trace is read at once.
const maxShares = 4

// share divides scenes among cores, or leaves them together.
func share(scenes []*scene) [][]*scene {
	n := min(runtime.GOMAXPROCS(0), maxShares, len(scenes))
	if work(scenes) < worthSharing {
		n = 1
	}
	shares := make([][]*scene, n)
	for _, s := range scenes {
		least := 0
		for i := range shares {
			if work(shares[i]) < work(shares[least]) {
				least = i
			}
		}
		shares[least] = append(shares[least], s)
	}
	return shares
}

// work is how much a request gives some scenes to do, in cells. One that asks
// the provider's rules does as much as forty that do not.
func work(scenes []*scene) (n int) {
	for _, s := range scenes {
		for _, c := range s.cells {
			n++
			if c.prompts != nil || c.engine != nil {
				n += 40
			}
		}
	}
	return n
}
