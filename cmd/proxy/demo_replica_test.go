package main

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/logsink"
)

// TestDemoReplicas plays once and then spoils what was seen: what is promised of
// replicas has to break by what breaks it.
func TestDemoReplicas(t *testing.T) {
	e, err := playThrough(t.Context(), t.TempDir(), 3, false, &narrator{w: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range demoPromises(3) {
		if p.judge(e, p); len(p.Broken) > 0 {
			t.Errorf("%s %s is broken: %v", p.ID, p.Name, p.Broken)
		}
	}
	requests := 0
	for _, x := range e.seenReplicas().Replicas {
		if requests += x.Requests; x.Requests != x.Before+x.After || x.Before == 0 || x.After == 0 || x.Turn < restartTurn {
			t.Errorf("replica %d has %+v, want requests before and after its restart", x.Replica, x)
		}
	}
	if requests != len(e.calls) {
		t.Errorf("replicas answered %d requests, want all %d", requests, len(e.calls))
	}
	spoilReplicas(t, e)
}

// A burst over replicas saves what it saves at one.
func TestDemoBurstsOverReplicas(t *testing.T) {
	all, err := playBursts(t.Context(), t.TempDir(), 3, &narrator{w: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	testBursts(t, all)
}

func spoilReplicas(t *testing.T, e *evidence) {
	carrying := func(life int) *sighting {
		for _, c := range e.calls {
			if c.carries() && c.visitor().life == life && c.ID != "claude-1/turn-1" {
				return c
			}
		}
		t.Fatalf("no request carried a prefix in life %d of a replica", life)
		return nil
	}
	late, early := carrying(2), carrying(1)
	restarted := late.visitor()
	epoch := logsink.EpochRef{Key: early.request.Key, Epoch: 1}
	session := e.sessions[epoch.Key]
	// visits gives calls another visit.
	visits := func(of func(*sighting) bool, v *visit) (undo func()) {
		old := map[*sighting]*visit{}
		for _, c := range e.calls {
			if of(c) {
				old[c], c.visit = c.visit, v
			}
		}
		return func() {
			for c, v := range old {
				c.visit = v
			}
		}
	}
	drained := func(n ...int) (undo func()) {
		var old []int
		for i, r := range e.replicas {
			old = append(old, r.drained)
			r.drained = n[i]
		}
		return func() {
			for i, r := range e.replicas {
				r.drained = old[i]
			}
		}
	}
	for _, test := range []struct {
		name, breaks string
		spoil        func() (undo func())
	}{
		{"composed anew after a restart", "the same at all replicas", func() func() { return set(&late.inserted.messages[0], []byte(`"anew"`)) }},
		{"inserted elsewhere after a restart", "the same at all replicas", func() func() { return set(&late.inserted.at, 2) }},
		{"a session at one replica", "the same at all replicas", func() func() {
			return visits(func(c *sighting) bool { return c.player == early.player }, early.visit)
		}},
		{"composed too often", "composed by few", func() func() { return set(&e.composed, map[logsink.EpochRef]int{epoch: 4}) }},
		{"composed without an anchor", "composed by few", func() func() { return set(&session.anchors, nil) }},
		{"two anchors", "composed by few", func() func() { return set(&session.anchors, append(session.anchors, session.anchors[0])) }},
		{"nothing composed", "composed by few", func() func() { return set(&e.composed, nil) }},
		{"a request failed", "rolling restart", func() func() { return set(&late.Status, 503) }},
		{"an answer was cut", "rolling restart", func() func() { return set(&late.Err, io.ErrUnexpectedEOF) }},
		{"nothing under way", "rolling restart", func() func() { return drained(0, 0, 0) }},
		{"never restarted", "rolling restart", func() func() {
			return visits(func(c *sighting) bool { return c.visitor() == restarted }, early.visit)
		}},
	} {
		undo := test.spoil()
		if breaks(e, test.breaks) == nil {
			t.Errorf("%s: %s held, want it broken", test.name, test.breaks)
		}
		undo()
	}
	for _, p := range replicaPromises() {
		if got := breaks(e, p.Name); got != nil {
			t.Errorf("unspoiled again: %s is broken: %v", p.Name, got)
		}
	}
}

// breaks is what breaks one promise of replicas, by its name.
func breaks(e *evidence, name string) []string {
	for _, p := range replicaPromises() {
		if p.Name == name {
			p.judge(e, p)
			return p.Broken
		}
	}
	panic("no promise is " + name)
}

// An interrupter ends a demo when it tells of a turn, and notes where its Redis is.
type interrupter struct {
	folder, turn string
	interrupt    func()
	redis        string // its address
}

func (i *interrupter) Write(p []byte) (int, error) {
	if i.redis == "" && strings.Contains(string(p), i.turn) {
		found, _ := filepath.Glob(filepath.Join(i.folder, "*", "redis", "redis.conf"))
		for _, name := range found {
			b, _ := os.ReadFile(name) // without it the test fails below
			i.redis = "127.0.0.1:" + regexp.MustCompile(`port (\d+)`).FindStringSubmatch(string(b))[1]
		}
		i.interrupt()
	}
	return len(p), nil
}

func TestDemoReplicasLeavesNothing(t *testing.T) {
	for _, turn := range []string{"turn  1:", "turn  7:"} {
		t.Setenv("TMPDIR", t.TempDir())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		in := &interrupter{folder: os.Getenv("TMPDIR"), turn: turn, interrupt: cancel}
		if err := (&demoFlags{replicas: 3, verbose: true}).run(ctx, io.Discard, in); err == nil {
			t.Errorf("interrupted at %q run = nil, want an error", turn)
		}
		if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
			t.Errorf("interrupted at %q it left %v, %v", turn, left, err)
		}
		if conn, err := net.Dial("tcp", in.redis); err == nil {
			conn.Close()
			t.Errorf("interrupted at %q it left a server at %s", turn, in.redis)
		}
	}
}

func TestDemoRedisThatEnds(t *testing.T) {
	r, err := startRedis(t.Context(), filepath.Join(t.TempDir(), "redis"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-r.ended
	if err := r.stop(); err == nil || !strings.Contains(err.Error(), "ended by itself") || !strings.Contains(err.Error(), "Ready to accept") {
		t.Errorf("stop of a server that was killed = %v, want what it said last", err)
	}
}

func TestDemoRedisThatCannotStart(t *testing.T) {
	r := &demoRedis{program: "redis-server", dir: filepath.Join(t.TempDir(), "not there")}
	if err := r.start(t.Context()); err == nil {
		t.Error("start without a folder = nil, want an error")
	}
	r = &demoRedis{program: "false", dir: t.TempDir()}
	if err := r.start(t.Context()); err == nil || !strings.Contains(err.Error(), "it ended at once") {
		t.Errorf("start of a program that ends = %v, want that said", err)
	}
}
