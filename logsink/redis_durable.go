package logsink

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Values of Config.Durability, beside "replicas=N".
const (
	DurableMemory = "memory"
	DurableFsync  = "fsync"
)

// A durability says what a server must have done before a write counts.
type durability struct {
	fsync    bool
	replicas int
	// askAOF says that each write asks for the fsync (WAITAOF); else the server
	// does it before it answers (appendfsync always).
	askAOF bool
}

func parseDurability(s string) (d durability, err error) {
	switch {
	case s == DurableMemory:
		return d, nil
	case s == DurableFsync:
		d.fsync = true
		return d, nil
	case strings.HasPrefix(s, "replicas="):
		if d.replicas, err = strconv.Atoi(s[len("replicas="):]); err == nil && d.replicas > 0 {
			return d, nil
		}
	}
	return d, fmt.Errorf("log.durability is %q, must be %s, %s or replicas=N with N from 1", s, DurableMemory, DurableFsync)
}

func (d durability) waits() bool { return d.askAOF || d.replicas > 0 }

// waitMost bounds a wait for replicas or the disk, when the caller has no
// nearer deadline.
const waitMost = 2 * time.Second

// ask adds the question to a pipeline of steps, one of which uses a key. The
// function that it returns reads the answer.
//
// From 7.2 on the server waits for the connection's last write alone, and a step
// that meets what another has stored writes nothing: it would be told that all is
// safe while the other still waits. So there is a write behind each.
func (d durability) ask(ctx context.Context, p redis.Pipeliner, key string) func() error {
	p.Set(ctx, fenceBeside(key), 1, 0)
	wait := waitMost
	if at, ok := ctx.Deadline(); ok {
		wait = max(time.Millisecond, min(wait, time.Until(at)*9/10))
	}
	ms := wait.Milliseconds()
	if d.askAOF {
		cmd := p.Do(ctx, "WAITAOF", 1, 0, ms)
		return func() error {
			n, err := cmd.Int64Slice()
			if err == nil && (len(n) == 0 || n[0] < 1) {
				err = fmt.Errorf("the server did not sync to disk within %v (log.durability %s)", wait, DurableFsync)
			}
			return err
		}
	}
	cmd := p.Do(ctx, "WAIT", d.replicas, ms)
	return func() error {
		n, err := cmd.Int()
		if err == nil && n < d.replicas {
			err = fmt.Errorf("of the replicas %d have it after %v, want %d (log.durability replicas=%d; one that has just been attached may still be syncing)", n, wait, d.replicas, d.replicas)
		}
		return err
	}
}

// A server is what one master says of itself.
type server struct {
	addr                                   string
	version, role                          string
	replicas                               int
	appendonly, appendfsync, saves, evicts string
	secret                                 bool // it does not tell its configuration
}

// checkDurability looks at every master and refuses what contradicts the
// setting, unless log.unsafe.
func (s *Redis) checkDurability(ctx context.Context) error {
	var err error
	if s.durable, err = parseDurability(s.config.Durability); err != nil {
		return err
	}
	servers, err := call(ctx, s, s.servers)
	if err != nil {
		return err
	}
	s.durable.askAOF = s.durable.fsync
	for i := range servers {
		if !servers[i].hasWaitAOF() {
			s.durable.askAOF = false
		}
	}
	for i := range servers {
		if e := servers[i].lacks(s.durable); e != nil {
			err = errors.Join(err, e)
		}
	}
	s.guarantee, s.sure = describe(servers, s.durable, err), err == nil
	if s.config.Unsafe {
		if err != nil {
			s.durable = durability{} // to wait for what cannot be is to refuse it
		}
		return nil
	}
	return err
}

// lacks says what of a server contradicts a durability.
func (v *server) lacks(d durability) error {
	switch {
	case v.role != "master":
		return fmt.Errorf("%s is a %s and takes no writes; name the master, or use redis+sentinel:// or a cluster", v.addr, v.role)
	case !v.atLeast(6, 2):
		return fmt.Errorf("%s has version %s, 6.2 is needed", v.addr, v.version)
	case v.secret && (d.fsync || d.replicas > 0):
		return fmt.Errorf("%s does not tell its configuration (CONFIG GET), so nothing can be said of its durability; allow it, or set log.unsafe: true", v.addr)
	case v.evicts != "" && v.evicts != "noeviction":
		return fmt.Errorf("%s drops keys when it is full (maxmemory-policy %s); set it to noeviction, or log.unsafe: true", v.addr, v.evicts)
	case d.fsync && v.appendonly != "yes":
		return fmt.Errorf("%s has appendonly %s, and log.durability is %s; set appendonly yes (and appendfsync always before version 7.2), or log.durability: %s", v.addr, v.appendonly, DurableFsync, DurableMemory)
	case d.fsync && !d.askAOF && v.appendfsync != "always":
		return fmt.Errorf("%s (version %s, before 7.2) has appendfsync %s, and log.durability is %s; set appendfsync always, or log.durability: %s", v.addr, v.version, v.appendfsync, DurableFsync, DurableMemory)
	case d.replicas > v.replicas:
		return fmt.Errorf("%s has %d replicas attached, and log.durability is replicas=%d", v.addr, v.replicas, d.replicas)
	}
	return nil
}

func (v *server) hasWaitAOF() bool { return v.atLeast(7, 2) }

func (v *server) atLeast(major, minor int) bool {
	var a, b int
	fmt.Sscanf(v.version, "%d.%d", &a, &b) // what it cannot read is 0
	return a > major || a == major && b >= minor
}

// describe says in one line what is guaranteed.
func describe(servers []server, d durability, lack error) string {
	var b strings.Builder
	switch {
	case lack != nil:
		fmt.Fprintf(&b, "NOT GUARANTEED (log.unsafe): %s", strings.ReplaceAll(lack.Error(), "\n", "; "))
	case d.replicas > 0:
		fmt.Fprintf(&b, "what is stored is in the memory of the master and of %d replicas at least", d.replicas)
	case d.fsync:
		b.WriteString("what is stored is on the master's disk; a failover may lose what its replica had not yet")
	default:
		b.WriteString("what is stored is in the master's memory only; a crash of it may lose it")
	}
	for i := range servers {
		v := &servers[i]
		fmt.Fprintf(&b, "; %s: version %s, %s, %d replicas, appendonly %s, appendfsync %s, save %q, maxmemory-policy %s",
			v.addr, v.version, v.role, v.replicas, v.appendonly, v.appendfsync, v.saves, v.evicts)
	}
	return b.String()
}

// Sure reports whether the servers give what log.durability asks for; else
// log.unsafe overrode that.
func (s *Redis) Sure() bool { return s.sure }

// Guarantee says in one line what the servers guarantee of what was stored.
func (s *Redis) Guarantee() string {
	return "log.durability " + s.config.Durability + ": " + s.guarantee
}

func (s *Redis) servers(ctx context.Context) ([]server, error) {
	var list []server
	ch := make(chan server, 1024)
	err := s.eachMaster(ctx, func(ctx context.Context, c *redis.Client) error {
		v, err := lookAt(ctx, c)
		ch <- v
		return err
	})
	close(ch)
	for v := range ch {
		list = append(list, v)
	}
	return list, err
}

func lookAt(ctx context.Context, c *redis.Client) (server, error) {
	v := server{addr: c.Options().Addr}
	info, err := c.Info(ctx).Result()
	if err != nil {
		return v, err
	}
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "redis_version":
			v.version = value
		case "valkey_version":
			v.version = value // Valkey says an old redis_version for old clients
		case "role":
			v.role = value
		case "connected_slaves":
			v.replicas, _ = strconv.Atoi(value)
		}
	}
	for name, field := range map[string]*string{"appendonly": &v.appendonly, "appendfsync": &v.appendfsync, "save": &v.saves, "maxmemory-policy": &v.evicts} {
		got, err := c.ConfigGet(ctx, name).Result()
		if err != nil {
			v.secret = true // not allowed: managed services do not
			break
		}
		*field = got[name]
	}
	return v, nil
}
