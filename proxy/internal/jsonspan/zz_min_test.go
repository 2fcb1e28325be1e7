package jsonspan_test

import (
	"fmt"
	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
	"slices"
	"testing"
	"time"
)

func TestMinTime(t *testing.T) {
	for _, c := range benchSizes {
		body := agentBody(c.size)
		var d jsonspan.Doc
		n := max(1, (100<<10)/c.size)
		var ts []float64
		for range 1500 {
			s := time.Now()
			for range n {
				if err := d.Scan(body, benchLevels); err != nil {
					t.Fatal(err)
				}
			}
			ts = append(ts, float64(time.Since(s).Nanoseconds())/float64(n))
		}
		slices.Sort(ts)
		fmt.Printf("%-6s min %.0f ns (%.2f GB/s)  p10 %.0f  p50 %.0f\n", c.name, ts[0], float64(len(body))/ts[0], ts[len(ts)/10], ts[len(ts)/2])
	}
}
