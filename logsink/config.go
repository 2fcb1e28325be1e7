package logsink

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Config says where the log is and how sure it must be. The zero value of a
// field is its default, except in Retention: see there and DefaultConfig.
type Config struct {
	// Path is where the log is: the path of a SQLite file, or a URL whose
	// scheme names another backend ("sqlite:preface.db" is the same as
	// "preface.db"). Default "preface.db" in the working directory.
	Path string `yaml:"path"`
	// Requests says when request and response records are on disk: "async"
	// (default) within 100 ms, through a bounded queue; "sync" before the
	// request goes upstream. Anchors are always synchronous.
	Requests string `yaml:"requests"`
	// Queue is how many records may wait in the queue of "async" before more of
	// them are dropped and counted. Default 65536.
	Queue int `yaml:"queue"`
	// BusyTimeout is how long to wait while another process holds the log's
	// write lock. Default 1s.
	BusyTimeout time.Duration `yaml:"busy_timeout"`
	// Sync is "full" (default): what was acknowledged survives a loss of power;
	// or "normal": it survives a crash of the program, and a loss of power may
	// take back the last moments. Only "full" keeps promise I1 on any crash.
	Sync string `yaml:"sync"`
	// Durability says what Redis must have done with an anchor or record when it
	// counts as stored: "memory", "fsync" (default), or "replicas=N": at least N
	// replicas have it. A server that does not give it is refused, unless Unsafe.
	Durability string `yaml:"durability"`
	Unsafe     bool   `yaml:"unsafe"`
	// Redis has the credentials and certificates for Redis.
	Redis RedisConfig `yaml:"redis"`
	// Retention limits age and size.
	Retention Retention `yaml:"retention"`
}

// Values of Config.Requests and Config.Sync.
const (
	RequestsAsync = "async"
	RequestsSync  = "sync"
	SyncFull      = "full"
	SyncNormal    = "normal"
)

// DefaultPath is where the log is if nothing else is said.
const DefaultPath = "preface.db"

// DefaultConfig returns the configuration to decode a file into.
func DefaultConfig() Config {
	return Config{Retention: Retention{MaxAge: 30 * 24 * time.Hour, Live: defaultLive}}.withDefaults()
}

const defaultLive = 7 * 24 * time.Hour

func (c Config) withDefaults() Config {
	setDefault(&c.Path, DefaultPath)
	setDefault(&c.Requests, RequestsAsync)
	setDefault(&c.Queue, 65536)
	setDefault(&c.BusyTimeout, time.Second)
	setDefault(&c.Sync, SyncFull)
	setDefault(&c.Durability, DurableFsync)
	return c
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Check reports the first setting that cannot be.
func (c Config) Check() error {
	c = c.withDefaults()
	if c.Requests != RequestsAsync && c.Requests != RequestsSync {
		return fmt.Errorf("log.requests is %q, must be %s or %s", c.Requests, RequestsAsync, RequestsSync)
	}
	if c.Sync != SyncFull && c.Sync != SyncNormal {
		return fmt.Errorf("log.sync is %q, must be %s or %s", c.Sync, SyncFull, SyncNormal)
	}
	if c.Queue < 0 || c.BusyTimeout < 0 {
		return fmt.Errorf("log.queue is %d and log.busy_timeout %s, neither may be negative", c.Queue, c.BusyTimeout)
	}
	if r := c.Retention; r.MaxAge < 0 || r.MaxBytes < 0 || r.Live < 0 {
		return fmt.Errorf("log.retention has a negative limit: %+v", r)
	}
	if _, err := parseDurability(c.Durability); err != nil {
		return err
	}
	_, _, err := backend(c.Path)
	return err
}

// A Backend opens one kind of log. Path is what follows the scheme in
// Config.Path.
type Backend struct {
	Open       func(ctx context.Context, path string, c Config) (Log, error)
	OpenReader func(ctx context.Context, path string, c Config) (Reader, error)
}

var backends = struct {
	sync.RWMutex
	m map[string]Backend
}{m: map[string]Backend{}}

// Register makes a backend known by its URL scheme. It is called from init
// functions; a scheme that is taken panics.
func Register(scheme string, b Backend) {
	backends.Lock()
	defer backends.Unlock()
	if _, taken := backends.m[scheme]; taken {
		panic("BUG: two log backends are named " + scheme)
	}
	backends.m[scheme] = b
}

// Schemes returns the names of all backends, sorted.
func Schemes() []string {
	backends.RLock()
	defer backends.RUnlock()
	return slices.Sorted(maps.Keys(backends.m))
}

// Open opens the log for writing and makes it if it is not there. The errors of
// errors.go tell apart what may be wrong with it; their text is one line that
// says what to do, and a log that could not be opened is as it was.
func Open(ctx context.Context, c Config) (Log, error) {
	c = c.withDefaults()
	if err := c.Check(); err != nil {
		return nil, err
	}
	b, path, err := backend(c.Path)
	if err != nil {
		return nil, err
	}
	return b.Open(ctx, path, c)
}

// OpenReader opens a log that is there, to read only. Another process may be
// writing it.
func OpenReader(ctx context.Context, c Config) (Reader, error) {
	c = c.withDefaults()
	if err := c.Check(); err != nil {
		return nil, err
	}
	b, path, err := backend(c.Path)
	if err != nil {
		return nil, err
	}
	return b.OpenReader(ctx, path, c)
}

// A scheme has two letters at least, so that C:\preface.db is a path.
var schemeRx = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+):(.*)$`)

// addressRx matches what is meant for a server and lacks its scheme: a file of
// that name would be a log of this machine's own, which nobody notices.
var addressRx = regexp.MustCompile(`^([0-9.]+|\[[0-9A-Fa-f:.]+\]):[0-9]+$`)

func backend(path string) (b Backend, rest string, err error) {
	scheme, rest := "sqlite", path
	if m := schemeRx.FindStringSubmatch(path); m != nil {
		scheme, rest = strings.ToLower(m[1]), m[2]
	}
	if addressRx.MatchString(path) {
		return b, "", fmt.Errorf("cannot open log %s: it is an address; log.path wants redis://%s, or ./%s if it is a file", path, path, path)
	}
	backends.RLock()
	b, ok := backends.m[scheme]
	backends.RUnlock()
	if !ok {
		// What follows may hold a password (I12).
		return b, "", fmt.Errorf("cannot open log %s:…: no backend is named %q, there are %s (a file whose name begins so is ./%s:…)",
			scheme, scheme, strings.Join(Schemes(), ", "), scheme)
	}
	return b, rest, nil
}
