//go:build mutations

package faulttest

import (
	"regexp"
	"strings"
	"testing"
)

// soakFinds is what a soak's jury must count of a broken program.
var soakFinds = map[string]promise{
	"the prefix is used first and logged later":                     1,
	"the prefix is rendered for each request":                       2,
	"the body is decoded and encoded again":                         3,
	"a session's later request composes anew after a restart":       5,
	"nobody notices that a client leaves":                           7,
	"the end of the provider's connection is the end of the answer": 8,
	"a request that was written is sent again":                      9,
	"an error quotes the request":                                   12,
}

var counted = regexp.MustCompile(`(?m)^\s*(I\d+)\s+([1-9]\d*)\s+\d+ `)

// TestMutationsInSoak: a short soak of a broken program counts violations of the
// promise that it breaks.
func TestMutationsInSoak(t *testing.T) {
	left := len(soakFinds)
	for i, m := range mutations {
		want, ok := soakFinds[m.name]
		if !ok {
			continue
		}
		left--
		t.Run(strings.ReplaceAll(m.name, " ", "-"), func(t *testing.T) {
			m.test = "TestI10_SoakReplicas"
			out := m.judge(t, len(mutations)+i)
			found := false
			for _, c := range counted.FindAllStringSubmatch(out, -1) {
				t.Logf("%s was found broken %s times", c[1], c[2])
				found = found || c[1] == want.String()
			}
			if !found {
				t.Errorf("%v was not found broken:\n%s", want, out)
			}
		})
	}
	if left != 0 {
		t.Errorf("%d of the mutations in soakFinds are no mutations", left)
	}
}
