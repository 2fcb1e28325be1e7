package logsink

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRedisURL(t *testing.T) {
	type target struct {
		Addrs   []string
		DB      int
		Master  string
		Cluster bool
		TLS     bool
	}
	f := func(url string, want target) {
		t.Helper()
		o, err := redisOptions(url, Config{})
		if err != nil {
			t.Errorf("redisOptions(%q): %v", url, err)
			return
		}
		got := target{o.Addrs, o.DB, o.MasterName, o.IsClusterMode, o.TLSConfig != nil}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("redisOptions(%q) (-want +got):\n%s", url, d)
		}
	}
	one := func(addr string) target { return target{Addrs: []string{addr}} }
	f("redis://localhost", one("localhost:6379"))
	f("redis://10.0.0.1:7000", one("10.0.0.1:7000"))
	f("redis://10.0.0.1:7000/", one("10.0.0.1:7000"))
	f("redis://[::1]:7000", one("[::1]:7000"))
	f("redis://[::1]", one("[::1]:6379"))
	f("redis://h/3", target{Addrs: []string{"h:6379"}, DB: 3})
	f("rediss://h:7000/3", target{Addrs: []string{"h:7000"}, DB: 3, TLS: true})
	f("redis://a,b:7001,c", target{Addrs: []string{"a:6379", "b:7001", "c:6379"}, Cluster: true})
	f("rediss://a,b", target{Addrs: []string{"a:6379", "b:6379"}, Cluster: true, TLS: true})
	f("redis://a?cluster=true", target{Addrs: []string{"a:6379"}, Cluster: true})
	f("redis://a/?cluster=true", target{Addrs: []string{"a:6379"}, Cluster: true})
	f("redis://a/2?cluster=false", target{Addrs: []string{"a:6379"}, DB: 2})
	f("redis+sentinel://a,b:7000/mine", target{Addrs: []string{"a:26379", "b:7000"}, Master: "mine"})
	f("redis+sentinel://a/mine/2", target{Addrs: []string{"a:26379"}, Master: "mine", DB: 2})
	f("rediss+sentinel://a/mine", target{Addrs: []string{"a:26379"}, Master: "mine", TLS: true})
}

// canary is a password that must not be seen (I12).
const canary = "canary-pa55word"

func TestRedisURLRefused(t *testing.T) {
	f := func(url string, c RedisConfig, want string) {
		t.Helper()
		_, err := redisOptions(url, Config{Redis: c})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("redisOptions(%q) = %v, want an error with %q", url, err, want)
		}
		if err != nil && strings.Contains(err.Error(), canary) {
			t.Errorf("I12: redisOptions(%q) = %v", url, err)
		}
	}
	none := RedisConfig{}
	f("redis:h", none, `has no // after its scheme, as in redis://127.0.0.1:6379`)
	f("redis://h/x", none, `the database "x", which is no number`)
	f("redis://h/-1", none, `the database "-1", which is no number`)
	f("redis://h/1/2", none, `the database "1/2", which is no number`)
	f("redis://a,b/1", none, "names database 1; a cluster has only 0")
	f("redis://a/1?cluster=true", none, "names database 1; a cluster has only 0")
	f("redis+sentinel://a", none, "does not name the master, as in redis+sentinel://127.0.0.1:26379/preface")
	f("redis+sentinel://a//1", none, "does not name the master")
	f("redis+sentinel://a/mine/x", none, `the database "x", which is no number`)
	f("redis+sentinel://a/mine?cluster=true", none, "cluster=true is for redis://")
	f("redis://a,,b", none, "an empty host")
	f("redis://a,", none, "an empty host")
	f("redis://", none, "no host, as in redis://127.0.0.1:6379")
	f("redis://:7000", none, "no host, as in redis://127.0.0.1:6379")
	f("redis://a:x", none, `the port "x"`)
	f("redis://a:", none, `the port ""`)
	f("redis://a:70000", none, `the port "70000"`)
	f("redis://a:1:2", none, `the host "a:1:2"`)
	f("redis://a?clutser=true", none, `the parameter "clutser"`)
	f("redis://a?cluster=yes", none, `cluster is "yes", must be true or false`)
	f("redis://a?%zz", none, "cannot be read")
	for _, url := range []string{
		"redis://user:" + canary + "@h", "redis://:" + canary + "@h/1", "rediss://user:" + canary + "@a,b", "redis+sentinel://u:" + canary + "@a",
		"redis:u:" + canary + "@a", "redis://u:/" + canary + "@a/x", "redis://u:" + canary + "?@a/x", "redis://a/x?password=" + canary + "@",
	} {
		f(url, none, "a user or password stands in the URL; put them into log.redis.username and log.redis.password")
	}
	f("redis://a?password="+canary, none, `the parameter "password"`)
	f("redis://a", RedisConfig{CA: "ca.pem"}, "are for rediss://")
	f("redis+sentinel://a/m", RedisConfig{Cert: "c.pem", Key: "k.pem"}, "are for rediss://")
	f("rediss://a", RedisConfig{CA: t.TempDir() + "/none"}, "log.redis.ca: open")
	f("rediss://a", RedisConfig{CA: "redis_url.go"}, "redis_url.go holds no PEM certificate")
	f("rediss://a", RedisConfig{Cert: t.TempDir() + "/none"}, "log.redis.cert and log.redis.key: open")
}
