package configs

import (
	"net"
	"testing"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/logsink/logtest"
)

// TestRedisServesTheLog opens the header log at a master and a replica that are set
// up by the file, as the user that it has for Preface, and does what the program
// does: the settings give what log.durability asks for, and the user may do it all.
func TestRedisServesTheLog(t *testing.T) {
	users := threeUsers()
	master := startRedis(t, users, "--repl-diskless-sync-delay", "0")
	host, port, _ := net.SplitHostPort(master.addr)
	startRedis(t, users, "--replicaof", host, port, "--masterauth", users["replica"])
	operator := master.as(t, "operator")
	if err := operator.Do(t.Context(), "WAIT", 1, 10_000).Err(); err != nil { // the replica is there
		t.Fatal(err)
	}
	for _, durability := range []string{logsink.DurableMemory, logsink.DurableFsync, "replicas=1"} {
		t.Run(durability, func(t *testing.T) {
			live(t, "session with "+durability, logsink.Config{
				Path: "redis://" + master.addr, Durability: durability,
				Redis: logsink.RedisConfig{Username: "preface", Password: users["preface"]},
			})
		})
	}
	denied, err := operator.ACLLog(t.Context(), 100).Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range denied { // also where the program made do without
		t.Errorf("the server denied %s: %s (%s)", d.Username, d.Object, d.Context)
	}
}

// live is a session's life, from its anchor to what an operator reads of it.
func live(t *testing.T, name string, c logsink.Config) {
	t.Helper()
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	ctx := t.Context()
	l, err := logsink.Open(ctx, c)
	must("Open", err)
	defer l.Close()
	_, err = l.Secret(ctx, "tenants")
	must("Secret", err)

	k := logsink.Key{Tenant: "t", Session: name}
	_, err = l.Freeze(ctx, logtest.Anchor(k, 1, "Never touch the billing tables."))
	must("Freeze", err)
	header, blob := logtest.Header(k, "main", "h", "You are an agent.")
	request := logtest.Request(k, "main", "r", "h", 1)
	request.Request.Derived = true
	must("Append", l.Append(ctx, []logsink.Record{header, request, logtest.Response(k, "main", "r")}, []logsink.Blob{blob}))
	_, err = l.Current(ctx, k)
	must("Current", err)
	_, _, err = l.Last(ctx, k, "main")
	must("Last", err)
	_, _, err = l.Find(ctx, k.Tenant, []string{request.Request.Lineage})
	must("Find", err)
	must("EndEpoch", l.EndEpoch(ctx, k, 1))
	_, _, err = l.Ended(ctx, 0)
	must("Ended", err)

	r, err := logsink.OpenReader(ctx, c)
	must("OpenReader", err)
	defer r.Close()
	must("Sessions", r.Sessions(ctx, "", "", func(logsink.SessionInfo) bool { return true }))
	_, err = r.Anchors(ctx, k)
	must("Anchors", err)
	must("Records", r.Records(ctx, k, 0, func(int64, logsink.Record) bool { return true }))
	must("Records of all", r.Records(ctx, logsink.Key{}, 0, func(int64, logsink.Record) bool { return true }))
	_, err = r.ReadBlob(ctx, blob.Digest)
	must("ReadBlob", err)
	dropped, err := l.Retain(ctx, logsink.Retention{MaxAge: 1, Live: 1})
	must("Retain", err)
	if dropped.Sessions == 0 {
		t.Errorf("Retain dropped %+v, want the session", dropped)
	}
}
