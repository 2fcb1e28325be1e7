package main

import (
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-9236c7ca/preface/proxy/telemetry"
)

// reloads is what is remembered of loading the configuration anew.
type reloads struct {
	mu     sync.Mutex   // held during a reload
	failed atomic.Bool  // the last one
	at     atomic.Int64 // when the configuration in force was loaded, Unix seconds
}

// reload loads the configuration anew, all or nothing: with an error the old one
// stays as it was. New epochs are composed by the new one; epochs that exist
// keep their bytes.
func (v *service) reload() error {
	v.reloads.mu.Lock()
	defer v.reloads.mu.Unlock()
	notify(notifyReloading())
	defer notify(notifyReady)
	s, err := v.replace()
	v.reloads.failed.Store(err != nil)
	if err != nil {
		v.logger.Error("cannot reload the configuration; the old one stays", "error", err)
		return err
	}
	v.reloads.at.Store(time.Now().Unix())
	level, _ := s.Logging.level() // it was validated
	v.level.Set(level)
	v.logger.Info("configuration reloaded", "hash", s.hash)
	if later := needRestart(&v.started.config, &s.config); len(later) > 0 {
		v.logger.Warn("some changed settings take effect at the next start only", "settings", strings.Join(later, ", "))
	}
	return nil
}

// replace loads the configuration and gives it to the server. A panic on the
// way, of the YAML library for one, must not end a program that serves.
func (v *service) replace() (s *settings, err error) {
	defer func() {
		if p := recover(); p != nil { // its value may quote the file
			err = fmt.Errorf("BUG: panic with a %T while loading:\n%s", p, debug.Stack())
		}
	}()
	if s, err = load(v.opts); err != nil {
		return nil, err
	}
	return s, s.hide(v.server.Reload(s.setup()))
}

// exports is what of a configuration a Pipeline was opened with; the rest is heeded
// at once.
func exports(c telemetry.Config) telemetry.Config {
	c.Propagate, c.Restart = "", false
	return c
}

// needRestart names the settings that differ and that a reload does not change.
func needRestart(old, now *config) []string {
	var names []string
	for _, f := range []struct {
		name     string
		old, now any
	}{
		{"listen", old.Listen, now.Listen},
		{"admin", old.Admin, now.Admin},
		{"admin_token", old.AdminToken, now.AdminToken},
		{"log", old.Log, now.Log},
		{"cache", old.Cache, now.Cache},
		{"resume", old.Resume, now.Resume},
		{"prefix.compose_timeout", old.Prefix.ComposeTimeout, now.Prefix.ComposeTimeout},
		{"logging.format", old.Logging.Format, now.Logging.Format},
		{"limits", old.Limits, now.Limits},
		{"timeouts", old.Timeouts, now.Timeouts},
		{"telemetry", exports(old.Telemetry), exports(now.Telemetry)},
	} {
		if !reflect.DeepEqual(f.old, f.now) {
			names = append(names, f.name)
		}
	}
	return names
}
