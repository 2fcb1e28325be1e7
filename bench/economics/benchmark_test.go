package economics

import (
	"strings"
	"testing"
)

// BenchmarkSimulate is nine strategies at four providers over as many requests as
// the public trace of agents' sessions has.
func BenchmarkSimulate(b *testing.B) {
	list := sessions(2800, 1)
	for _, c := range []struct {
		name string
		o    Options
	}{
		{"one", Options{Providers: []string{"anthropic"}, Lifetimes: []string{"5m"}, Strategies: []string{Frozen}, RowsOnly: true}},
		{"rows", Options{Providers: strings.Split("anthropic,openai,openai-before-5.6,gemini", ","), RowsOnly: true}},
		{"marks", Options{Providers: strings.Split("anthropic,openai,openai-before-5.6,gemini", ","), Marks: MarksClient, RowsOnly: true}},
		{"studies", Options{Providers: strings.Split("anthropic,openai,openai-before-5.6,gemini", ",")}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				mustSimulate(b, list, c.o)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(list)), "ns/request")
		})
	}
}
