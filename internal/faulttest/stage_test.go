package faulttest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/logsink"
)

// A stage is where proxies are broken: one log, one provider, one contributor,
// and any number of proxies over them.
type stage struct {
	t        *testing.T
	bin      string
	dir      string
	up       *provider.Provider
	upstream string // base URL; the provider's unless a test says otherwise
	openers  *openers
	policy   string
	config   string // what stands in the configuration beside the contributor
	log      string // URL of a log that is not a file in dir, or ""
	judged   string // where that is read to judge, if not by the proxies' way
	trail    *trail
}

// newStage makes a stage without a proxy. change may alter it first.
func newStage(t *testing.T, change ...func(*stage)) *stage {
	t.Helper()
	st := &stage{t: t, bin: binary(t), dir: t.TempDir(), policy: "enforced"}
	st.openers = startOpeners(t)
	st.trail = newTrail(st)
	st.up = provider.New(provider.Options{OnArrive: st.trail.arrived})
	if err := st.up.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.up.Close(); err != nil {
			t.Error(err)
		}
	})
	st.upstream = st.up.URL()
	for _, c := range change {
		c(st)
	}
	return st
}

// with adds sections to the configuration.
func with(config string) func(*stage) { return func(st *stage) { st.config = config } }

// bestEffort has requests go bare that cannot carry their prefix.
func bestEffort(st *stage) { st.policy = "best_effort" }

// watched has the race detector look at the proxies, if it looks at the test.
func watched(st *stage) { st.bin = watchedBinary(st.t) }

func (st *stage) configPath() string { return filepath.Join(st.dir, "preface.yaml") }

func (st *stage) logPath() string {
	if st.log != "" {
		return st.log
	}
	return filepath.Join(st.dir, "preface.db")
}

// judgedPath is where the log is read from outside.
func (st *stage) judgedPath() string {
	if st.judged != "" {
		return st.judged
	}
	return st.logPath()
}

// defaults are sections that a test may write itself. The deadlines are long so
// that a slow machine decides nothing.
var defaults = []struct{ name, text string }{
	{"contributors", "contributors:\n- {name: opener, kind: http, url: \"%s\", deadline: 60s}\n"},
	{"prefix", "prefix: {compose_timeout: 60s}\n"},
	{"log", "log: {timeout: 60s}\n"},
}

// writeConfig writes the configuration for the next start or reload.
func (st *stage) writeConfig() {
	st.t.Helper()
	text := st.config
	for _, d := range defaults {
		switch {
		case strings.HasPrefix(st.config, d.name+":") || strings.Contains(st.config, "\n"+d.name+":"):
		case d.name == "contributors":
			text += fmt.Sprintf(d.text, st.openers.url)
		default:
			text += d.text
		}
	}
	if err := os.WriteFile(st.configPath(), []byte(text), 0o600); err != nil {
		st.t.Fatal(err)
	}
}

// start starts a proxy on the stage's log. env is for this process alone.
func (st *stage) start(env ...string) *child {
	st.t.Helper()
	st.writeConfig()
	return startChild(st.t, st.bin, st.dir, env, "serve", "-config", st.configPath(), "-listen", "127.0.0.1:0", "-admin", "127.0.0.1:0",
		"-log", st.logPath(), "-policy", st.policy, "-upstream", "anthropic="+st.upstream, "-upstream", "openai="+st.upstream)
}

// failAt is the environment that has a process do something at the n-th hit of
// a point.
func failAt(point string, n int, action string) string {
	return fmt.Sprintf("FAILPOINT=%s:%d:%s", point, n, action)
}

// openLog opens the log as another process would.
func (st *stage) openLog() logsink.Reader {
	st.t.Helper()
	r, err := logsink.OpenReader(context.Background(), logsink.Config{Path: st.judgedPath()})
	if err != nil {
		st.t.Fatal(err)
	}
	return r
}

// records are all that the log has, in order.
func (st *stage) records() (recs []logsink.Record) {
	st.t.Helper()
	r := st.openLog()
	defer r.Close()
	err := r.Records(context.Background(), logsink.Key{}, 0, func(_ int64, rec logsink.Record) bool {
		recs = append(recs, rec)
		return true
	})
	if err != nil {
		st.t.Fatal(err)
	}
	return recs
}

// responses are the response records of the log by request id.
func (st *stage) responses() map[string]*logsink.Response {
	m := map[string]*logsink.Response{}
	for _, r := range st.records() {
		if r.Response != nil {
			m[r.Response.ID] = r.Response
		}
	}
	return m
}

// verify runs the log's own checker. Gaps are what a crash may take; a test
// whose proxies all ended well allows none.
func (st *stage) verify(gapsAllowed bool) logsink.Summary {
	st.t.Helper()
	r := st.openLog()
	defer r.Close()
	sum, err := logsink.Verify(context.Background(), r, nil, func(f logsink.Finding) {
		if !f.Gap || !gapsAllowed {
			st.t.Errorf("I4: log verify: %+v", f)
		}
	})
	if err != nil {
		st.t.Errorf("I4: log verify: %v", err)
	}
	return sum
}
