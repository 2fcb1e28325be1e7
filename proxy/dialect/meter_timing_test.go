package dialect

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// deltas are one delta event of 200 bytes of each wire format, and what comes
// before them.
var deltas = map[string]struct{ head, event string }{
	"anthropic": {
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"c\"}}\n\n",
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%s\"}}\n\n",
	},
	"anthropic-unnamed": {
		"data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"c\"}}\n\n",
		"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%s\"}}\n\n",
	},
	"chat": {
		"",
		"data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"model\":\"g\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"},\"finish_reason\":null}],\"usage\":null}\n\n",
	},
	"responses": {
		"event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"model\":\"g\"}}\n\n",
		"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":7,\"item_id\":\"msg_1\",\"output_index\":0,\"delta\":\"%s\"}\n\n",
	},
}

// answersOf400 are whole answers of 400 bytes.
var answersOf400 = map[string]string{
	"anthropic": `{"id":"msg_01XFDUDYJgAACzvnptvVoYEL","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"Done: all of the tests pass."}],"stop_reason":"end_turn","stop_sequence":null,` +
		`"usage":{"input_tokens":12,"cache_creation_input_tokens":300,"cache_read_input_tokens":20000,"cache_creation":{"ephemeral_5m_input_tokens":300,"ephemeral_1h_input_tokens":0},"output_tokens":15}}`,
	"chat": `{"id":"chatcmpl-BkAr3eyYqgM","object":"chat.completion","created":1750000000,"model":"gpt-5","choices":[{"index":0,"message":{"role":"assistant","content":"Done: all of the tests pass."},"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":20312,"completion_tokens":15,"total_tokens":20327,"prompt_tokens_details":{"cached_tokens":20000},"completion_tokens_details":{"reasoning_tokens":0}}}`,
	"responses": `{"id":"resp_0683bd1a7f3c","object":"response","status":"completed","error":null,"incomplete_details":null,"model":"gpt-5","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}],` +
		`"usage":{"input_tokens":20312,"input_tokens_details":{"cached_tokens":20000},"output_tokens":15,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":20327}}`,
}

func deltaOf200(format string) string {
	bare := len(fmt.Sprintf(format, ""))
	return fmt.Sprintf(format, strings.Repeat("word ", 40)[:200-bare])
}

func meterOf(name string) Meter {
	dialect, _, _ := strings.Cut(name, "-")
	return meters[dialect](Turn, true)
}

func TestDeltasDoNotAllocate(t *testing.T) {
	for name, d := range deltas {
		m := meterOf(name)
		event := []byte(deltaOf200(d.event))
		feed(m, d.head, string(event))
		got := testing.AllocsPerRun(100, func() {
			m.Write(event[:77])
			m.Write(event[77:])
		})
		if got != 0 {
			t.Errorf("%s meter allocates %v times per delta, want 0", name, got)
		}
	}
}

func BenchmarkMeters(b *testing.B) {
	const events = 80 * 16
	for _, chunk := range []int{16 << 10, 200, 77} {
		for name, d := range deltas {
			b.Run(fmt.Sprintf("%s/%d", name, chunk), func(b *testing.B) {
				m := meterOf(name)
				feed(m, d.head)
				stream := bytes.Repeat([]byte(deltaOf200(d.event)), events)
				b.ReportAllocs()
				for b.Loop() {
					for p := stream; len(p) > 0; {
						n := min(chunk, len(p))
						m.Write(p[:n])
						p = p[n:]
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/events, "ns/event")
			})
		}
	}
}

func BenchmarkFilter(b *testing.B) {
	const events = 80 * 16
	for _, chunk := range []int{16 << 10, 200, 77} {
		b.Run(fmt.Sprint(chunk), func(b *testing.B) {
			m := newChatMeter(Turn, true).(UsageFilter)
			stream := bytes.Repeat([]byte(deltaOf200(deltas["chat"].event)), events)
			b.ReportAllocs()
			for b.Loop() {
				for p := stream; len(p) > 0; {
					n := min(chunk, len(p))
					m.Filter(p[:n])
					p = p[n:]
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/events, "ns/event")
		})
	}
}

// A document of 400 bytes and one of 2 KB, and the largest events of a Responses stream: its first
// and last repeat the instructions and the tools.
func BenchmarkMeterWhole(b *testing.B) {
	run := func(name string, meter func() Meter, body string) {
		b.Run(name, func(b *testing.B) {
			p := []byte(body)
			b.SetBytes(int64(len(p)))
			b.ReportAllocs()
			for b.Loop() {
				m := meter()
				m.Write(p)
				if !m.Report().Terminal {
					b.Fatal("no end")
				}
			}
		})
	}
	for dialect, body := range answersOf400 {
		run(dialect+" 400 B", func() Meter { return meters[dialect](Turn, false) }, body)
	}
	text := strings.Repeat("word ", 380)
	run("chat 2 KB", func() Meter { return newChatMeter(Turn, false) },
		`{"id":"c","model":"g","choices":[{"index":0,"message":{"content":"`+text+`"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":400}}`)
	tool := `{"type":"function","name":"shell","description":"` + text[:900] + `","parameters":{"type":"object","properties":{"command":{"type":"array","items":{"type":"string"}}}}}`
	run("responses 60 KB end", func() Meter { return newResponsesMeter(Turn, true) },
		"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"model\":\"g\",\"tools\":["+
			strings.Repeat(tool+",", 59)+tool+"],\"usage\":{\"input_tokens\":9,\"output_tokens\":400}}}\n\n")
	for name := range compressors {
		event := deltaOf200(deltas["anthropic"].event)
		coded := strings.Join(compress(b, name, append(strings.SplitAfter(strings.Repeat(event, 500), "\n\n"), "event: message_stop\ndata: {}\n\n")...), "")
		run(name+" 100 KB stream", func() Meter { return Decoding(newAnthropicMeter(Turn, true), coding(name)) }, coded)
	}
}
