package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
)

// TestI6_Tenants: one id, two keys: two sessions, and nothing of one reaches
// the other.
func TestI6_Tenants(t *testing.T) {
	var n atomic.Int64
	svc := newService(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"messages":[{"role":"user","text":"canary-%d"}]}`, n.Add(1))
	})
	b := newBench(t, contributors(contrib.Config{Kind: "http", Name: "canary", URL: svc, Deadline: patience}))
	for i, key := range []string{"sk-a", "sk-b", "sk-a", "sk-b"} {
		b.post("/v1/messages", anthropicTurn, "x-claude-code-session-id", "same", "x-api-key", key)
		got := b.last().Body
		mine, other := fmt.Sprintf("canary-%d", i%2+1), fmt.Sprintf("canary-%d", 2-i%2)
		if !bytes.Contains(got, []byte(mine)) || bytes.Contains(got, []byte(other)) {
			t.Errorf("request %d with %s carries %s", i, key, got)
		}
	}
	b.verify()
}

// TestI12_NoSecret: every error path with a canary for a key; it is in nothing
// that Preface writes or answers.
func TestI12_NoSecret(t *testing.T) {
	const canary = "sk-CANARY-0123456789"
	b := newBench(t)
	var answers bytes.Buffer
	for _, fault := range []string{"", "reset", "status=401", "cut=rst@10", "error@1", "delay=1ms"} {
		for _, body := range []string{anthropicTurn, "{", `{"messages":7}`} {
			r := b.try("/v1/messages", body, "x-provider-fault", fault, "x-api-key", canary, "authorization", "Bearer "+canary, "cookie", canary)
			if r.Response != nil && r.StatusCode/100 != 2 && fault != "status=401" {
				answers.Write(r.body)
			}
		}
	}
	for _, bad := range []string{"POST /v1/messages HTTP/1.1\r\nx-api-key " + canary + "\r\n\r\n", "BAD " + canary + "\r\n\r\n"} {
		c := b.raw(bad)
		_ = c.CloseWrite()
		_, _ = io.Copy(&answers, c)
	}
	b.stop()
	files, err := filepath.Glob(b.path + "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no log files: %v", err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte("CANARY")) {
			t.Errorf("the credential is in %s", filepath.Base(f))
		}
	}
	if strings.Contains(b.out.String(), "CANARY") || bytes.Contains(answers.Bytes(), []byte("CANARY")) {
		t.Errorf("the credential was logged or answered:\n%s\n%s", b.out, answers.Bytes())
	}
}

// TestI6_TenantIsTheCredentialThatCounts: a header that means nothing to the
// provider makes two callers neither one, nor a subscriber an API key's owner.
func TestI6_TenantIsTheCredentialThatCounts(t *testing.T) {
	b := newBench(t)
	session := func(path, body string, header ...string) (tenant string) {
		t.Helper()
		if r := b.post(path, body, append(header, "x-preface-session", "same")...); r.StatusCode != 200 {
			t.Fatalf("%s: %d %s", path, r.StatusCode, r.body)
		}
		reqs := b.requests()
		return reqs[len(reqs)-1].Tenant
	}
	one := session("/v1/responses", responsesTurn, "x-api-key", "sk-same", "authorization", "Bearer sk-one")
	two := session("/v1/responses", responsesTurn, "x-api-key", "sk-same", "authorization", "Bearer sk-two")
	if one == two {
		t.Error("two OpenAI keys beside one x-api-key are one tenant")
	}
	if bare := session("/v1/responses", responsesTurn, "x-api-key", "sk-other", "authorization", "Bearer sk-one"); bare != one {
		t.Error("one OpenAI key beside another x-api-key is another tenant")
	}
	r := b.post("/v1/messages", anthropicTurn, "x-preface-session", "oauth", "x-api-key", "dummy", "authorization", "Bearer sk-ant-oat01-x")
	if got := r.Header.Get("x-preface-prefix"); got != "bare; subscription" {
		t.Errorf("a subscription beside a dummy key has %q, want bare; subscription", got)
	}
}
