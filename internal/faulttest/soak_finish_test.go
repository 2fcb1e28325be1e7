package faulttest

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// finish judges what is left when the load is gone.
func (r *replicas) finish() {
	for i := range r.list {
		r.jury.judge(10, r.calm(i))
		if i != restarted {
			r.jury.judge(10, r.grown(i))
		}
	}
	r.slopes = r.sampler.slopes(&r.jury.counters)
	for i := range r.list {
		r.endWell(r.list[i].Load())
	}
	for i, p := range r.all {
		r.jury.judge(12, secretIn(fmt.Sprint("the output of process ", i), []byte(p.stdout.String())))
		r.jury.judge(12, secretIn(fmt.Sprint("the errors of process ", i), []byte(p.stderr.String())))
	}
	for _, dir := range []string{r.server.Dir, r.dir} {
		if err := r.jury.searchFiles(dir); err != nil {
			r.t.Errorf("cannot search what was written: %v", err)
		}
	}
	log := r.openLog()
	defer log.Close()
	if err := r.jury.judgeLog(log); err != nil {
		r.t.Errorf("cannot judge the log: %v", err)
	}
}

// summary says what came of the soak, however it ended.
func (r *replicas) summary() {
	r.t.Logf("%d sessions, %d tries of agents, %d of them failed, %d tries in all, %d openers composed, %d faults: %v",
		len(r.trail.slotValues()), r.crew.sent.Load(), r.crew.failed.Load(), len(r.trail.all(0)), r.openers.asked.Load(), r.faults, r.did)
	r.t.Logf("slopes (Theil-Sen, after a quarter of each series)\n%s", r.slopes)
	r.t.Logf("promises\n%s", r.jury.table())
	if err := r.jury.verdict(); err != nil {
		r.t.Errorf("a promise is broken, or could not be judged:\n%v", err)
	}
}

// calm waits until a replica has nothing under way and idle connections have
// ended.
func (r *replicas) calm(i int) error {
	var last error
	if !within(func() bool {
		m, err := scrape(r.sampler.client, r.list[i].Load())
		under, queued, conns := m["preface_requests_in_flight"], m["preface_log_queue_records"], r.up.Conns()
		last = unless(err == nil && under == 0 && queued == 0 && conns == 0,
			"replica %d does not come to rest: %v requests, %v records in the queue, %d connections to the provider, %v", i, under, queued, conns, err)
		return last == nil
	}) {
		return last
	}
	return nil
}

// slack is how much larger than before its load a replica at rest may be: there
// are pools, and garbage.
var slack = footprint{goroutines: 20, descriptors: 20, memory: 96 << 20}

// grown compares a replica at rest with what it was before the load.
func (r *replicas) grown(i int) error {
	var now footprint
	var err error
	before := r.before[i]
	before.memory += perSession * float64(r.jury.sessions())
	back := within(func() bool {
		now, err = scrapedFootprint(r.sampler.client, r.list[i].Load())
		return err == nil && now.within(before, slack)
	})
	r.t.Logf("replica %d at rest: before %+v, after %+v", i, r.before[i], now)
	return unless(back, "replica %d at rest: before %+v, after %+v, %v", i, r.before[i], now, err)
}

// within reports whether a footprint is not larger than another by more than
// some slack.
func (f footprint) within(before, slack footprint) bool {
	return f.goroutines <= before.goroutines+slack.goroutines && f.descriptors <= before.descriptors+slack.descriptors &&
		f.memory <= before.memory+slack.memory
}

// searchFiles looks for secrets in all files of a folder.
func (j *jury) searchFiles(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		s := &search{name: filepath.Base(path)}
		if _, err := io.Copy(s, f); err != nil {
			return err
		}
		j.judge(12, s.err)
		return nil
	})
}
