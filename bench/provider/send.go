package provider

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/klauspost/compress/zstd"
)

var (
	errGone = errors.New("client left")
	errCut  = errors.New("cut on purpose")
)

// wait pauses; it ends early when the client leaves or the provider closes.
func (x *exchange) wait(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-x.tap.gone:
		return errGone
	}
}

func (f Fault) message() string {
	if f.Message != "" {
		return f.Message
	}
	return fmt.Sprintf("simulated status %d", f.Status)
}

// send sends the answer with its faults, and reports whether the connection is
// left in good order.
func (x *exchange) send(a *answer) bool {
	if x.wait(x.fault.Delay) != nil {
		return false
	}
	events, then := shape(a, x.fault, x.at.format)
	s := &sender{x: x, stream: a.stream, out: x.transport(a.stream), cut: -1}
	if x.fault.Cut != CutNone {
		s.cut = x.fault.CutAfter
	}
	if a.begin != nil {
		a.begin()
	}
	x.begin(a)
	err := s.head(a)
	if x.method == "HEAD" {
		events = nil
	}
	for i, data := range events {
		if err == nil && i > 0 {
			err = s.silence(x.fault.Gap)
		}
		if err == nil {
			err = s.event(data)
		}
	}
	return s.end(err, then)
}

// begin notes that the answer begins.
func (x *exchange) begin(a *answer) {
	x.note(func(e *Exchange) {
		e.AnswerAt, e.Status, e.Model = time.Now(), a.status, a.model
		if a.tokens != nil {
			e.Tokens = *a.tokens
		}
	})
	if a.tokens != nil {
		x.p.tally(x.tenant, *a.tokens)
	}
}

// An ending is what comes after the events.
type ending byte

const (
	endWell ending = iota
	endStall
)

// shape applies the faults that choose and spell events.
func shape(a *answer, f Fault, in *format) (events [][]byte, then ending) {
	for _, e := range a.events {
		if f.NoTerminal && a.stream && e.terminal {
			break
		}
		events = append(events, e.data)
	}
	if f.Error && a.stream {
		events = append(events[:min(f.ErrorAfter, len(events))], in.errorEvent)
	}
	if f.Stall {
		events, then = events[:min(f.StallAfter, len(events))], endStall
	}
	if a.stream {
		for i := range events {
			events[i] = lineEnds(events[i], f.LineEnd)
		}
	}
	return events, then
}

// A sender puts events on the wire: coded, cut into writes, and up to the cut.
type sender struct {
	x      *exchange
	stream bool
	out    transport
	coder  flushWriter // nil without coding
	cut    int64       // body bytes until the cut, -1 for none

	random  *rand.Rand // nil if events are the writes
	pending []byte     // not yet cut into writes
	size    int        // of the next write
}

type flushWriter interface {
	io.WriteCloser
	Flush() error
}

// head sends the status and the header, and readies the coding.
func (s *sender) head(a *answer) error {
	f := s.x.fault
	length := int64(-1)
	if !a.stream && f.Encoding == "" {
		length = f.Length
		for _, e := range a.events {
			length += int64(len(e.data))
		}
	}
	if f.Encoding != "" {
		a.header.Set("Content-Encoding", f.Encoding)
		s.coder = newCoder(f.Encoding, (*afterCoding)(s))
	}
	if f.Chunks != 0 {
		s.random = rand.New(rand.NewPCG(uint64(f.Chunks), 0))
		s.size = s.nextSize()
	}
	if err := s.out.start(a.status, a.header, length); err != nil {
		return err
	}
	if s.cut == 0 {
		return errCut
	}
	return nil
}

func newCoder(name string, to io.Writer) flushWriter {
	if name == "gzip" {
		return gzip.NewWriter(to)
	}
	z, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic("BUG: zstd refuses its own defaults: " + err.Error())
	}
	return z
}

// event sends one event.
func (s *sender) event(data []byte) error {
	if s.coder == nil {
		return s.split(data)
	}
	if _, err := s.coder.Write(data); err != nil {
		return err
	}
	return s.coder.Flush()
}

// afterCoding is the sender as its coder sees it.
type afterCoding sender

func (s *afterCoding) Write(p []byte) (int, error) {
	if err := (*sender)(s).split(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// split makes the writes: one for each event, or random ones over them all.
func (s *sender) split(p []byte) error {
	if s.random == nil {
		return s.write(p)
	}
	s.pending = append(s.pending, p...)
	for len(s.pending) >= s.size {
		if err := s.write(s.pending[:s.size]); err != nil {
			return err
		}
		s.pending = s.pending[s.size:]
		s.size = s.nextSize()
	}
	return nil
}

// nextSize is tiny half of the time, so that every border gets cut somewhere.
func (s *sender) nextSize() int {
	if s.random.IntN(2) == 0 {
		return 1 + s.random.IntN(16)
	}
	return 1 + s.random.IntN(4096)
}

func (s *sender) write(p []byte) error {
	cut := s.cut >= 0 && int64(len(p)) >= s.cut
	if cut {
		p = p[:s.cut]
	}
	if s.cut > 0 {
		s.cut -= int64(len(p))
	}
	if err := s.out.write(p); err != nil {
		return err
	}
	s.x.note(func(e *Exchange) {
		e.Answer = append(e.Answer, p...)
		e.AnswerSize += int64(len(p))
	})
	if cut {
		return errCut
	}
	return nil
}

// silence lasts for d, or for ever if d < 0, broken by pings only.
func (s *sender) silence(d time.Duration) error {
	every := s.x.fault.Ping
	if every <= 0 || !s.stream {
		every = 0
	}
	for d != 0 {
		pause := d
		if every > 0 && (d < 0 || every < d) {
			pause = every
		}
		if err := s.pause(pause); err != nil {
			return err
		}
		if d > 0 {
			d -= pause
		}
		if every > 0 && d != 0 {
			if err := s.event(lineEnds(s.x.at.ping, s.x.fault.LineEnd)); err != nil {
				return err
			}
		}
	}
	return nil
}

// pause is wait, but for ever if d < 0.
func (s *sender) pause(d time.Duration) error {
	if d >= 0 {
		return s.x.wait(d)
	}
	<-s.x.tap.gone
	return errGone
}

// end ends the answer as it has to.
func (s *sender) end(err error, then ending) bool {
	if err == nil && then == endStall {
		s.out.flush()
		err = s.silence(-1)
	}
	if err == nil && s.coder != nil {
		err = s.coder.Close()
	}
	if err == nil && len(s.pending) > 0 {
		err = s.write(s.pending)
	}
	if err == nil {
		return s.out.finish() == nil
	}
	if errors.Is(err, errCut) && s.x.fault.Cut == CutRST {
		s.x.tap.reset()
	}
	s.out.abort()
	return false
}
