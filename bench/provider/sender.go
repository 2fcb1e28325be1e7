package provider

import (
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"time"

	"github.com/klauspost/compress/zstd"
)

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
		length = max(0, length)
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
	s.out.flush()
	if errors.Is(err, errCut) && s.x.fault.Cut == CutRST {
		s.x.tap.reset()
	}
	s.out.abort()
	return false
}
