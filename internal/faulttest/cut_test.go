package faulttest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/logsink"
)

// usageFrom is what must have passed of a stream before its usage is known.
var usageFrom = map[string]string{
	"anthropic": `"input_tokens"`, "openai-chat": `"prompt_tokens"`, "openai-responses": `"input_tokens"`,
}

// TestI8_CutAtEveryByte: the provider breaks off after every byte of a stream,
// by closing and by reset. No client takes what it got for a whole answer, what
// it got is what was sent, and usage is recorded only if it had been said.
func TestI8_CutAtEveryByte(t *testing.T) {
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			st := newStage(t)
			p := st.start()
			whole := st.say(p, newSession(f, "whole", true))
			step := 1
			if testing.Short() {
				step = 37
			}
			cuts := &cutting{stage: st, p: p, form: f, step: int64(step), until: int64(len(whole.answer))}
			if cuts.until < 1200 {
				t.Errorf("the stream has %d bytes, want about 2 KiB", cuts.until)
			}
			cuts.run()
			p.stop()
			cuts.check()
			st.verify(false)
		})
	}
}

// TestI8_ReadsOfAnySize: the sizes of the provider's writes mean nothing. Each
// write comes when the client has had all before it, so that it is one read.
func TestI8_ReadsOfAnySize(t *testing.T) {
	sizes := []int{16}
	for n := 256; n <= 64<<10; n *= 2 {
		sizes = append(sizes, n-1, n, n+1, n)
	}
	had := make(chan bool)
	up := startRaw(t, func(c net.Conn, _ *rawRequest) bool {
		_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
		for _, n := range sizes {
			if err == nil {
				_, err = c.Write(chunkOf(n))
			}
			<-had
		}
		_, _ = io.WriteString(c, "0\r\n\r\n") // the client sees if it fails
		return err == nil
	})
	st := newStage(t, func(st *stage) { st.upstream = up.url })
	p := st.start()
	for _, f := range forms {
		c := talk(t, p.agents, newSession(f, "s", true).newTry(1).text())
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range sizes {
			if _, err := io.CopyN(io.Discard, resp.Body, int64(bytes.Count(chunkOf(n), []byte("d")))); err != nil {
				t.Errorf("I8: %s: a write of %d bytes: %v", f.name, n, err)
			}
			had <- true
		}
		if n, err := io.Copy(io.Discard, resp.Body); n > 0 || err != nil {
			t.Errorf("I8: %s: %d bytes too many, %v", f.name, n, err)
		}
		resp.Body.Close()
	}
	p.stop()
}

// chunkOf is a chunk that takes n bytes with its framing.
func chunkOf(n int) []byte {
	for d := n - 5; d > 0; d-- {
		if c := fmt.Appendf(nil, "%x\r\n%s\r\n", d, strings.Repeat("d", d)); len(c) == n {
			return c
		}
	}
	return fmt.Appendf(nil, "0%x\r\n%s\r\n", n-8, strings.Repeat("d", n-8))
}

// A cutting cuts one stream at every step-th byte.
type cutting struct {
	*stage
	p     *child
	form  *form
	step  int64
	until int64 // length of the stream
	at    atomic.Int64
}

func (c *cutting) run() {
	var clients sync.WaitGroup
	for i := range 4 {
		clients.Go(func() {
			client := newClient()
			defer leave(client)
			for {
				k := (c.at.Add(1) - 1) * c.step
				if k >= c.until {
					return
				}
				c.cut(client, i, k)
			}
		})
	}
	clients.Wait()
}

func (c *cutting) cut(client *http.Client, agent int, k int64) {
	how := []provider.Cut{provider.CutFIN, provider.CutRST}[k%2]
	s := newSession(c.form, fmt.Sprint("cut-", agent), true)
	s.header = []string{"x-provider-fault", fmt.Sprintf("cut=%s@%d", how, k)}
	t := s.newTry(1)
	c.trail.add(t)
	t.send(client, c.p.agents)
	if t.looksWhole() {
		c.t.Errorf("I8: cut=%s@%d: the client took %d bytes for a whole answer", how, k, len(t.answer))
	}
}

// check compares what clients got, what was sent, and what was recorded.
func (c *cutting) check() {
	c.trail.checkArrivals()
	arrived, recorded := c.trail.arrivals(), c.responses()
	unknown := 0
	for _, t := range c.trail.all(0) {
		sent := arrived[t.id][0].Answer
		if !bytes.HasPrefix(sent, t.answer) {
			c.t.Errorf("I8: the client got %q, sent was %q", t.answer, sent)
		}
		if t.of.id == "whole" || t.status != 200 {
			continue
		}
		r := recorded[t.requestID]
		switch said := c.saidUsage(sent); {
		case r == nil:
			c.t.Errorf("I4: %s has no response record", t.id)
		case r.Usage != nil && !said:
			c.t.Errorf("I11: usage %+v was recorded of %q", r.Usage, sent)
		case r.Usage == nil:
			unknown++
		case r.End == logsink.EndComplete && !strings.Contains(string(sent), t.of.last):
			c.t.Errorf("I8: recorded as complete: %q", sent)
		}
	}
	if unknown == 0 {
		c.t.Errorf("every cut stream had its usage")
	}
}

func (c *cutting) saidUsage(sent []byte) bool {
	return bytes.Contains(sent, []byte(usageFrom[c.form.name]))
}
