package main

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
	"github.com/seed-9236c7ca/preface/proxy"
)

// A config is one configuration file. The structs live with the packages that
// they configure; configs/preface.yaml shows every key with its default.
type config struct {
	// Listen is where agents are served. Default 127.0.0.1:8787.
	Listen string `yaml:"listen"`
	// Admin is where operators are served, or "off". Default 127.0.0.1:8788.
	Admin string `yaml:"admin"`
	// AdminToken is what operators' pages ask for, at least 16 bytes. Default "":
	// on loopback they ask for nothing, elsewhere there is nothing but health and
	// metrics.
	AdminToken string `yaml:"admin_token"`

	// Prices is a price file that replaces the built-in table. Default "": the
	// built-in one.
	Prices string `yaml:"prices"`

	Contributors []contrib.Config `yaml:"contributors"`
	Prefix       prefixConfig     `yaml:"prefix"`
	Resume       resumeConfig     `yaml:"resume"`
	Cache        cacheConfig      `yaml:"cache"`
	Log          logConfig        `yaml:"log"`
	Logging      loggingConfig    `yaml:"logging"`

	proxy.Config `yaml:",inline"`
}

type prefixConfig struct {
	// ComposeTimeout bounds one composition, all contributors together.
	// Default 2s.
	ComposeTimeout time.Duration `yaml:"compose_timeout"`
	// Closing is an assistant message put behind the composed ones, for models
	// that want roles to alternate. It is left out where nothing was composed,
	// or an assistant message is last. Default "": none.
	Closing string `yaml:"closing"`
}

type resumeConfig struct {
	// Idle begins a new epoch when a session was idle for longer. Default 0s:
	// never.
	Idle time.Duration `yaml:"idle"`
}

type cacheConfig struct {
	// Bytes is the memory for epochs. Default 64 MiB.
	Bytes int64 `yaml:"bytes"`
}

type logConfig struct {
	logsink.Config `yaml:",inline"`
	// Timeout bounds one read or write of the log on a request's way. Default 1s.
	Timeout time.Duration `yaml:"timeout"`
}

// loggingConfig is about the lines on stderr, not the header log.
type loggingConfig struct {
	// Level is debug, info (default), warn or error.
	Level string `yaml:"level"`
	// Format is text, json, or auto (default): text on a terminal.
	Format string `yaml:"format"`
}

// shortestToken is the least length of AdminToken: too long to be guessed.
const shortestToken = 16

// adminOff is the value of Admin that opens no second listener.
const adminOff = "off"

// defaultConfig is what a file is decoded into.
func defaultConfig() config {
	return config{
		Listen:  "127.0.0.1:8787",
		Admin:   "127.0.0.1:8788",
		Prefix:  prefixConfig{ComposeTimeout: 2 * time.Second},
		Cache:   cacheConfig{Bytes: 64 << 20},
		Log:     logConfig{Config: logsink.DefaultConfig(), Timeout: time.Second},
		Logging: loggingConfig{Level: "info", Format: "auto"},
	}
}

// validate says what is wrong with a configuration that has its defaults.
func (c *config) validate() error {
	if c.Listen == "" || c.Admin == "" { // to the system that is any port of every address
		return errors.New("listen and admin must not be empty; leave them out for the default, or set admin to off")
	}
	if n := len(c.AdminToken); n > 0 && n < shortestToken {
		return fmt.Errorf("admin_token has %d bytes and can be guessed: want %d or more, such as openssl rand -hex 32 gives", n, shortestToken)
	}
	if err := c.Config.Validate(); err != nil {
		return err
	}
	if err := c.Log.Check(); err != nil {
		return err
	}
	for _, f := range []struct {
		key string
		n   int64
	}{
		{"prefix.compose_timeout", int64(c.Prefix.ComposeTimeout)}, {"resume.idle", int64(c.Resume.Idle)},
		{"cache.bytes", c.Cache.Bytes}, {"log.timeout", int64(c.Log.Timeout)},
	} {
		if f.n < 0 {
			return fmt.Errorf("%s is negative; leave it out for the default", f.key)
		}
	}
	return c.Logging.validate()
}

func (l *loggingConfig) validate() error {
	if _, err := l.level(); err != nil {
		return err
	}
	switch l.Format {
	case "auto", "text", "json":
		return nil
	}
	return fmt.Errorf("logging.format is %q: want auto, text or json", l.Format)
}

func (l *loggingConfig) level() (slog.Level, error) {
	for _, known := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		if text, _ := known.MarshalText(); string(text) == strings.ToUpper(l.Level) {
			return known, nil
		}
	}
	return 0, fmt.Errorf("logging.level is %q: want debug, info, warn or error", l.Level)
}
