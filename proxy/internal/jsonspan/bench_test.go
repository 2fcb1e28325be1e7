package jsonspan_test

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

var benchSizes = []struct {
	name string
	size int
}{{"2KB", 2 << 10}, {"100KB", 100 << 10}, {"1MB", 1 << 20}}

// benchLevels is as deep as the dialects look.
func benchLevels(name []byte) int {
	switch string(name) {
	case "messages":
		return 4
	case "system", "tools":
		return 2
	}
	return 0
}

func BenchmarkScan(b *testing.B) {
	for _, c := range benchSizes {
		b.Run(c.name, func(b *testing.B) {
			body := agentBody(c.size)
			var d jsonspan.Doc
			if err := d.Scan(body, benchLevels); err != nil { // makes room for the index
				b.Fatal(err)
			}
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if err := d.Scan(body, benchLevels); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkJSONText checks the same bodies with the same strictness, and indexes nothing.
func BenchmarkJSONText(b *testing.B) {
	for _, c := range benchSizes {
		b.Run(c.name, func(b *testing.B) {
			body := agentBody(c.size)
			r := bytes.NewReader(nil)
			d := jsontext.NewDecoder(r)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				r.Reset(body)
				d.Reset(r)
				if err := d.SkipValue(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
