package faulttest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// A promise is the number of one of I1 to I12.
type promise int

const promises = 12

func (p promise) String() string { return fmt.Sprint("I", int(p)) }

// judgedBy says for each promise what a soak judges, and by what.
var judgedBy = [promises + 1]string{
	1:  "requests that arrived whole or in part: their slot against the log, read past the replicas, before anything is answered",
	2:  "requests that arrived: bytes and place of the slot against the session's first request, over all replicas and lives",
	3:  "requests that arrived: the body without the slot against the client's body; and each replica's own count",
	4:  "sessions and requests in the end: what was ever used is in the log, no record is missing but a killed replica's last, the log verifies",
	5:  "sessions in the end: one key and one anchor in the log, herds on all replicas among them",
	6:  "requests and answers: the slot was composed for this session, the credential is its tenant's, no other tenant's canary; and prefixes in the log",
	7:  "clients that left before or in the answer: the provider's request ended within " + followBound.String(),
	8:  "answers: what ends cleanly has its last event, was sent whole, and is byte for byte what the provider sent",
	9:  "requests that arrived whole or in part: each at most once for one try of a client",
	10: "tries: over within " + waitBound.String() + "; replicas: calm and as large as before in the end, no series that keeps rising",
	11: "response records: usage is what the provider sent with this answer, and unknown only if the answer broke off",
	12: "error answers, output, pages, records, anchors, blobs and the server's files: no client's credential or words",
}

// counters count for each promise how often it was judged and found broken.
type counters struct {
	mu     sync.Mutex // guards the following
	judged [promises + 1]int
	broken [promises + 1]int
	said   []string
}

// saidEach bounds how many violations of one promise are told.
const saidEach = 3

// judge counts a verdict on a promise: err tells how it was broken, nil that it
// was kept.
func (c *counters) judge(p promise, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.judged[p]++
	if err == nil {
		return
	}
	if c.broken[p]++; c.broken[p] <= saidEach {
		c.said = append(c.said, fmt.Sprintf("%v: %v", p, err))
	}
}

// violations is how often a promise was found broken.
func (c *counters) violations(p promise) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken[p]
}

// verdict is nil if every promise was judged and none was broken.
func (c *counters) verdict() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, text := range c.said {
		errs = append(errs, errors.New(text))
	}
	for p := promise(1); p <= promises; p++ {
		if c.judged[p] == 0 {
			errs = append(errs, fmt.Errorf("%v: nothing came that would show it", p))
		}
	}
	return errors.Join(errs...)
}

// table is the counters as text.
func (c *counters) table() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%-8s %10s %8s  %s\n", "promise", "violations", "judged", "judged are")
	for p := promise(1); p <= promises; p++ {
		fmt.Fprintf(&b, "%-8v %10d %8d  %s\n", p, c.broken[p], c.judged[p], judgedBy[p])
	}
	return b.String()
}

// unless is nil if ok, and else the error that the rest says.
func unless(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}
