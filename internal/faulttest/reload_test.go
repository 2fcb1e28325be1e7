package faulttest

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// TestI2_ReloadUnderLoad: a proxy is told to reload again and again, every
// third time a configuration that is wrong, while streams run and sessions go
// on. No stream breaks, no session changes, and what is wrong changes nothing.
func TestI2_ReloadUnderLoad(t *testing.T) {
	st := newStage(t)
	p := st.start()
	crew := &crew{st: st, name: "reload", header: []string{"x-provider-fault", "gap=3ms"}}
	crew.more.Store(true)
	var load sync.WaitGroup
	load.Go(func() { crew.work(agentsAtOnce, 1, p) })
	for i := range 60 {
		if i%3 == 2 {
			st.spoilConfig()
		} else {
			st.config = fmt.Sprintf("cache: {bytes: %d}\n", 1<<20+i)
			st.writeConfig()
		}
		p.signal(syscall.SIGHUP)
		eventually(t, "it tells how the reload went", func() bool { return reloadsTold(p) > i })
	}
	crew.more.Store(false)
	load.Wait()
	if n := p.metric("preface_config_last_reload_successful"); n != 0 {
		t.Errorf("the last reload counts as successful: %v", n)
	}
	for _, v := range st.trail.victims(0) {
		t.Errorf("%s failed: status %d, %v", v.id, v.status, v.err)
	}
	st.say(p, newSession(forms[0], "after", false))
	p.stop()
	st.trail.checkEnd(1)
}

// reloadsTold counts the reloads that a proxy has told of.
func reloadsTold(p *child) int {
	text := p.stderr.String()
	return strings.Count(text, `"msg":"configuration reloaded"`) + strings.Count(text, `"msg":"cannot reload the configuration`)
}

// spoilConfig writes a configuration that cannot be loaded.
func (st *stage) spoilConfig() {
	st.t.Helper()
	if err := os.WriteFile(st.configPath(), []byte("contributors: []\nno_such_key: 1\n"), 0o600); err != nil {
		st.t.Fatal(err)
	}
}
