package sdktest

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"

	"github.com/seed-9236c7ca/preface/bench/provider"
)

// patience bounds every wait; no verdict depends on it.
const patience = time.Minute

// A stage is a simulated provider and the way that leads there.
type stage struct {
	provider *provider.Provider
	url      string // for SDKs, without /v1
}

// direct is a stage without a proxy.
func direct(t *testing.T) *stage {
	t.Helper()
	p := provider.New(provider.Options{
		Now:   func() time.Time { return time.Unix(1800000000, 0) }, // answers tell the time
		Fault: firstTry,
	})
	if err := p.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return &stage{p, p.URL()}
}

// through is a stage with a proxy that has the given flags.
func through(t *testing.T, flags ...string) *stage {
	t.Helper()
	s := direct(t)
	s.url = serve(t, s.url, flags...)
	return s
}

// The headers in which a scenario says what is to go wrong.
const (
	faultHeader    = "x-provider-fault" // the provider's own
	firstTryHeader = "x-first-try"      // only when the SDK tries for the first time
)

func firstTry(_ int, r *http.Request) provider.Fault {
	if r.Header.Get("x-stainless-retry-count") != "0" {
		return provider.Fault{}
	}
	f, err := provider.ParseFault(r.Header.Get(firstTryHeader))
	if err != nil {
		panic(err) // of the scenario
	}
	return f
}

// A run is a scenario on a stage.
type run struct {
	t     *testing.T
	ctx   context.Context
	stage *stage
	wire  *wire
	key   string

	given   []given
	atEvent func() // nil if there is nothing to do
}

func (r *run) client() *http.Client { return &http.Client{Transport: r.wire} }

func (r *run) anthropic() anthropic.Client {
	return anthropic.NewClient(anthropicoption.WithBaseURL(r.stage.url),
		anthropicoption.WithAPIKey(r.key), anthropicoption.WithHTTPClient(r.client()))
}

func (r *run) openai() openai.Client {
	return openai.NewClient(openaioption.WithBaseURL(r.stage.url+"/v1"),
		openaioption.WithAPIKey(r.key), openaioption.WithHTTPClient(r.client()))
}

// received waits until the provider is done with n requests of the run, and
// returns them in their order.
func (r *run) received(n int) []provider.Exchange {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tenant := provider.TenantOf(r.key)
	seen := map[int]bool{}
	var out []provider.Exchange
	for len(out) < n {
		e, err := r.stage.provider.Await(ctx, func(e *provider.Exchange) bool {
			return e.Tenant == tenant && !e.Open() && !seen[e.ID]
		})
		if err != nil {
			r.t.Fatalf("the provider is done with %d requests, want %d: %v", len(out), n, err)
		}
		seen[e.ID] = true
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b provider.Exchange) int { return a.ID - b.ID })
	return out
}
