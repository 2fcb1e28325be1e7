package dialecttest

import (
	"bytes"
	"fmt"

	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// facts writes down what was read in a body, one fact a line.
func facts(body []byte, ep dialect.Endpoint, r *dialect.Request) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "endpoint: %s\n", [...]string{"turn", "count", "compact"}[ep])
	fmt.Fprintf(&b, "model: %s\nstream: %t\n", r.Model, r.Stream)
	writeSlot(&b, body, r)
	fmt.Fprintf(&b, "rendering: %s\n", r.Rendering)
	fmt.Fprintf(&b, "history: %d messages", len(r.History))
	if n := len(r.History); n > 0 {
		fmt.Fprintf(&b, " %s", r.History[n-1])
	}
	fmt.Fprintf(&b, "\nfirst prompt: %s\n", r.FirstPrompt)
	fmt.Fprintf(&b, "answered: %t\nsigned thinking: %t\nside: %t\ntools: %t\nmarks: %d\n",
		r.Answered, r.SignedThinking, r.Side, r.Tools, r.Marks)
	writeSpans(&b, "system", body, r.SystemSpans)
	writeSpans(&b, "tool", body, r.ToolSpans)
	writeSpans(&b, "parameter", body, r.ParameterSpans)
	writeUsage(&b, r)
	writeOutline(&b, &r.Outline)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func writeSlot(b *bytes.Buffer, body []byte, r *dialect.Request) {
	switch {
	case r.Never != "":
		fmt.Fprintf(b, "never: %s\n", r.Never)
	case r.Slot.Wrap == dialect.WrapString:
		fmt.Fprintf(b, "slot: around %s\n", body[r.Slot.At:r.Slot.End])
	default:
		fmt.Fprintf(b, "slot: before %s\n", shorten(body[r.Slot.At:]))
	}
}

func writeSpans(b *bytes.Buffer, what string, body []byte, spans []jsonspan.Span) {
	for _, s := range spans {
		fmt.Fprintf(b, "%s: %s\n", what, shorten(body[s.From:s.To]))
	}
}

func writeUsage(b *bytes.Buffer, r *dialect.Request) {
	switch {
	case r.WantsUsage:
		b.WriteString("usage: comes\n")
	case len(r.UsageSplices) == 0:
		b.WriteString("usage: declined\n")
	default:
		fmt.Fprintf(b, "usage: asked for with %s\n", r.UsageSplices[0].Bytes)
	}
}

// shorten is the beginning of raw on one line.
func shorten(raw []byte) []byte {
	raw = bytes.ReplaceAll(raw, []byte("\n"), []byte(" "))
	if len(raw) > 72 {
		return append(bytes.ToValidUTF8(raw[:72], nil), "…"...)
	}
	return raw
}
