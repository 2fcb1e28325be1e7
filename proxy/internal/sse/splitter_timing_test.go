package sse

import (
	"bytes"
	"strings"
	"testing"
)

// event200 is a delta event of 200 bytes.
var event200 = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"" +
	strings.Repeat("x", 86) + "\"}}\n\n"

func BenchmarkSplitter(b *testing.B) {
	none := func([]byte) bool { return false }
	run := func(name string, want func([]byte) bool, eol string, chunk int) {
		b.Run(name, func(b *testing.B) {
			event := strings.ReplaceAll(event200, "\n", eol)
			stream := bytes.Repeat([]byte(event), 80*16)
			s := Splitter{Want: want}
			b.SetBytes(int64(len(stream)))
			b.ReportAllocs()
			for b.Loop() {
				for p := stream; len(p) > 0; {
					n := min(chunk, len(p))
					s.Feed(p[:n], func(Event) {})
					p = p[n:]
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(80*16), "ns/event")
		})
	}
	run("unwanted/16k", none, "\n", 16<<10)
	run("wanted/16k", nil, "\n", 16<<10)
	run("wanted/crlf/16k", nil, "\r\n", 16<<10)
	run("unwanted/each", none, "\n", len(event200))
	run("wanted/each", nil, "\n", len(event200))
	run("unwanted/77", none, "\n", 77)
	run("wanted/77", nil, "\n", 77)
}
