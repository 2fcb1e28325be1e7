package telemetry

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// consoleSpans writes spans for people, a line of JSON each.
type consoleSpans struct{ to io.Writer }

// A shownSpan is what is written of a span.
type shownSpan struct {
	Name       string
	Kind       string
	Trace      string
	Span       string
	Parent     string   `json:",omitempty"`
	State      string   `json:",omitempty"`
	Links      []string `json:",omitempty"`
	Start, End time.Time
	Failed     bool `json:",omitempty"`
	Attributes map[string]any
	Events     []shownEvent `json:",omitempty"`
}

type shownEvent struct {
	Name string
	At   time.Time
}

func (c consoleSpans) export(_ context.Context, spans []byte) error {
	var list tracepb.ScopeSpans
	if err := proto.Unmarshal(spans, &list); err != nil {
		return fmt.Errorf("BUG: cannot read a span of ours: %w", err)
	}
	for _, s := range list.Spans {
		line, err := json.Marshal(shown(s))
		if err != nil {
			return err
		}
		if _, err := c.to.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func (consoleSpans) close(context.Context) error { return nil }

func shown(s *tracepb.Span) shownSpan {
	out := shownSpan{
		Name: s.Name, Kind: s.Kind.String()[len("SPAN_KIND_"):], State: s.TraceState,
		Trace: hex.EncodeToString(s.TraceId), Span: hex.EncodeToString(s.SpanId), Parent: hex.EncodeToString(s.ParentSpanId),
		Start: moment(s.StartTimeUnixNano), End: moment(s.EndTimeUnixNano),
		Failed: s.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR, Attributes: map[string]any{},
	}
	for _, kv := range s.Attributes {
		out.Attributes[kv.Key] = value(kv.Value)
	}
	for _, e := range s.Events {
		out.Events = append(out.Events, shownEvent{e.Name, moment(e.TimeUnixNano)})
	}
	for _, l := range s.Links {
		out.Links = append(out.Links, hex.EncodeToString(l.SpanId))
	}
	return out
}

func moment(nanos uint64) time.Time { return time.Unix(0, int64(nanos)).UTC() }

// value is an attribute's, of those kinds that we write.
func value(v *common.AnyValue) any {
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
		list := make([]any, len(v.ArrayValue.Values))
		for i, item := range v.ArrayValue.Values {
			list[i] = value(item)
		}
		return list
	}
	return nil
}
