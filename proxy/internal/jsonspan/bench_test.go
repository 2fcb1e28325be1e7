package jsonspan_test

import (
	"bytes"
	"strings"
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

// BenchmarkScanText scans 1 MB of one string: what the insides of strings cost by
// what is in them.
func BenchmarkScanText(b *testing.B) {
	texts := []struct{ name, text string }{
		{"English", `The quick brown fox jumps over the lazy dog, and then it goes home again.\n`},
		{"French", `Dégât évident à l'été, où ça coûte peu, mais la forêt reste belle. `},
		{"Chinese", `这是一个测试，我们需要修改文件。\n`},
		{"ChineseEscaped", `\u8fd9\u662f\u4e00\u4e2a\u6d4b\u8bd5\uff0c\u6211\u4eec\n`},
		{"JSON", `{\"path\":\"/src/a.go\",\"limit\":12}`},
		{"JSONInJSON", `{\\\"path\\\":\\\"/src/a.go\\\",\\\"limit\\\":12}`},
	}
	for _, c := range texts {
		b.Run(c.name, func(b *testing.B) {
			body := []byte(`{"a":"` + strings.Repeat(c.text, 1<<20/len(c.text)) + `"}`)
			var d jsonspan.Doc
			b.SetBytes(int64(len(body)))
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

// BenchmarkRescan is the scan of a conversation's next request, with one more
// turn than the one before, and of one that is the same.
func BenchmarkRescan(b *testing.B) {
	for _, c := range benchSizes {
		body := agentBody(c.size)
		next := bytes.Replace(body, []byte(`],"metadata"`), []byte(`,{"role":"assistant","content":"done"},{"role":"user","content":"go on"}],"metadata"`), 1)
		for _, r := range []struct {
			name string
			body []byte
		}{{"next", next}, {"same", body}} {
			b.Run(c.name+"/"+r.name, func(b *testing.B) {
				var d jsonspan.Doc
				if err := d.Scan(body, benchLevels); err != nil {
					b.Fatal(err)
				}
				index, same := d.Index(), common(body, r.body)
				b.SetBytes(int64(len(r.body)))
				b.ReportAllocs()
				for b.Loop() {
					if err := d.Rescan(r.body, benchLevels, index, same); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
