package proxy_test

import (
	"testing"

	"github.com/seed-9236c7ca/preface/proxy"
	"github.com/seed-9236c7ca/preface/proxy/explain"
)

// A client that asks OpenAI to compare answers changes an id with each request.
// What it asks of the cache beside that is seen all the same.
func TestComparisonHidesNoOptions(t *testing.T) {
	f := func(before, after, cause, detail string) {
		t.Helper()
		var requests [2]*explain.Request
		for i, options := range []string{before, after} {
			var err error
			body := `{"model":"gpt-5.6-sol","prompt_cache_options":{` + options + `},"input":"hello"}`
			if requests[i], _, err = proxy.ReadBody(responses, []byte(body)); err != nil {
				t.Fatal(err)
			}
		}
		if v := explain.Compare(requests[0], requests[1], nil, nil); v.Cause != cause || v.Detail != detail {
			t.Errorf("{%s} after {%s} is %q (%s), want %q (%s)", after, before, v.Cause, v.Detail, cause, detail)
		}
	}
	const first, second = `"comparison_response_id":"resp_1"`, `"comparison_response_id":"resp_2"`
	f(first, second, "", "")
	f(`"ttl":"30m","mode":"implicit",`+first, second+`,"mode":"implicit","ttl":"12h"`, "", "")
	f(`"mode":"implicit"`, `"mode":"implicit",`+first, "", "")
	for _, before := range []string{first, `"mode":"implicit",` + first, `"mode":"implicit"`, ``} {
		f(before, `"mode":"explicit",`+second, explain.ParameterChanged, "prompt_cache_options.mode none → \"explicit\"")
	}
}
