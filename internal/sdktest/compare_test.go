package sdktest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/bench/provider"
)

// openerText is awkward to write in JSON.
const openerText = "# House rules\n\n- Say \"please\", never C:\\>.\n- <b>&amp; é 你好 🙂</b>\n"

// compare plays scenarios directly, through a proxy that has nothing to insert,
// and through one that has. With nothing to insert neither the SDK nor the
// provider may be able to tell. With an opener every turn must carry it, and the
// SDK must be given what the provider sent.
func compare(t *testing.T, scenarios []scenario) {
	t.Helper()
	opener := filepath.Join(t.TempDir(), "opener.md")
	if err := os.WriteFile(opener, []byte(openerText), 0o600); err != nil {
		t.Fatal(err)
	}
	plain, empty, opened := direct(t), through(t), through(t, "-file", opener)
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			want, got := plain.play(t, sc), empty.play(t, sc)
			sameGiven(t, sc, want.given, got.given)
			sameAnswers(t, sc, want.answers, got.answers)
			sameRequests(t, want.received, got.received)
			asSent(t, sc, got)

			with := opened.play(t, sc)
			asSent(t, sc, with)
			carries(t, with)
		})
	}
}

func sameGiven(t *testing.T, sc scenario, want, got []given) {
	t.Helper()
	if sc.ends == broken {
		if w, g := want[len(want)-1], got[len(got)-1]; w != g {
			t.Errorf("through the proxy the SDK ends with %v, directly with %v", g, w)
		}
		return
	}
	if len(got) != len(want) {
		t.Errorf("through the proxy the SDK gives %d things, directly %d", len(got), len(want))
	}
	for i := range min(len(want), len(got)) {
		if diff := cmp.Diff(want[i].raw, got[i].raw); diff != "" {
			t.Errorf("thing %d (-directly +through the proxy):\n%s", i, diff)
		} else if !reflect.DeepEqual(want[i], got[i]) {
			t.Errorf("thing %d through the proxy is not what it is directly, although both were made from %s", i, got[i].raw)
		}
	}
}

func sameAnswers(t *testing.T, sc scenario, want, got []answer) {
	t.Helper()
	for _, answers := range [][]answer{want, got} {
		for i := range answers {
			answers[i].Header = theirs(answers[i].Header)
			answers[i].Ended = false // an SDK may have had enough before the end
			if sc.ends != well {
				answers[i].Body = nil
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-directly +through the proxy):\n%s", diff)
	}
}

// A request is what a provider can see of one.
type request struct {
	Method, Path, Query string
	Header              []provider.Field
	Body                string
}

func sameRequests(t *testing.T, want, got []provider.Exchange) {
	t.Helper()
	if diff := cmp.Diff(requests(want), requests(got)); diff != "" {
		t.Errorf("requests (-directly +through the proxy):\n%s", diff)
	}
}

func requests(received []provider.Exchange) []request {
	out := make([]request, len(received))
	for i, e := range received {
		header := slices.DeleteFunc(slices.Clone(e.Header), func(f provider.Field) bool {
			return f.Name == "Host" || f.Name == "Connection" || f.Name == "Content-Length"
		})
		out[i] = request{e.Method, e.Path, e.Query, header, string(e.Body)}
	}
	return out
}

// asSent compares each answer with what the provider says that it sent.
func asSent(t *testing.T, sc scenario, o outcome) {
	t.Helper()
	for i, e := range o.received {
		a := o.answers[i]
		switch {
		case a.Status != e.Status:
			t.Errorf("answer %d has status %d, the provider sent %d", i, a.Status, e.Status)
		case sc.ends == canceled && !e.Aborted():
			t.Errorf("request %d went on at the provider when the SDK had canceled it", i)
		case sc.ends == broken && a.Ended:
			t.Errorf("answer %d looks whole, and was cut", i)
		case sc.ends != well || a.Status >= 400 && !a.Ended: // SDKs do not read what they try again
			if !bytes.HasPrefix(e.Answer, a.Body) {
				t.Errorf("answer %d is %q, which is not the beginning of %q", i, a.Body, e.Answer)
			}
		case !bytes.Equal(a.Body, e.Answer):
			t.Errorf("answer %d (-sent +given):\n%s", i, cmp.Diff(string(e.Answer), string(a.Body)))
		}
	}
}

// turns are the paths of requests that go on with a conversation.
var turns = []string{"/v1/messages", "/v1/chat/completions", "/v1/responses"}

// carries checks that the opener is in every turn, once and in the same bytes,
// and that the answers tell the truth about it.
func carries(t *testing.T, o outcome) {
	t.Helper()
	var before string
	for i, e := range o.received {
		said, prefix := o.answers[i].Header.Get("X-Preface-Prefix"), prefixOf(t, e.Body)
		switch {
		case strings.HasPrefix(said, "sha256:"):
			if len(prefix) != 1 {
				t.Errorf("request %d has %d messages with the opener, and the answer says %s", i, len(prefix), said)
				continue
			}
			if now := said + " " + prefix[0]; before != "" && now != before {
				t.Errorf("request %d has the prefix %s, the one before %s", i, now, before)
			} else {
				before = now
			}
		case len(prefix) != 0:
			t.Errorf("%s %s has the opener, and the answer says %q", e.Method, e.Path, said)
		case said == "bare; continuation" && bytes.Contains(e.Body, []byte(`"previous_response_id":`)):
			// The provider has the history, and with it the opener.
		case slices.Contains(turns, e.Path):
			t.Errorf("%s %s is without the opener, and the answer says %q", e.Method, e.Path, said)
		}
	}
}

// prefixOf returns the messages that have the opener's text, as they were sent.
func prefixOf(t *testing.T, body []byte) (prefix []string) {
	t.Helper()
	if len(body) == 0 {
		return nil
	}
	var history struct{ Messages, Input json.RawMessage }
	if err := json.Unmarshal(body, &history); err != nil {
		t.Errorf("the provider got %q: %v", body, err)
	}
	for _, list := range []json.RawMessage{history.Messages, history.Input} {
		var messages []json.RawMessage
		_ = json.Unmarshal(list, &messages) // the input may be a string
		for _, m := range messages {
			if says(m, openerText) {
				prefix = append(prefix, string(m))
			}
		}
	}
	return prefix
}

// says reports whether a text is one of the strings of a JSON value.
func says(value []byte, text string) bool {
	d := json.NewDecoder(bytes.NewReader(value))
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		if token == text {
			return true
		}
	}
}
