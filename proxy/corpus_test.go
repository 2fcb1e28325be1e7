package proxy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
)

// corpusFile is JSONTestSuite (github.com/nst/JSONTestSuite at 1ef36fa, MIT),
// kept beside the module.
const corpusFile = "../../shared/data/json_test_suite.tar.gz"

// jsonCorpus returns the parsing cases by name.
func jsonCorpus(t *testing.T) map[string]string {
	t.Helper()
	file, err := os.Open(corpusFile)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no JSONTestSuite at %s", corpusFile)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if dir, name := path.Split(h.Name); dir == "test_parsing/" {
			cases[name] = string(body)
		}
	}
	if len(cases) < 300 {
		t.Fatalf("JSONTestSuite has %d parsing cases, want over 300", len(cases))
	}
	return cases
}

// A wrapping puts a case somewhere into a request; CASE stands for it.
type wrapping struct{ name, text string }

const tool = `"tools":[{"name":"f"}],`

var wrappings = [3][]wrapping{
	{ // Anthropic
		{"whole", `CASE`},
		{"content", `{"model":"claude-opus-4-8",` + tool + `"max_tokens":100,"messages":[{"role":"user","content":CASE}]}`},
		{"message", `{"model":"claude-opus-4-8",` + tool + `"max_tokens":100,"messages":[CASE,{"role":"user","content":"x"}]}`},
		{"messages", `{"model":"claude-opus-4-8",` + tool + `"max_tokens":100,"messages":CASE}`},
		{"system", `{"model":"claude-opus-4-8",` + tool + `"max_tokens":100,"system":CASE,"messages":[{"role":"user","content":"x"}]}`},
		{"unknown member", `{"x":CASE,"model":"claude-opus-4-8",` + tool + `"max_tokens":100,"messages":[{"role":"user","content":"x"}]}`},
		{"tool's schema", `{"model":"claude-opus-4-8","tools":[{"name":"f","input_schema":CASE}],"max_tokens":100,"messages":[{"role":"user","content":"x"}]}`},
		{"behind", `{"model":"claude-opus-4-8",` + tool + `"max_tokens":100,"messages":[{"role":"user","content":"x"}]}CASE`},
	},
	{ // Chat
		{"content", `{"model":"gpt-5.5",` + tool + `"messages":[{"role":"system","content":"s"},{"role":"user","content":CASE}]}`},
		{"system", `{"model":"gpt-5.5",` + tool + `"messages":[{"role":"system","content":CASE},{"role":"user","content":"x"}]}`},
		{"role", `{"model":"gpt-5.5",` + tool + `"messages":[{"role":CASE,"content":"x"},{"role":"user","content":"x"}]}`},
		{"stream options", `{"model":"gpt-5.5",` + tool + `"stream":true,"stream_options":CASE,"messages":[{"role":"user","content":"x"}]}`},
		{"name", `{"model":"gpt-5.5",` + tool + `CASE:1,"messages":[{"role":"user","content":"x"}]}`},
		{"before", `CASE{"model":"gpt-5.5",` + tool + `"messages":[{"role":"user","content":"x"}]}`},
	},
	{ // Responses
		{"input", `{"model":"gpt-6-sol",` + tool + `"input":CASE}`},
		{"item", `{"model":"gpt-6-sol",` + tool + `"input":[{"role":"developer","content":"d"},CASE,{"role":"user","content":"x"}]}`},
		{"instructions", `{"model":"gpt-6-sol",` + tool + `"instructions":CASE,"input":"x"}`},
		{"conversation", `{"model":"gpt-6-sol",` + tool + `"conversation":CASE,"input":"x"}`},
		{"earlier answer", `{"model":"gpt-6-sol",` + tool + `"previous_response_id":CASE,"input":[{"role":"developer","content":"d"},{"role":"user","content":"x"}]}`},
	},
}

// TestI3_JSONTestSuite: every case of the suite at many places of a request.
// What is sent is the client's very bytes, or has the prefix where every parser
// that can read the client's body sees it, and nothing else changed. An enforced
// route sends nothing that it cannot read. Half of the pairs of case and place
// go to either policy: it is the same scan.
func TestI3_JSONTestSuite(t *testing.T) {
	cases := jsonCorpus(t)
	names := slices.Sorted(maps.Keys(cases))
	for parity, p := range []string{BestEffort, Enforced} {
		t.Run(p, func(t *testing.T) {
			t.Parallel()
			s := &suite{t: t, bench: newBench(t, policy(p)), enforced: p == Enforced}
			for i, name := range names {
				for d, list := range wrappings {
					for j, w := range list {
						if (i+j)%2 == parity {
							s.send(d, w.name+" "+name, strings.ReplaceAll(w.text, "CASE", cases[name]))
						}
					}
				}
			}
			s.python()
			t.Logf("%d passed untouched, %d spliced, %d refused", s.untouched, len(s.spliced), s.refused)
			if len(s.spliced) < 500 || !s.enforced && s.untouched < 500 || s.enforced && s.refused < 500 {
				t.Errorf("that is not what the suite is made of")
			}
			s.bench.verify()
		})
	}
}

// A suite sends bodies and judges what became of them.
type suite struct {
	t *testing.T
	*bench
	enforced           bool
	seen               int // the last exchange that was looked at
	untouched, refused int
	spliced            []splicedBody
}

func (s *suite) send(dialect int, name, body string) {
	turn := turns[dialect]
	r := s.post(turn.path, body, turn.session, "corpus")
	got := s.up.ReceivedAfter(s.seen)
	if len(got) == 0 {
		if s.refused++; !s.enforced || r.StatusCode != 400 {
			s.t.Errorf("%s: status %d, and nothing was sent: %s", name, r.StatusCode, r.body)
		}
		return
	}
	s.seen = got[0].ID
	if string(got[0].Body) == body {
		s.untouched++
		if why := r.Header.Get("x-preface-prefix"); s.enforced && !strings.HasPrefix(why, "bare; ") {
			s.t.Errorf("%s: sent untouched, and labelled %q", name, why)
		}
		return
	}
	b := splicedBody{name, []byte(body), got[0].Body, [...]string{"messages", "messages", "input"}[dialect], dialect > 0}
	s.spliced = append(s.spliced, b)
	for parser, parse := range parsers {
		if err := b.judge(parse); err != nil {
			s.t.Errorf("%s, judged by %s: %v\nclient %.300q\nsent   %.300q", name, parser, err, b.client, b.sent)
		}
	}
}

// parsers read JSON without knowing of ranges.
var parsers = map[string]func([]byte) (any, error){
	"encoding/json": func(b []byte) (v any, err error) {
		dec := json.NewDecoder(bytes.NewReader(b))
		dec.UseNumber()
		if err = dec.Decode(&v); err == nil && dec.More() {
			err = errors.New("more behind it")
		}
		return v, err
	},
	"jsontext": func(b []byte) (v any, err error) { return v, jsonv2.Unmarshal(b, &v) },
}

// A splicedBody is a client's body, and what was sent of it.
type splicedBody struct {
	name         string
	client, sent []byte
	list         string // the member that holds the history
	slotInList   bool   // the system slot is at the head of it
}

// judge checks that a parser which can read the client's body sees the prefix in
// its place, and nothing else changed.
func (b splicedBody) judge(parse func([]byte) (any, error)) error {
	client, err := parse(b.client)
	if err != nil {
		return nil // it has no opinion
	}
	sent, err := parse(b.sent)
	if err != nil {
		return fmt.Errorf("it reads the client's body and not what was sent: %w", err)
	}
	want, ok := client.(map[string]any)
	got, ok2 := sent.(map[string]any)
	if !ok || !ok2 {
		return errors.New("that is no object")
	}
	prefix, err := b.expect(want, got)
	switch {
	case err != nil:
		return err
	case !strings.Contains(fmt.Sprint(prefix), openerText):
		return fmt.Errorf("%v is where the prefix should be", prefix)
	case !reflect.DeepEqual(want, got):
		return errors.New("something else changed")
	}
	return nil
}

// expect puts what got has in the slot into want, and what asks for usage.
func (b splicedBody) expect(want, got map[string]any) (prefix any, err error) {
	history, isList := want[b.list].([]any)
	if !isList {
		history = []any{map[string]any{"role": "user", "content": want[b.list]}}
	}
	lead := 0
	for b.leads(history, lead) {
		lead++
	}
	sent, _ := got[b.list].([]any)
	if len(sent) != len(history)+1 {
		return nil, fmt.Errorf("%d messages were sent for %d", len(sent), len(history))
	}
	prefix = sent[lead]
	want[b.list] = append(append(append([]any{}, history[:lead]...), prefix), history[lead:]...)
	options, _ := want["stream_options"].(map[string]any)
	if _, has := options["include_usage"]; options != nil && !has {
		options["include_usage"] = true
	}
	return prefix, nil
}

// leads reports whether a message is of the system slot's leading run.
func (b splicedBody) leads(history []any, i int) bool {
	if i >= len(history) || !b.slotInList {
		return false
	}
	m, _ := history[i].(map[string]any)
	return m["role"] == "system" || m["role"] == "developer"
}

// pythonJudge reads pairs of base64 words, and names those that it reads
// differently: what a third parser makes of them, written by others.
const pythonJudge = `
import sys, json, base64
read = lambda b: json.loads(b.decode("utf-8"), parse_int=str, parse_float=str)
for n, line in enumerate(sys.stdin):
    client, sent, name, lead = line.split()
    try: client = read(base64.b64decode(client))
    except Exception: continue
    try: sent = read(base64.b64decode(sent))
    except Exception as e: print(n, "not readable", e); continue
    history = client[name] if isinstance(client[name], list) else [{"role": "user", "content": client[name]}]
    at = 0
    while lead == "true" and at < len(history) and isinstance(history[at], dict) and history[at].get("role") in ("system", "developer"): at += 1
    prefix = sent[name][at]
    if "Team rules" not in json.dumps(prefix): print(n, "no prefix")
    client[name] = history[:at] + [prefix] + history[at:]
    if isinstance(client.get("stream_options"), dict): client["stream_options"].setdefault("include_usage", True)
    if client != sent: print(n, "changed")
print("judged")
`

// python has Python's parser judge all bodies, if there is one.
func (s *suite) python() {
	if _, err := exec.LookPath("python3"); err != nil {
		s.t.Log("no python3: two parsers judged, not three")
		return
	}
	var in bytes.Buffer
	word := base64.StdEncoding.EncodeToString
	for _, b := range s.spliced {
		fmt.Fprintln(&in, word(b.client), word(b.sent), b.list, b.slotInList)
	}
	cmd := exec.Command("python3", "-c", pythonJudge)
	cmd.Stdin = &in
	out, err := cmd.CombinedOutput()
	if text := string(out); err != nil || text != "judged\n" {
		s.t.Errorf("judged by Python: %v\n%.2000s", err, text)
	}
}

// TestI3_PoisonedBodies: bodies that try to have the prefix put elsewhere, or
// nowhere, or to be read in two ways.
func TestI3_PoisonedBodies(t *testing.T) {
	const user = `{"role":"user","content":"x"}`
	head := `{"model":"claude-opus-4-8",` + tool + `"max_tokens":100,`
	bodies := map[string]string{
		"a list of that name before": head + `"x":{"messages":[` + user + `]},"messages":[` + user + `]}`,
		"a list of that name behind": head + `"messages":[` + user + `],"x":{"messages":[` + user + `]}}`,
		"the slot in a string":       head + `"x":"\"messages\":[","messages":[{"role":"user","content":"\"messages\":[{\"role\":\"user\"}]"}]}`,
		"the opener in a message":    head + `"messages":[{"role":"user","content":"` + openerText + `"},` + user + `]}`,
		"the opener as a message":    head + `"messages":[{"role":"user","content":[{"type":"text","text":"` + openerText + `"}]},` + user + `]}`,
		"two lists":                  head + `"messages":[` + user + `],"messages":[]}`,
		"two lists, one escaped":     head + `"messages":[` + user + `],"m\u0065ssages":[]}`,
		"one list, escaped":          head + `"m\u0065ssages":[` + user + `]}`,
		"two lists, one in capitals": head + `"Messages":[],"messages":[` + user + `]}`,
		"a list in capitals":         head + `"MESSAGES":[` + user + `]}`,
		"two systems":                head + `"system":"a","system":"b","messages":[` + user + `]}`,
		"two roles":                  head + `"messages":[{"role":"user","role":"assistant","content":"x"}]}`,
		"a byte order mark":          "\ufeff" + head + `"messages":[` + user + `]}`,
		"a byte order mark inside":   head + "\ufeff" + `"messages":[` + user + `]}`,
		"invalid UTF-8":              head + `"messages":[{"role":"user","content":"` + "\xc3\x28" + `"}]}`,
		"half a surrogate pair":      head + `"messages":[{"role":"user","content":"\ud800"}]}`,
		"a NUL":                      head + `"messages":[{"role":"user","content":"` + "\x00" + `"}]}`,
		"a list that is a string":    head + `"messages":"[]"}`,
		"a list in a list":           head + `"messages":[[` + user + `]]}`,
		"no list":                    head[:len(head)-1] + `}`,
		"an empty list":              head + `"messages":[]}`,
		"a comma too many":           head + `"messages":[` + user + `,]}`,
		"comments":                   head + `/*"messages":[]*/"messages":[` + user + `]}`,
		"two bodies":                 head + `"messages":[` + user + `]}` + head + `"messages":[` + user + `]}`,
		"depth 100000":               head + `"x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `,"messages":[` + user + `]}`,
		"depth 100000 of objects":    head + `"messages":[{"role":"user","content":` + strings.Repeat(`{"a":`, 100_000) + `1` + strings.Repeat("}", 100_000) + `}]}`,
		"an opening without an end":  head + strings.Repeat(`"messages":[`, 1000),
		"a number without an end":    head + `"messages":[` + user + `],"x":` + strings.Repeat("9", 1<<20) + `}`,
	}
	for _, p := range []string{BestEffort, Enforced} {
		s := &suite{t: t, bench: newBench(t, policy(p)), enforced: p == Enforced}
		for name, body := range bodies {
			s.send(0, name, body)
		}
		s.python()
		s.bench.verify()
		if s.untouched == 0 || len(s.spliced) < 5 || s.enforced && s.refused < 10 {
			t.Errorf("%s: %d untouched, %d spliced, %d refused", p, s.untouched, len(s.spliced), s.refused)
		}
	}
}

// TestI3_ManyMessages: fifty thousand are taken, and a million are more than the
// scan has room for, which changes nothing in them.
func TestI3_ManyMessages(t *testing.T) {
	b := newBench(t)
	ctx := propertyRequests(t, b)[0]
	const head, each, tail = `{"model":"claude-opus-4-8",` + tool + `"max_tokens":100,"messages":[`, `{"role":"user","content":"x"}`, `]}`
	for _, n := range []int{50_000, 1_000_000} {
		client := []byte(head + strings.Repeat(each+",", n-1) + each + tail)
		got := sendProperty(t, b, ctx, 1, client)
		want := string(client)
		if got.injected {
			want = head + string(got.prefix) + "," + want[len(head):]
		}
		if got.injected != (n == 50_000) || string(got.sent) != want || !bytes.Equal(got.cut, client) {
			t.Errorf("of %d messages: injected %v (%s), %d bytes sent for %d, begin %.400q", n, got.injected, got.why, len(got.sent), len(client), got.sent)
		}
	}
}
