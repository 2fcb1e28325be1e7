package main

import (
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"
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
	s, err := load(v.opts)
	if err == nil {
		err = s.hide(v.server.Reload(s.setup()))
	}
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

// needRestart names the settings that differ and that a reload does not change.
func needRestart(old, now *config) []string {
	var names []string
	for _, f := range []struct {
		name     string
		old, now any
	}{
		{"listen", old.Listen, now.Listen},
		{"admin", old.Admin, now.Admin},
		{"log", old.Log, now.Log},
		{"cache", old.Cache, now.Cache},
		{"resume", old.Resume, now.Resume},
		{"prefix.compose_timeout", old.Prefix.ComposeTimeout, now.Prefix.ComposeTimeout},
		{"logging.format", old.Logging.Format, now.Logging.Format},
		{"limits", old.Limits, now.Limits},
		{"timeouts", old.Timeouts, now.Timeouts},
	} {
		if !reflect.DeepEqual(f.old, f.now) {
			names = append(names, f.name)
		}
	}
	return names
}
