package otlptest

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// A Span is one that was received.
type Span struct {
	Name       string
	Kind       string // SERVER, CLIENT, …
	Trace      string
	ID         string
	Parent     string // empty: a root
	State      string // tracestate
	Flags      uint32
	Failed     bool // its status is an error
	Start, End time.Time
	Attributes map[string]any
	Events     []Event
	Links      []string // ids of the spans that it links to
	Schema     string
	Resource   map[string]any
}

// An Event is a point in time of a span.
type Event struct {
	Name string
	At   time.Time
}

func spanOf(s *tracepb.Span, schema string, resource map[string]any) Span {
	out := Span{
		Name: s.Name, Kind: s.Kind.String()[len("SPAN_KIND_"):], State: s.TraceState, Flags: s.Flags,
		Trace: hex.EncodeToString(s.TraceId), ID: hex.EncodeToString(s.SpanId), Parent: hex.EncodeToString(s.ParentSpanId),
		Failed: s.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR, Start: at(s.StartTimeUnixNano), End: at(s.EndTimeUnixNano),
		Attributes: valuesOf(s.Attributes), Schema: schema, Resource: resource,
	}
	for _, e := range s.Events {
		out.Events = append(out.Events, Event{e.Name, at(e.TimeUnixNano)})
	}
	for _, l := range s.Links {
		out.Links = append(out.Links, hex.EncodeToString(l.SpanId))
	}
	return out
}

func at(nanos uint64) time.Time { return time.Unix(0, int64(nanos)) }

func valuesOf(kvs []*common.KeyValue) map[string]any {
	m := map[string]any{}
	for _, kv := range kvs {
		m[kv.Key] = valueOf(kv.Value)
	}
	return m
}

func valueOf(v *common.AnyValue) any {
	switch v := v.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return v.StringValue
	case *common.AnyValue_IntValue:
		return v.IntValue
	case *common.AnyValue_DoubleValue:
		return v.DoubleValue
	case *common.AnyValue_BoolValue:
		return v.BoolValue
	case *common.AnyValue_ArrayValue:
		list := []any{}
		for _, item := range v.ArrayValue.Values {
			list = append(list, valueOf(item))
		}
		return list
	}
	return fmt.Sprint(v)
}

// inOrder sorts by start, a parent before its child.
func inOrder(spans []Span) []Span {
	out := slices.Clone(spans)
	slices.SortStableFunc(out, func(a, b Span) int {
		return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(b.Kind, a.Kind)) // SERVER first
	})
	return out
}

// Golden is spans as JSON for people, the same from run to run: traces and spans
// are numbered, but for the ids in names, which have those. Of attributes in
// volatile only the presence is shown, and of times the order of events.
func Golden(spans []Span, names map[string]string, volatile ...string) []byte {
	type shown struct {
		Name       string         `json:"name"`
		Kind       string         `json:"kind"`
		Trace      string         `json:"trace"`
		Span       string         `json:"span"`
		Parent     string         `json:"parent,omitempty"`
		State      string         `json:"tracestate,omitempty"`
		Links      []string       `json:"links,omitempty"`
		Status     string         `json:"status,omitempty"`
		Attributes map[string]any `json:"attributes"`
		Events     []string       `json:"events,omitempty"`
	}
	ids := numbers{names, map[string]int{}}
	list := make([]shown, len(spans))
	for i, s := range spans {
		out := shown{Name: s.Name, Kind: s.Kind, Trace: ids.of("trace", s.Trace), Span: ids.of("span", s.ID), State: s.State, Attributes: map[string]any{}}
		if s.Parent != "" {
			out.Parent = ids.of("span", s.Parent)
		}
		for _, l := range s.Links {
			out.Links = append(out.Links, ids.of("span", l))
		}
		if s.Failed {
			out.Status = "error"
		}
		for k, v := range s.Attributes {
			if slices.Contains(volatile, k) {
				v = "…"
			}
			out.Attributes[k] = v
		}
		for _, e := range s.Events {
			out.Events = append(out.Events, e.Name)
		}
		list[i] = out
	}
	return indented(list)
}

func indented(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		panic("BUG: " + err.Error()) // of maps and strings
	}
	return b.Bytes()
}

// numbers gives ids names in the order in which they are first met.
type numbers struct {
	names map[string]string
	seen  map[string]int
}

func (n numbers) of(kind, id string) string {
	if name, ok := n.names[id]; ok {
		return name
	}
	key := kind + id
	if n.seen[key] == 0 {
		n.seen[kind]++
		n.seen[key] = n.seen[kind]
	}
	return fmt.Sprintf("%s-%d", kind, n.seen[key])
}
