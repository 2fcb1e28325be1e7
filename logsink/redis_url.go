package logsink

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// RedisConfig is what connections to Redis need beside the URL. Secrets do not
// belong into the URL, which is printed; in a configuration file they are
// written as ${NAME} or ${file:PATH}.
type RedisConfig struct {
	Username         string `yaml:"username"`
	Password         string `yaml:"password"`
	SentinelUsername string `yaml:"sentinel_username"`
	SentinelPassword string `yaml:"sentinel_password"`
	// CA is a file of PEM certificates that servers are checked against, in
	// place of the system's. Cert and Key are files of a client certificate.
	// They are for rediss:// and rediss+sentinel://.
	CA   string `yaml:"ca"`
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
	// ServerName is the name that servers' certificates must have, if it is not
	// the host of the URL.
	ServerName string `yaml:"server_name"`
}

// Timeouts of one connection. The caller's deadline, log.timeout, is shorter as
// a rule.
const (
	redisDial = 2 * time.Second
	redisIO   = 3 * time.Second
)

// redisOptions reads a URL:
//
//	redis://HOST[:PORT][/DB]                    one server
//	redis://HOST[:PORT],HOST[:PORT][,…]         a cluster; also with ?cluster=true
//	redis+sentinel://HOST[:PORT][,…]/NAME[/DB]  a master that Sentinels know by name
//
// and rediss://, rediss+sentinel:// over TLS.
func redisOptions(rawURL string, c Config) (*redis.UniversalOptions, error) {
	o, err := parseRedisURL(rawURL)
	if err == nil {
		err = o.secure(rawURL, c.Redis)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot use log.path: %w", err)
	}
	r := c.Redis
	o.Username, o.Password, o.SentinelUsername, o.SentinelPassword = r.Username, r.Password, r.SentinelUsername, r.SentinelPassword
	o.ContextTimeoutEnabled = true
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = redisDial, redisIO, redisIO, redisIO
	// All steps may be repeated, and after a restart of the server each pooled
	// connection fails once.
	o.MaxRetries, o.MinRetryBackoff, o.MaxRetryBackoff = 2, 5*time.Millisecond, 100*time.Millisecond
	o.DialerRetries = 1
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return &o.UniversalOptions, nil
}

// A redisTarget is what a URL names.
type redisTarget struct{ redis.UniversalOptions }

func parseRedisURL(rawURL string) (*redisTarget, error) {
	if strings.Contains(rawURL, "@") { // before anything else, so that no error shows it
		return nil, errors.New("a user or password stands in the URL; put them into log.redis.username and log.redis.password, for example as ${file:PATH}")
	}
	shown, query, _ := strings.Cut(rawURL, "?")
	scheme, rest, ok := strings.Cut(shown, "://")
	if !ok {
		return nil, fmt.Errorf("%q has no // after its scheme, as in redis://127.0.0.1:6379", shown)
	}
	cluster, err := clusterParameter(query)
	if err != nil {
		return nil, fmt.Errorf("%q has %w", shown, err)
	}
	hosts, path, _ := strings.Cut(rest, "/")
	path = strings.TrimSuffix(path, "/")
	o := new(redisTarget)
	port := "6379"
	sentinel := strings.HasSuffix(scheme, "+sentinel")
	if sentinel {
		port = "26379"
		o.MasterName, path, _ = strings.Cut(path, "/")
		if o.MasterName == "" {
			return nil, fmt.Errorf("%q does not name the master, as in redis+sentinel://127.0.0.1:26379/preface", shown)
		}
	}
	if o.Addrs, err = addresses(hosts, port); err != nil {
		return nil, fmt.Errorf("%q has %w", shown, err)
	}
	if path != "" {
		if o.DB, err = strconv.Atoi(path); err != nil || o.DB < 0 {
			return nil, fmt.Errorf("%q has the database %q, which is no number", shown, path)
		}
	}
	o.IsClusterMode = cluster || !sentinel && len(o.Addrs) > 1
	switch {
	case cluster && sentinel:
		return nil, fmt.Errorf("%q names a master, and cluster=true is for redis://", shown)
	case o.IsClusterMode && o.DB != 0:
		return nil, fmt.Errorf("%q names database %d; a cluster has only 0", shown, o.DB)
	}
	return o, nil
}

// clusterParameter reads what follows the question mark: cluster is all there
// is. Values of others are not shown, since they may be secrets.
func clusterParameter(query string) (cluster bool, err error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return false, errors.New("parameters that cannot be read")
	}
	for name := range values {
		if name != "cluster" {
			return false, fmt.Errorf("the parameter %q; only cluster=true is known", name)
		}
	}
	switch v := values.Get("cluster"); v {
	case "true":
		return true, nil
	case "", "false":
		return false, nil
	default:
		return false, fmt.Errorf("parameters of which cluster is %q, must be true or false", v)
	}
}

// addresses reads a list of HOST[:PORT]. A host that is left out is this one,
// if there is no other.
func addresses(hosts, port string) (addrs []string, err error) {
	list := strings.Split(hosts, ",")
	for _, h := range list {
		if h == "" && len(list) > 1 {
			return nil, errors.New("an empty host among others")
		}
		if h == "" || strings.HasPrefix(h, ":") { // as a variable that is not set leaves it
			return nil, errors.New("no host, as in redis://127.0.0.1:6379")
		}
		addr, err := withPort(h, port)
		if err != nil {
			return nil, err
		}
		addrs = append(addrs, addr)
	}
	return addrs, nil
}

func withPort(host, port string) (string, error) {
	bare := strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if !strings.Contains(host, ":") || net.ParseIP(bare) != nil {
		return net.JoinHostPort(bare, port), nil
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		return "", fmt.Errorf("the host %q, which is not HOST or HOST:PORT", host)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "", fmt.Errorf("the port %q, which is no number from 1 to 65535", port)
	}
	return net.JoinHostPort(name, port), nil
}

// secure adds TLS if the scheme asks for it.
func (o *redisTarget) secure(rawURL string, r RedisConfig) error {
	if !strings.HasPrefix(rawURL, "rediss") {
		if r.CA != "" || r.Cert != "" || r.Key != "" {
			return errors.New("log.redis.ca, cert and key are for rediss://, and this is redis://")
		}
		return nil
	}
	o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: r.ServerName}
	if r.CA != "" {
		pem, err := os.ReadFile(r.CA)
		if err != nil {
			return fmt.Errorf("log.redis.ca: %w", err)
		}
		o.TLSConfig.RootCAs = x509.NewCertPool()
		if !o.TLSConfig.RootCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("log.redis.ca: %s holds no PEM certificate", r.CA)
		}
	}
	if r.Cert == "" && r.Key == "" {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(r.Cert, r.Key)
	if err != nil {
		return fmt.Errorf("log.redis.cert and log.redis.key: %w", err)
	}
	o.TLSConfig.Certificates = []tls.Certificate{pair}
	return nil
}
