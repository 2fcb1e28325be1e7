package logsink

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkPack packs what the queue gathers in 50 ms of 20,000 requests a
// second from 64 sessions.
func BenchmarkPack(b *testing.B) {
	recs := batchOf(1024, 64)
	b.ReportAllocs()
	for b.Loop() {
		_, lines, err := pack(recs, takeLineBuffer())
		if err != nil {
			b.Fatal(err)
		}
		giveLineBuffer(lines)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(recs)/2), "ns/request")
}

// batchOf returns a request and a response record for each of n requests.
func batchOf(n, sessions int) []Record {
	recs := make([]Record, 0, 2*n)
	for i := range n {
		q, p := sampleRequest(i), sampleResponse(i)
		q.ID = fmt.Sprintf("req_01K9ZQ3W7M4X8N2C6V5B%06d", i)
		q.Session = fmt.Sprintf("0198c5a4-7f2e-7c1b-9d3e-%012d", i%sessions)
		p.ID, p.Key = q.ID, q.Key
		q.Time = q.Time.Add(time.Duration(i))
		recs = append(recs, Record{Request: q}, Record{Response: p})
	}
	return recs
}

func BenchmarkRecent(b *testing.B) {
	r := recent{newer: map[recordID]struct{}{}, older: map[recordID]struct{}{}}
	for i := 0; b.Loop(); i++ {
		h := head{id: "req_01K9ZQ3W7M4X8N2C6V5B", attempt: i}
		r.add(idOf(sessionKey{}, &h))
	}
}
