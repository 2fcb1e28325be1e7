package faulttest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/logsink/logtest"
)

// A story is what a jury gets to see of one session: two turns, of which the
// client of the second leaves. It is told without any process.
type story struct {
	s          *session
	key        logsink.Key
	anchors    []*logsink.Anchor
	late       bool // the log gets them last
	turns      []*turn
	page       string // that a replica shows
	sizes      []sample
	lostRecord bool
}

// A turn is one of its requests.
type turn struct {
	*try
	got      provider.Exchange
	took     time.Duration
	leaves   bool
	partly   bool // it does not arrive whole
	copies   int  // that arrive
	response *logsink.Response
}

const wholeAnswer = `data: {"id":"msg_1"}` + "\n\nevent: message_stop\n\n"

// goodStory is one in which all promises are kept.
func goodStory(id string, tenant int) *story {
	s := newSession(forms[0], id, true)
	s.key = fmt.Sprint("sk-test-", tenant)
	s.owned()
	y := &story{s: s, key: logsink.Key{Tenant: fmt.Sprint("tenant-", tenant), Session: id}, page: "all is well", sizes: steady(300)}
	y.anchors = []*logsink.Anchor{logtest.Anchor(y.key, 1, "an opener"+composedFor(id))}
	for n := range 2 {
		y.turns = append(y.turns, y.turn(n))
	}
	y.turns[0].answer, y.turns[0].status = []byte(wholeAnswer), 200
	y.turns[1].leaves, y.turns[1].err = true, errLeft
	y.turns[1].got.Complete, y.turns[1].got.GoneAt = false, time.Now()
	return y
}

// turn is one turn as it should go.
func (y *story) turn(n int) *turn {
	t := &turn{try: y.s.newTry(1), copies: 1}
	t.requestID = fmt.Sprint(y.s.id, "-r", n)
	now := time.Now()
	t.got = provider.Exchange{
		Header: []provider.Field{{Name: tryHeader, Value: t.id}}, Tenant: provider.TenantOf(y.s.key), Status: 200,
		Answer: []byte(wholeAnswer), Tokens: provider.Tokens{Fresh: 10, CacheRead: 20, Write5m: 30, Output: 40},
		ReceivedAt: now, EndedAt: now, Complete: true,
	}
	t.carry(y.anchors[0].Renderings[0].Bytes)
	fresh, read, written, output := int64(10), int64(20), int64(30), int64(40)
	r := logtest.Response(y.key, "main", t.requestID).Response
	r.Usage = &logsink.Usage{Fresh: &fresh, CacheRead: &read, Write5m: &written, Output: &output}
	t.response = r
	return t
}

// carry puts a message in the slot of what arrives.
func (t *turn) carry(message []byte) {
	t.got.Body = slices.Concat(t.body[:t.slot], message, []byte(","), t.body[t.slot:])
}

// steady are sizes that go up and down, for so many samples two seconds apart.
func steady(n int) (list []sample) {
	for i := range n {
		wave := float64(i * 7919 % 13)
		list = append(list, sample{footprint{30 + wave, 40 + wave, 50<<20 + wave*(1<<20) + perSession*float64(i)}, float64(i)})
	}
	return list
}

// tell has a jury judge stories from beginning to end, as a soak does.
func tell(t *testing.T, stories ...*story) *jury {
	t.Helper()
	st := &stage{t: t, dir: t.TempDir()}
	st.trail = newTrail(st)
	j := newJury(st.trail)
	c := logsink.DefaultConfig()
	c.Sync = logsink.SyncNormal // nobody crashes here, and each story is a file
	log, err := logsink.OpenSQLite(t.Context(), st.logPath(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for _, y := range stories {
		y.freeze(t, log, false)
		for _, turn := range y.turns {
			j.hear(turn)
		}
		y.freeze(t, log, true)
		y.record(t, log)
		j.judge(12, secretIn("a page", []byte(y.page)))
		sampled(y.sizes).slopes(&j.counters)
	}
	r := st.openLog()
	defer r.Close()
	if err := j.judgeLog(r); err != nil {
		t.Fatal(err)
	}
	return j
}

func (y *story) freeze(t *testing.T, log logsink.Log, late bool) {
	t.Helper()
	for _, a := range y.anchors {
		if y.late == late {
			if _, err := log.Freeze(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// hear shows a jury one turn.
func (j *jury) hear(t *turn) {
	j.begin(t.try)
	j.accounts[t.id].began = time.Now().Add(-t.took)
	if t.partly {
		t.got.ReceivedAt = time.Time{}
	} else {
		j.arrive(&t.got)
	}
	if t.leaves {
		j.leave(t.try)
	}
	j.end(t.try)
	for range t.copies {
		j.settle(t.got)
	}
	j.lookAfter(time.Now().Add(2 * followBound))
}

// record writes what a replica would.
func (y *story) record(t *testing.T, log logsink.Log) {
	t.Helper()
	header, blob := logtest.Header(y.key, "main", "h-"+y.s.id, "be brief")
	recs := []logsink.Record{header}
	for n, turn := range y.turns {
		if y.lostRecord {
			continue
		}
		q := logtest.Request(y.key, "main", turn.requestID, "h-"+y.s.id, n+1)
		q.Request.Decision, q.Request.Why = logsink.Bare, "side_request"
		recs = append(recs, q, logsink.Record{Response: turn.response})
	}
	if len(y.anchors) == 0 {
		return
	}
	if err := log.Append(t.Context(), recs, []logsink.Blob{blob}); err != nil {
		t.Fatal(err)
	}
}

// sampled are sizes as a soak measures them.
func sampled(sizes []sample) *sampler {
	one := &series{name: "replica", of: &child{}, samples: sizes}
	for i := range sizes {
		one.at = append(one.at, float64(2*i))
	}
	return &sampler{list: []*series{one}}
}

// TestSoakJury: a jury finds nothing in stories in which all is well, and for
// each promise what is told wrong of it.
func TestSoakJury(t *testing.T) {
	if err := tell(t, goodStory("a", 0), goodStory("b", 1)).verdict(); err != nil {
		t.Fatalf("of stories in which all is well: %v", err)
	}
	for _, c := range []struct {
		what  string
		of    promise
		spoil func(y *story)
	}{
		{"the anchor is logged after the request has arrived", 1, func(y *story) { y.late = true }},
		{"a part arrives before there is an anchor", 1, func(y *story) { y.late, y.turns = true, y.turns[1:]; y.turns[0].partly = true }},
		{"the slot is not what the log has", 1, func(y *story) { y.turns[0].carry([]byte(`{"role":"user","content":"else for a."}`)) }},
		{"the second request carries another rendering", 2, func(y *story) { y.turns[1].carry(y.anchors[0].Renderings[1].Bytes) }},
		{"a byte behind the slot is another", 3, func(y *story) { y.turns[0].got.Body[len(y.turns[0].got.Body)-2] = 'X' }},
		{"the body is longer", 3, func(y *story) { y.turns[0].got.Body = append(y.turns[0].got.Body, '\n') }},
		{"no request is on record", 4, func(y *story) { y.lostRecord = true }},
		{"the anchor is gone in the end", 4, func(y *story) { y.anchors = nil }},
		{"the session is frozen for two tenants", 5, func(y *story) {
			y.anchors = append(y.anchors, logtest.Anchor(logsink.Key{Tenant: "another", Session: y.s.id}, 1, "more"+composedFor(y.s.id)))
		}},
		{"the session is frozen twice", 5, func(y *story) { y.anchors = append(y.anchors, logtest.Anchor(y.key, 2, "again"+composedFor(y.s.id))) }},
		{"the slot was composed for another session", 6, func(y *story) {
			y.anchors[0] = logtest.Anchor(y.key, 1, "an opener"+composedFor("b"))
			y.turns[0].carry(y.anchors[0].Renderings[0].Bytes)
		}},
		{"the credential is another tenant's", 6, func(y *story) { y.turns[0].got.Tenant = provider.TenantOf(tenants[1].key) }},
		{"a header has another tenant's key", 6, func(y *story) { y.turns[0].got.Head = []byte("x-old: " + tenants[1].key) }},
		{"the answer is another's", 6, func(y *story) {
			y.turns[0].answer = bytes.Replace(y.turns[0].answer, []byte("msg_1"), []byte("msg_2"), 1)
		}},
		{"the provider goes on for long when the client has left", 7, func(y *story) { y.turns[1].got.EndedAt = time.Now().Add(2 * followBound) }},
		{"the provider goes on for ever", 7, func(y *story) { y.turns[1].copies = 0 }},
		{"the answer lacks its end", 8, func(y *story) { y.turns[0].answer = y.turns[0].answer[:20] }},
		{"the provider broke off and the answer looks whole", 8, func(y *story) { y.turns[0].got.Complete = false }},
		{"a byte of the answer is another", 8, func(y *story) { y.turns[0].answer = append([]byte("X"), y.turns[0].answer[1:]...) }},
		{"a request arrives twice", 9, func(y *story) { y.turns[0].copies = 2 }},
		{"a client waits for too long", 10, func(y *story) { y.turns[0].took = waitBound + time.Second }},
		{"a client's patience ends", 10, func(y *story) { y.turns[0].err = os.ErrDeadlineExceeded }},
		{"goroutines are left", 10, func(y *story) { y.leak(func(f *sample, i float64) { f.goroutines += i / 5 }) }},
		{"descriptors are left", 10, func(y *story) { y.leak(func(f *sample, i float64) { f.descriptors += i / 5 }) }},
		{"memory is kept", 10, func(y *story) { y.leak(func(f *sample, i float64) { f.memory += i * (256 << 10) }) }},
		{"usage is off by one", 11, func(y *story) { *y.turns[0].response.Usage.Output++ }},
		{"usage of a whole answer is unknown", 11, func(y *story) { y.turns[0].response.Usage = nil }},
		{"a class of a whole answer is unknown", 11, func(y *story) { y.turns[0].response.Usage.CacheRead = nil }},
		{"an error quotes the request", 12, func(y *story) {
			y.turns[0].status, y.turns[0].answer = 400, []byte("cannot read "+tenants[0].words)
		}},
		{"a record quotes the key", 12, func(y *story) { y.turns[0].response.Detail = "with " + tenants[0].key }},
		{"a page shows the key", 12, func(y *story) { y.page = tenants[0].key }},
	} {
		a := goodStory("a", 0)
		c.spoil(a)
		j := tell(t, a, goodStory("b", 1))
		if n := j.violations(c.of); n == 0 {
			t.Errorf("%s: %v counts nothing:\n%s", c.what, c.of, j.table())
		}
		if j.verdict() == nil {
			t.Errorf("%s: the verdict is good", c.what)
		}
	}
}

// leak has a size grow with each sample.
func (y *story) leak(more func(f *sample, i float64)) {
	for i := range y.sizes {
		more(&y.sizes[i], float64(i))
	}
}

// TestSoakJury_KilledReplica: a replica that was killed may take its last
// records of a session with it, and no others.
func TestSoakJury_KilledReplica(t *testing.T) {
	f := func(name string, there []bool, want int) {
		t.Helper()
		st := &stage{t: t, dir: t.TempDir()}
		st.trail = newTrail(st)
		j, dead, s := newJury(st.trail), &child{}, newSession(forms[0], "s", false)
		j.kills(dead)
		recs := recorded{requests: map[string]bool{}}
		for i, recorded := range there {
			one := s.newTry(1)
			one.via, one.status, one.requestID = dead, 200, fmt.Sprint("r", i)
			j.begin(one)
			recs.requests[one.requestID] = recorded
		}
		j.judgeRecords(recs)
		if n := j.violations(4); n != want {
			t.Errorf("%s: I4 counts %d, want %d", name, n, want)
		}
	}
	f("all there", []bool{true, true, true}, 0)
	f("the last ones lost", []bool{true, false, false}, 0)
	f("one between lost", []bool{true, false, true}, 1)
}

// TestSoakUsage: what a broken answer leaves unknown is right; what it claims
// must have been said.
func TestSoakUsage(t *testing.T) {
	whole := sent{provider.Tokens{Fresh: 10, CacheRead: 20, Write30m: 30, Output: 40}, true}
	cut := sent{whole.tokens, false}
	n := func(v int64) *int64 { return &v }
	f := func(name string, a sent, u *logsink.Usage, want bool) {
		t.Helper()
		if err := usageAgrees(&logsink.Response{End: logsink.EndComplete, Usage: u}, a); (err == nil) != want {
			t.Errorf("%s: %v, want that it agrees: %v", name, err, want)
		}
	}
	f("whole", whole, &logsink.Usage{Fresh: n(10), CacheRead: n(20), Write30m: n(30), Output: n(40)}, true)
	f("writes of an untold lifetime", whole, &logsink.Usage{Fresh: n(10), CacheRead: n(20), WriteOther: n(30), Output: n(40)}, true)
	f("input not told apart", whole, &logsink.Usage{Unsplit: n(30), Write30m: n(30), Output: n(40)}, true)
	f("first estimate of the output", cut, &logsink.Usage{Fresh: n(10), Output: n(1)}, true)
	f("broken off", cut, nil, true)
	f("broken off, invented", cut, &logsink.Usage{Fresh: n(11)}, false)
	f("broken off, output too large", cut, &logsink.Usage{Output: n(41)}, false)
	f("first estimate of a whole answer", whole, &logsink.Usage{Fresh: n(10), CacheRead: n(20), Write30m: n(30), Output: n(1)}, false)
	f("writes lost", whole, &logsink.Usage{Fresh: n(10), CacheRead: n(20), Output: n(40)}, false)
}

// TestSoakSearch: a canary is found wherever it stands in a file.
func TestSoakSearch(t *testing.T) {
	for _, at := range []int{0, 32<<10 - 3, 64 << 10} {
		dir := t.TempDir()
		text := append(bytes.Repeat([]byte("x"), at), tenants[0].key...)
		if err := os.WriteFile(filepath.Join(dir, "f"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		j := newJury(nil)
		if err := j.searchFiles(dir); err != nil || j.violations(12) != 1 {
			t.Errorf("a canary at %d: I12 counts %d, %v; want 1", at, j.violations(12), err)
		}
	}
}
