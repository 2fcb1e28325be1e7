package load

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Scenarios are the loads, in the order of results.
var Scenarios = []string{"closed", "open", "stream"}

// Options say what is measured. All but the two URLs may be zero.
type Options struct {
	Upstream string // base URL of the provider, which is asked directly
	Proxy    string // base URL of the proxy before it

	Format    string   // anthropic (the default), chat or responses
	Model     string   // as the provider names it; empty is one that fits the format
	Size      int      // bytes of a request body, about; 0 is 2,000
	Scenarios []string // of Scenarios; empty is all

	Rounds      int           // 0 is 5
	Duration    time.Duration // of one measurement; 0 is 1 s
	Connections int           // to each target; 0 is 8
	Rate        float64       // requests per second of the open load; 0 is 100
	Timeout     time.Duration // of one request; 0 is 30 s

	Key           string   // the credential; empty is a made-up one
	Headers       []string // "name: value", sent to both
	SessionHeader string   // has a session for each connection; empty is x-session-id

	// PID is the process, or 0, whose CPU and memory are read from /proc.
	PID int
	// Remote allows targets on other machines, where requests may cost money.
	Remote bool
	// Tell is called before each measurement, if it is not nil.
	Tell func(done, all int)
}

// What durations are if they are 0.
const (
	DefaultDuration = time.Second
	DefaultTimeout  = 30 * time.Second
)

// What bounds a run.
const (
	maxRounds      = 100
	maxDuration    = time.Minute
	maxConnections = 1000
	maxRate        = 100_000
	maxSize        = 16 << 20
)

// withDefaults returns o with what zero values mean, or says what is wrong.
func (o Options) withDefaults() (Options, error) {
	o.Format = cmp.Or(o.Format, "anthropic")
	f, ok := formats[o.Format]
	if !ok {
		return o, fmt.Errorf("unknown format %q: known are anthropic, chat, responses", o.Format)
	}
	o.Model = cmp.Or(o.Model, f.model)
	o.Size, o.Rounds, o.Connections = cmp.Or(o.Size, 2000), cmp.Or(o.Rounds, 5), cmp.Or(o.Connections, 8)
	o.Rate = cmp.Or(o.Rate, 100)
	o.Duration, o.Timeout = cmp.Or(o.Duration, DefaultDuration), cmp.Or(o.Timeout, DefaultTimeout)
	o.Key, o.SessionHeader = cmp.Or(o.Key, "sk-bench"), cmp.Or(o.SessionHeader, "x-session-id")
	if len(o.Scenarios) == 0 {
		o.Scenarios = Scenarios
	}
	return o, o.check()
}

func (o Options) check() error {
	switch {
	case o.Rounds < 1 || o.Rounds > maxRounds:
		return fmt.Errorf("%d rounds: want 1 to %d", o.Rounds, maxRounds)
	case o.Duration < 0 || o.Duration > maxDuration:
		return fmt.Errorf("measurements of %v: want at most %v", o.Duration, maxDuration)
	case o.Connections < 1 || o.Connections > maxConnections:
		return fmt.Errorf("%d connections: want 1 to %d", o.Connections, maxConnections)
	case !(o.Rate > 0 && o.Rate <= maxRate):
		return fmt.Errorf("%v requests per second: want more than 0, at most %d", o.Rate, maxRate)
	case o.Size < 1 || o.Size > maxSize:
		return fmt.Errorf("bodies of %d bytes: want 1 to %d", o.Size, maxSize)
	case o.Timeout < 0:
		return fmt.Errorf("a timeout of %v: want more than 0", o.Timeout)
	}
	for _, s := range o.Scenarios {
		if !slices.Contains(Scenarios, s) {
			return fmt.Errorf("unknown load %q: known are %s", s, strings.Join(Scenarios, ", "))
		}
	}
	for _, h := range o.Headers {
		if name, _, ok := strings.Cut(h, ":"); !ok || strings.TrimSpace(name) == "" {
			return fmt.Errorf("a header is no \"name: value\"") // which may be a credential
		}
	}
	return nil
}

// endpoint completes a base URL with the path of a format. It takes bases as
// agents do: with and without /v1, and with the whole path.
func (o Options) endpoint(base string) (*url.URL, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot read a URL: %w", withoutURL(err))
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("cannot use %q: want http://HOST:PORT", u.Redacted())
	case u.User != nil:
		return nil, fmt.Errorf("a URL has a credential in it: give it in an environment variable")
	case !o.Remote && !here(u.Hostname()):
		return nil, fmt.Errorf("%s is not on this machine, so its requests may cost money, and that is not allowed (-remote)", u.Host)
	}
	u.RawQuery, u.Fragment = "", ""
	path := formats[o.Format].path
	u.Path = strings.TrimSuffix(u.Path, "/")
	switch {
	case strings.HasSuffix(u.Path, path):
	case strings.HasSuffix(u.Path, "/v1"):
		u.Path += strings.TrimPrefix(path, "/v1")
	default:
		u.Path += path
	}
	return u, nil
}

// withoutURL is a parse error without the text that could not be parsed.
func withoutURL(err error) error {
	if e, ok := err.(*url.Error); ok {
		return e.Err
	}
	return err
}

func here(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
