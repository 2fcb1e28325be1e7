package configs

import (
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
)

// TestRedisIsALog starts the real server with the file and reads back what makes
// it a log and not a cache.
func TestRedisIsALog(t *testing.T) {
	operator := startRedis(t, threeUsers()).as(t, "operator")
	want := map[string]string{
		"appendonly": "yes", "appendfsync": "always", "no-appendfsync-on-rewrite": "no", "aof-load-truncated": "no",
		"maxmemory-policy": "noeviction", "stream-node-max-bytes": "1024", "maxmemory": "2147483648", "save": "",
		"min-replicas-to-write": "1", "min-replicas-max-lag": "10", "replica-read-only": "yes",
		"protected-mode": "yes", "timeout": "0",
	}
	got := map[string]string{}
	for key := range want {
		values, err := operator.ConfigGet(t.Context(), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		got[key] = values[key]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the server runs with other settings (-want +got):\n%s", diff)
	}
	t.Logf("checked %d settings by CONFIG GET of %s", len(want), version(t, operator))
}

func version(t *testing.T, c *redis.Client) string {
	t.Helper()
	info, err := c.Info(t.Context(), "server").Result()
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(info, "redis_version:")
	v, _, _ := strings.Cut(after, "\r\n")
	return "redis-server " + v
}

// TestRedisIsLockedAsItComes: until the hashes are replaced nobody can sign in,
// and the file holds no hash of anything.
func TestRedisIsLockedAsItComes(t *testing.T) {
	s := startRedis(t, nil)
	if err := s.as(t, "").Ping(t.Context()).Err(); err == nil || !strings.HasPrefix(err.Error(), "NOAUTH") {
		t.Errorf("PING without a user = %v, want NOAUTH", err)
	}
	users := 0
	for line := range strings.Lines(read(t, redisFile)) {
		if words := strings.Fields(line); len(words) > 3 && words[0] == "user" {
			users++
			if words[3] != "#"+noHash || strings.Contains(line, "nopass") || strings.Contains(line, ">") {
				t.Errorf("user %s has a password", words[1])
			}
		}
		if strings.HasPrefix(line, "masterauth") || strings.HasPrefix(line, "requirepass") {
			t.Errorf("a password is in the file: %s", line)
		}
	}
	if users != 3 {
		t.Errorf("found %d users, want 3: the search is broken", users)
	}
}

// TestRedisWritesOnlyWithAReplica: alone, a master refuses; with the replica that
// the file describes, it takes a write and the replica confirms it.
func TestRedisWritesOnlyWithAReplica(t *testing.T) {
	users := threeUsers()
	master := startRedis(t, users, "--repl-diskless-sync-delay", "0") // else it waits 5 s for more replicas
	preface := master.as(t, "preface")
	if err := preface.Set(t.Context(), "preface:a", "1", 0).Err(); err == nil || !strings.HasPrefix(err.Error(), "NOREPLICAS") {
		t.Fatalf("SET at a master without replicas = %v, want NOREPLICAS", err)
	}
	host, port, _ := net.SplitHostPort(master.addr)
	replica := startRedis(t, users, "--replicaof", host, port, "--masterauth", users["replica"])

	conn := preface.Conn() // WAIT is about the writes of its connection
	defer conn.Close()
	if err := conn.Do(t.Context(), "WAIT", 1, 10_000).Err(); err != nil { // the replica is there
		t.Fatal(err)
	}
	if err := conn.Set(t.Context(), "preface:a", "1", 0).Err(); err != nil {
		t.Fatalf("SET at a master with a replica: %v", err)
	}
	if n, err := conn.Do(t.Context(), "WAIT", 1, 10_000).Int(); n != 1 || err != nil {
		t.Fatalf("WAIT = %d, %v, want 1", n, err)
	}
	if got, err := replica.as(t, "preface").Get(t.Context(), "preface:a").Result(); got != "1" || err != nil {
		t.Errorf("GET at the replica = %q, %v", got, err)
	}
}

// TestRedisUserMayWhatTheLogNeeds asks the server who may run what.
func TestRedisUserMayWhatTheLogNeeds(t *testing.T) {
	operator := startRedis(t, threeUsers()).as(t, "operator")
	may := func(user, command string) bool {
		t.Helper()
		args := []any{"ACL", "DRYRUN", user}
		for _, w := range strings.Fields(command) {
			args = append(args, w)
		}
		answer, err := operator.Do(t.Context(), args...).Text()
		if err != nil {
			t.Fatalf("ACL DRYRUN %s %s: %v", user, command, err)
		}
		return answer == "OK"
	}
	for _, c := range commands(`SET preface:{t}:a v NX GET|MGET preface:a preface:b|INCRBY preface:n 2|APPEND preface:a v
		HSET preface:h f v|HGETALL preface:h|HSETNX preface:h f v|HSCAN preface:h 0
		XADD preface:x 1-1 f v|XRANGE preface:x - +|XTRIM preface:x MAXLEN 9|XREVRANGE preface:x + -|XREAD COUNT 1 STREAMS preface:x 0|XINFO STREAM preface:x
		ZADD preface:z 1 m|ZRANGE preface:z 0 -1|ZREM preface:z m|ZRANGEBYSCORE preface:z 0 1|ZSCAN preface:z 0
		DEL preface:a|UNLINK preface:a|EXISTS preface:a|RENAME preface:a preface:b|PEXPIRE preface:a 1|PTTL preface:a
		EVAL return 1 preface:a|EVALSHA abc 1 preface:a|SCRIPT LOAD x|SCRIPT EXISTS abc|MULTI|EXEC
		WAIT 1 1|TIME|INFO|ROLE|CONFIG GET maxmemory|PING|HELLO 3|CLIENT SETNAME x|SELECT 0|READONLY|ASKING|COMMAND
		CLUSTER SHARDS|CLUSTER SLOTS|CLUSTER NODES`) {
		if !may("preface", c) {
			t.Errorf("user preface may not %s", c)
		}
	}
	for _, c := range commands(`GET other|RENAME preface:a other|SET other v|MGET preface:a other|EVALSHA abc 1 other|XADD other * f v|HSET prefaceX f v
		KEYS *|SCAN 0|FLUSHALL|FLUSHDB|CONFIG SET maxmemory 1|CONFIG REWRITE|DEBUG SLEEP 0|SHUTDOWN|SCRIPT FLUSH
		CLIENT KILL ID 1|CLIENT PAUSE 1|ACL LIST|REPLICAOF NO ONE|MONITOR|SAVE|BGREWRITEAOF|PUBLISH other v|FUNCTION FLUSH|CLUSTER RESET`) {
		if may("preface", c) {
			t.Errorf("user preface may %s", c)
		}
	}
	if !may("replica", "PSYNC x 1") || may("replica", "GET preface:a") {
		t.Error("user replica may not PSYNC, or may GET")
	}
	newer(t, operator, may)
}

// commands are written one after the other, with a bar or a line's end between.
func commands(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '|' || r == '\n' })
}

// newer asks for what servers before 7.2 don't have.
func newer(t *testing.T, c *redis.Client, may func(user, command string) bool) {
	t.Helper()
	known, err := c.Command(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := known["waitaof"]; !ok {
		t.Logf("%s has no WAITAOF: whether the user may was not asked", version(t, c))
		return
	}
	for _, command := range []string{"WAITAOF 1 0 1", "CLIENT SETINFO LIB-NAME x"} {
		if !may("preface", command) {
			t.Errorf("user preface may not %s", command)
		}
	}
}
