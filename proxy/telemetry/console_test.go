package telemetry

import (
	"bytes"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"
)

// TestConsole: a span is a line with all that it has.
func TestConsole(t *testing.T) {
	parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}})
	tr := &Trace{parent: parent, id: trace.TraceID{3}, state: "a=1"}
	var a attributes
	a.text("text", "x\n")
	a.list("list", "x")
	a.number("number", -1)
	a.float("float", 0.5)
	a.yes("yes")
	a.place(tr, trace.SpanID{4}, trace.SpanID{5}, false)
	a.about(kindServer, "name", time.Unix(1, 0), time.Unix(2, 0))
	a.event("event", time.Unix(1, 5e8))
	a.link(parent)
	a.fail()
	var spans encoding
	spans.bytes(scopeSpans, a.encoding)
	var out bytes.Buffer
	if err := (consoleSpans{&out}).export(t.Context(), spans); err != nil {
		t.Fatal(err)
	}
	const want = `{"Name":"name","Kind":"SERVER","Trace":"03000000000000000000000000000000","Span":"0400000000000000","Parent":"0500000000000000",` +
		`"State":"a=1","Links":["0200000000000000"],"Start":"1970-01-01T00:00:01Z","End":"1970-01-01T00:00:02Z","Failed":true,` +
		`"Attributes":{"float":0.5,"list":["x"],"number":-1,"text":"x\n","yes":true},"Events":[{"Name":"event","At":"1970-01-01T00:00:01.5Z"}]}` + "\n"
	if out.String() != want {
		t.Errorf("wrote %s\nwant  %s", out.String(), want)
	}
}
