package proxy

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/identity"
	"github.com/seed-9236c7ca/preface/proxy/telemetry"
)

// Config configures a Server. Zero values mean the default.
type Config struct {
	// Routes say which paths go where. Default: DefaultRoutes.
	Routes   []RouteConfig   `yaml:"routes"`
	Identity identity.Config `yaml:"identity"`
	Limits   Limits          `yaml:"limits"`
	Timeouts Timeouts        `yaml:"timeouts"`
	Usage    UsageConfig     `yaml:"usage"`
	Burst    BurstConfig     `yaml:"burst"`
	// Telemetry is about OpenTelemetry. The server heeds Propagate and Restart; the
	// rest is the Pipeline's.
	Telemetry telemetry.Config `yaml:"telemetry"`
}

// A RouteConfig sends what matches it to one provider.
type RouteConfig struct {
	// Name is the route's name in records, metrics and messages. Default: its
	// dialect.
	Name string `yaml:"name"`
	// Path is a path prefix that selects the route and is taken off before the
	// request goes on, e.g. "/anthropic". Default "/".
	Path string `yaml:"path"`
	// Dialect is a dialect, or a family of them: anthropic, openai (both of its
	// dialects), openai-chat, openai-responses. Required.
	Dialect string `yaml:"dialect"`
	// Upstream is the provider's base URL, without /v1, e.g.
	// https://api.anthropic.com; http and path prefixes are allowed. Required.
	Upstream string `yaml:"upstream"`
	// Policy says what becomes of a request that should carry the prefix and
	// cannot: best_effort (default: it goes without) or enforced (it is refused).
	Policy string `yaml:"policy"`
	// Capture is how much is stored: header (default: system, tools and
	// parameters) or prefix (their digests only).
	Capture string `yaml:"capture"`
	// Contributors names those that compose this route's prefixes, in order.
	// Default: all, in the order they are configured.
	Contributors []string `yaml:"contributors"`
	// Side is what becomes of side requests (titles, routing, probes): bare
	// (default) or inject.
	Side string `yaml:"side"`
	// Subscription is what becomes of callers that sign in with a subscription
	// instead of an API key: bare (default) or inject. Providers are reported
	// to check the shape of such traffic.
	Subscription string `yaml:"subscription"`
}

// Values of RouteConfig.
const (
	BestEffort    = "best_effort"
	Enforced      = "enforced"
	CapturePrefix = "prefix"
	CaptureHeader = "header"
	PassBare      = "bare"
	PassInject    = "inject"
)

// Limits bound what one process takes on.
type Limits struct {
	Body     int `yaml:"body"`      // bytes of a request body, also when decompressed. Default 64 MiB
	Header   int `yaml:"header"`    // bytes of a request's head. Default 16 KiB
	Conns    int `yaml:"conns"`     // client connections. Default 65536
	InFlight int `yaml:"in_flight"` // model calls at once. Default 8192
	Upstream int `yaml:"upstream"`  // connections to one provider. Default 16384
	// KeptBodies is how many bytes of bodies are kept to spare work on what the
	// next request of a thread repeats, less 160 KiB for each request under way.
	// Default 48 MiB; -1 keeps none.
	KeptBodies int `yaml:"kept_bodies"`
}

// Timeouts are all idle times or waits; none bounds a healthy stream.
type Timeouts struct {
	Connect      time.Duration `yaml:"connect"`       // to the provider, TLS included. Default 5s
	Receive      time.Duration `yaml:"receive"`       // a request, head and body. Default 75s
	KeepAlive    time.Duration `yaml:"keep_alive"`    // an idle client connection. Default 75s
	UpstreamKeep time.Duration `yaml:"upstream_keep"` // an idle provider connection; less than the provider keeps it. Default 50s
	FirstByte    time.Duration `yaml:"first_byte"`    // of the answer; models think for minutes. Default 10m
	StreamIdle   time.Duration `yaml:"stream_idle"`   // between bytes of the answer, or of the request being read. Default 5m
	ClientWrite  time.Duration `yaml:"client_write"`  // a client that does not read. Default 60s
	Drain        time.Duration `yaml:"drain"`         // running answers at shutdown. Default 10m
	// DrainIdle is how long a client connection on which nothing runs may still
	// bring a request at shutdown; its answer says that it was the last there. A
	// client whose request meets a connection that is being closed cannot tell
	// that nobody read it; one that lets go of idle connections sooner than this
	// never does. Default 1s.
	DrainIdle time.Duration `yaml:"drain_idle"`
}

// UsageConfig governs how usage is learnt.
type UsageConfig struct {
	// Request asks providers for usage where a stream would not report it, and
	// keeps the extra chunk from the client: auto (default) or never.
	Request string `yaml:"request"`
	// Account prices answers and says why their cache reads fell short, off the
	// requests' way: on (default) or off, which leaves cost and cause out of the
	// records.
	Account string `yaml:"account"`
	// Verdict asks providers why their caches read less than they could have, beside
	// what Preface finds itself: off (default) or ask.
	Verdict string `yaml:"verdict"`
	// VerdictHosts are the hosts that are asked, each with its port if its URL has
	// one. Others refuse what they do not know. Default: api.anthropic.com and
	// api.openai.com.
	VerdictHosts []string `yaml:"verdict_hosts"`
}

// Values of UsageConfig.
const (
	On         = "on"
	Off        = "off"
	VerdictAsk = "ask"
)

// BurstConfig governs requests that come at once with the same prefix.
type BurstConfig struct {
	// Hold is how long a request with a prefix may wait, while the provider's
	// cache has nothing of the prefix, for the first byte of the answer to one
	// that came before it: together each would pay for writing it. Default 0s:
	// none waits.
	Hold time.Duration `yaml:"hold"`
}

// SetDefaults fills in what is zero.
func (c *Config) SetDefaults() {
	if len(c.Routes) == 0 {
		c.Routes = DefaultRoutes()
	}
	for i := range c.Routes {
		c.Routes[i].setDefaults()
	}
	c.Telemetry.SetDefaults()
	set(&c.Limits.Body, 64<<20)
	set(&c.Limits.Header, 16<<10)
	set(&c.Limits.Conns, 65536)
	set(&c.Limits.InFlight, 8192)
	set(&c.Limits.Upstream, 16384)
	set(&c.Limits.KeptBodies, 48<<20)
	set(&c.Timeouts.Connect, 5*time.Second)
	set(&c.Timeouts.Receive, 75*time.Second)
	set(&c.Timeouts.KeepAlive, 75*time.Second)
	set(&c.Timeouts.UpstreamKeep, 50*time.Second)
	set(&c.Timeouts.FirstByte, 10*time.Minute)
	set(&c.Timeouts.StreamIdle, 5*time.Minute)
	set(&c.Timeouts.ClientWrite, time.Minute)
	set(&c.Timeouts.Drain, 10*time.Minute)
	set(&c.Timeouts.DrainIdle, time.Second)
	set(&c.Usage.Request, "auto")
	set(&c.Usage.Account, On)
	set(&c.Usage.Verdict, Off)
	if c.Usage.VerdictHosts == nil {
		c.Usage.VerdictHosts = []string{"api.anthropic.com", "api.openai.com"}
	}
}

func (r *RouteConfig) setDefaults() {
	set(&r.Name, r.Dialect)
	set(&r.Path, "/")
	set(&r.Policy, BestEffort)
	set(&r.Capture, CaptureHeader)
	set(&r.Side, PassBare)
	set(&r.Subscription, PassBare)
}

func set[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// DefaultRoutes are the providers that are known without a configuration, each
// by its paths and under a prefix of its own.
func DefaultRoutes() []RouteConfig {
	return []RouteConfig{
		{Name: "anthropic", Dialect: "anthropic", Upstream: "https://api.anthropic.com"},
		{Name: "openai", Dialect: "openai", Upstream: "https://api.openai.com"},
		{Name: "anthropic-prefix", Path: "/anthropic", Dialect: "anthropic", Upstream: "https://api.anthropic.com"},
		{Name: "openai-prefix", Path: "/openai", Dialect: "openai", Upstream: "https://api.openai.com"},
	}
}

// Validate says what is wrong with the configuration; it has defaults set.
func (c *Config) Validate() error {
	names := map[string]bool{}
	for i := range c.Routes {
		r := &c.Routes[i]
		if names[r.Name] {
			return fmt.Errorf("routes[%d]: name %q is used twice; give each route its own", i, r.Name)
		}
		names[r.Name] = true
		if err := r.validate(); err != nil {
			return fmt.Errorf("route %q: %w", r.Name, err)
		}
	}
	if err := oneOf("usage.request", c.Usage.Request, "auto", "never"); err != nil {
		return err
	}
	if err := oneOf("usage.account", c.Usage.Account, On, Off); err != nil {
		return err
	}
	if err := oneOf("usage.verdict", c.Usage.Verdict, Off, VerdictAsk); err != nil {
		return err
	}
	if err := c.Telemetry.Validate(); err != nil {
		return err
	}
	return c.positive()
}

func (c *Config) positive() error {
	l, t := &c.Limits, &c.Timeouts
	for _, x := range []struct {
		key string
		n   int
	}{
		{"limits.body", l.Body}, {"limits.header", l.Header}, {"limits.conns", l.Conns}, {"limits.in_flight", l.InFlight}, {"limits.upstream", l.Upstream},
	} {
		if x.n < 0 {
			return fmt.Errorf("%s is %d, which is negative; leave it out for the default", x.key, x.n)
		}
	}
	for _, x := range []struct {
		key string
		d   time.Duration
	}{
		{"timeouts.connect", t.Connect}, {"timeouts.receive", t.Receive}, {"timeouts.keep_alive", t.KeepAlive},
		{"timeouts.upstream_keep", t.UpstreamKeep}, {"timeouts.first_byte", t.FirstByte}, {"timeouts.stream_idle", t.StreamIdle},
		{"timeouts.client_write", t.ClientWrite}, {"timeouts.drain", t.Drain}, {"timeouts.drain_idle", t.DrainIdle}, {"burst.hold", c.Burst.Hold},
	} {
		if x.d < 0 {
			return fmt.Errorf("%s is %v, which is negative; leave it out for the default", x.key, x.d)
		}
	}
	return nil
}

func (r *RouteConfig) validate() error {
	if len(r.dialects()) == 0 {
		return fmt.Errorf("unknown dialect %q: want openai or one of %v", r.Dialect, dialect.Names())
	}
	if !strings.HasPrefix(r.Path, "/") {
		return fmt.Errorf("path %q does not begin with a slash", r.Path)
	}
	if _, err := parseUpstream(r.Upstream); err != nil {
		return err
	}
	for _, f := range []struct {
		key, value string
		want       []string
	}{
		{"policy", r.Policy, []string{BestEffort, Enforced}},
		{"capture", r.Capture, []string{CaptureHeader, CapturePrefix}},
		{"side", r.Side, []string{PassBare, PassInject}},
		{"subscription", r.Subscription, []string{PassBare, PassInject}},
	} {
		if err := oneOf(f.key, f.value, f.want...); err != nil {
			return err
		}
	}
	return nil
}

func oneOf(key, value string, want ...string) error {
	if !slices.Contains(want, value) {
		return fmt.Errorf("%s is %q: want %s", key, value, strings.Join(want, " or "))
	}
	return nil
}

// dialects are those that the route's dialect or family names.
func (r *RouteConfig) dialects() []dialect.Dialect {
	var list []dialect.Dialect
	for _, name := range dialect.Names() {
		if name == r.Dialect || dialect.Family(name) == r.Dialect {
			d, _ := dialect.Get(name) // a listed name is there
			list = append(list, d)
		}
	}
	return list
}

func parseUpstream(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot read upstream %q as a URL", s) // the error would quote a password
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("upstream %q: want http://host or https://host, with or without a path", s)
	case u.User != nil:
		return nil, fmt.Errorf("upstream host %q has a user name; credentials come from the client", u.Host)
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("upstream %q has a query or fragment", s)
	}
	return u, nil
}
