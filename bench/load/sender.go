package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/valyala/fasthttp"
)

// A sender sends one request again and again on a connection of its own; it is
// for one goroutine.
type sender struct {
	t       *target
	stream  bool
	timeout time.Duration
	req     fasthttp.Request
	resp    fasthttp.Response

	conn  net.Conn // nil until the first request, and after a failure
	in    *bufio.Reader
	out   *bufio.Writer
	first time.Time // when the first byte of the current answer came, or zero
}

func (o Options) sender(t *target, session string, stream bool) *sender {
	s := &sender{t: t, stream: stream, timeout: o.Timeout, in: bufio.NewReaderSize(nil, 16<<10), out: bufio.NewWriterSize(nil, 16<<10)}
	h := &s.req.Header
	h.SetMethod(fasthttp.MethodPost)
	h.SetContentType("application/json")
	s.req.SetRequestURI(t.url.String())
	s.req.URI().DisablePathNormalizing = true
	if o.Format == "anthropic" {
		h.Set("x-api-key", o.Key)
		h.Set("anthropic-version", "2023-06-01")
	} else {
		h.Set("authorization", "Bearer "+o.Key)
	}
	h.Set(o.SessionHeader, session)
	for _, line := range o.Headers {
		name, value, _ := strings.Cut(line, ":")
		h.Set(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	s.req.SetBodyRaw(t.format.request(o.Model, o.Size, stream))
	return s
}

// connect opens the connection, if it is not.
func (s *sender) connect(ctx context.Context) error {
	if s.conn != nil {
		return nil
	}
	c, err := s.t.dial(ctx)
	if err != nil {
		return err
	}
	s.conn = c
	s.in.Reset(s)
	s.out.Reset(c)
	return nil
}

func (s *sender) close() {
	if s.conn != nil {
		s.t.hangUp(s.conn)
		s.conn = nil
	}
}

// Read is what the answer is read with; it notes when its first byte came.
func (s *sender) Read(p []byte) (int, error) {
	n, err := s.conn.Read(p)
	if n > 0 && s.first.IsZero() {
		s.first = time.Now()
	}
	return n, err
}

// A reply is what came of a request.
type reply struct {
	first time.Time // when its first byte came
	err   error
}

// send sends the request and reads the whole answer.
func (s *sender) send(ctx context.Context) reply {
	if err := s.exchange(ctx); err != nil {
		s.close()
		return reply{err: errors.New(s.t.without(err.Error()))}
	}
	if s.resp.ConnectionClose() {
		s.close()
	}
	if status := s.resp.StatusCode(); status != fasthttp.StatusOK {
		answer := s.t.without(string(s.resp.Body())) // before it is cut or quoted, which would disguise a secret
		return reply{err: fmt.Errorf("status %d: %q", status, answer[:min(len(answer), 200)])}
	}
	if s.stream && !bytes.Contains(s.resp.Body(), []byte(s.t.format.end)) {
		return reply{err: fmt.Errorf("a stream ended without %q", s.t.format.end)}
	}
	return reply{first: s.first}
}

// maxAnswer bounds what is read of one answer, in bytes.
const maxAnswer = 64 << 20

func (s *sender) exchange(ctx context.Context) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	if err := s.conn.SetDeadline(time.Now().Add(s.timeout)); err != nil {
		return err
	}
	s.first = time.Time{}
	if err := s.req.Write(s.out); err != nil {
		return err
	}
	if err := s.out.Flush(); err != nil {
		return err
	}
	return s.resp.ReadLimitBody(s.in, maxAnswer)
}
