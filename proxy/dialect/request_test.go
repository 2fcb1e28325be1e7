package dialect

import (
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// TestResetLetsGo: a Request at rest holds neither a document nor the room that
// an unusual one needed.
func TestResetLetsGo(t *testing.T) {
	body := `{"model":"m","messages":[` + strings.Repeat(`{"role":"user","content":"x"},`, 2*maxRoom) + `{}]}`
	var doc jsonspan.Doc
	var d anthropic
	if err := doc.Scan([]byte(body), d.Depth); err != nil {
		t.Fatal(err)
	}
	var r Request
	if err := d.Read(&doc, Turn, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.History) != 2*maxRoom+1 {
		t.Fatalf("Read found %d messages, want %d", len(r.History), 2*maxRoom+1)
	}
	r.Reset()
	if r.Model != nil || cap(r.History) > maxRoom {
		t.Errorf("Reset left model %q and room for %d messages, want nil and at most %d", r.Model, cap(r.History), maxRoom)
	}
}

func TestReadRefuses(t *testing.T) {
	f := func(d Dialect, body, want string) {
		t.Helper()
		var doc jsonspan.Doc
		if err := doc.Scan([]byte(body), d.Depth); err != nil {
			t.Fatal(err)
		}
		r := Request{Model: []byte("of before"), Marks: 7}
		if err := d.Read(&doc, Turn, &r); err == nil || err.Error() != want {
			t.Errorf("%s.Read(%s) = %v, want %q", d.Name(), body, err, want)
		}
		if r.Model != nil || r.Marks != 0 {
			t.Errorf("%s.Read(%s) left %+v, want an empty Request", d.Name(), body, r)
		}
	}
	f(anthropic{}, `{"model":"m","messages":7}`, "messages is a number, want a list")
	f(anthropic{}, `{"model":"m","messages":"hi"}`, "messages is a string, want a list")
	f(openaiChat{}, `{"model":"m","messages":{}}`, "messages is an object, want a list")
	f(openaiChat{}, `{"model":"m","messages":true}`, "messages is a boolean, want a list")
	f(openaiResponses{}, `{"model":"m","input":{}}`, "input is an object, want a string or a list")
	f(openaiResponses{}, `{"model":"m","input":1}`, "input is a number, want a string or a list")
}

func TestSlotSplices(t *testing.T) {
	f := func(s Slot, body, want string) {
		t.Helper()
		got, done := "", 0
		for _, p := range s.Splices([]byte("R")) {
			got += body[done:p.At] + string(p.Bytes)
			done = p.At
		}
		if got += body[done:]; got != want {
			t.Errorf("%+v.Splices into %s = %s, want %s", s, body, got, want)
		}
	}
	f(Slot{At: 1, Wrap: WrapBefore}, `[1,2]`, `[R,1,2]`)
	f(Slot{At: 3, Wrap: WrapBefore}, `[1,2]`, `[1,R,2]`)
	f(Slot{At: 0, End: 3, Wrap: WrapString}, `"x"`, `[R,{"role":"user","content":"x"}]`)
}

func TestSide(t *testing.T) {
	f := func(d Dialect, members string, want bool) {
		t.Helper()
		body := `{"messages":[{"role":"user","content":"q"}],"input":"q",` + members + `}`
		var doc jsonspan.Doc
		if err := doc.Scan([]byte(body), d.Depth); err != nil {
			t.Fatal(err)
		}
		var r Request
		if err := d.Read(&doc, Turn, &r); err != nil || r.Side != want {
			t.Errorf("%s.Read(%s).Side = %t, %v, want %t", d.Name(), body, r.Side, err, want)
		}
	}
	for _, d := range registry {
		f(d, `"x":1`, false)
		f(d, `"tools":[{"name":"t"}],"max_tokens":1,"max_output_tokens":1`, false)
		f(d, `"tools":[],"max_tokens":64,"max_output_tokens":64`, true)
		f(d, `"tools":null,"max_tokens":65,"max_output_tokens":65`, false)
		f(d, `"max_tokens":0,"max_output_tokens":0`, false)
		f(d, `"max_tokens":"40","max_output_tokens":4e1`, false)
	}
	f(anthropic{}, `"output_config":{"format":{"type":"json_schema"}}`, true)
	f(anthropic{}, `"output_config":{"effort":"low"}`, false)
	f(anthropic{}, `"output_format":{"type":"json_schema"}`, true)
	f(openaiChat{}, `"response_format":{"type":"json_object"}`, true)
	f(openaiChat{}, `"response_format":{"type":"text"}`, false)
	f(openaiChat{}, `"max_completion_tokens":1`, true)
	f(openaiChat{}, `"functions":[{"name":"f"}],"max_tokens":1`, false)
	f(openaiResponses{}, `"text":{"format":{"type":"json_schema"}}`, true)
	f(openaiResponses{}, `"text":{"format":{"type":"text"},"verbosity":"low"}`, false)
}

// TestErrorBodies: the shapes that the providers' SDKs know.
func TestErrorBodies(t *testing.T) {
	f := func(d Dialect, kind ErrorKind, status int, want string) {
		t.Helper()
		if got := string(d.Error(kind, `no "x"`)); got != want || Status(kind) != status {
			t.Errorf("%s.Error(%d) = %d %s, want %d %s", d.Name(), kind, Status(kind), got, status, want)
		}
	}
	f(anthropic{}, ErrInvalid, 400, `{"type":"error","error":{"type":"invalid_request_error","message":"preface: no \"x\""}}`)
	f(anthropic{}, ErrTooLarge, 413, `{"type":"error","error":{"type":"request_too_large","message":"preface: no \"x\""}}`)
	f(anthropic{}, ErrOverloaded, 503, `{"type":"error","error":{"type":"overloaded_error","message":"preface: no \"x\""}}`)
	f(openaiChat{}, ErrUpstream, 502, `{"error":{"message":"preface: no \"x\"","type":"server_error","param":null,"code":"upstream_unreachable"}}`)
	f(openaiResponses{}, ErrUpgrade, 426, `{"error":{"message":"preface: no \"x\"","type":"invalid_request_error","param":null,"code":"upgrade_refused"}}`)
	f(openaiResponses{}, 200, 500, `{"error":{"message":"preface: no \"x\"","type":"server_error","param":null,"code":"internal_error"}}`)
}

func TestRegisterTwicePanics(t *testing.T) {
	defer func() {
		if r := recover(); r == nil {
			t.Error("Register of a known name did not panic")
		}
	}()
	Register(anthropic{})
}
