package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// A reader reads the events of one answer.
type reader interface {
	// event takes an event, and reports whether it was the last.
	event(name string, data []byte) (last bool, err error)
	// answer is what was read, once the last event was.
	answer() answer
}

// call makes the next call of a class and takes it into the agent's record.
func (a *Agent) call(class, path string, body []byte) *Call {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counts[class]++
	c := &Call{
		ID:    fmt.Sprintf("%s/%s-%d", a.cfg.Name, class, a.counts[class]),
		Agent: a.cfg.Name, Session: a.cfg.Session, Class: class, Path: path, Body: body, Resume: a.signal,
	}
	if a.signal == "1" {
		if class == ClassTurn {
			a.signal = ""
		} else {
			c.Resume = ""
		}
	}
	a.calls = append(a.calls, c)
	return c
}

// send makes a call and reads the answer. A nil reader takes an answer that is
// one document.
func (a *Agent) send(ctx context.Context, c *Call, r reader) (answer, error) {
	got, err := a.exchange(ctx, c, r)
	if err != nil {
		c.Err = err
		return answer{}, fmt.Errorf("agent %s: cannot complete %s: %w", a.cfg.Name, c.ID, err)
	}
	return got, nil
}

func (a *Agent) exchange(ctx context.Context, c *Call, r reader) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.address()+c.Path, bytes.NewReader(c.Body))
	if err != nil {
		return answer{}, err
	}
	a.setHeader(req.Header, c)
	if a.cfg.OnSend != nil {
		a.cfg.OnSend(c)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	c.Status, c.Header = resp.StatusCode, resp.Header
	if c.Status != http.StatusOK || r == nil {
		c.Answer, err = io.ReadAll(resp.Body)
		if c.Status != http.StatusOK {
			err = &StatusError{c.Status, c.Answer}
		}
		return answer{}, err
	}
	if c.Answer, err = readEvents(resp.Body, a.cfg.Kind == Codex, r.event); err != nil {
		return answer{}, err
	}
	return r.answer(), nil
}

func (a *Agent) setHeader(h http.Header, c *Call) {
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "text/event-stream")
	h.Set(IDHeader, c.ID)
	a.format.header(a, h)
	if c.Resume != "" {
		h.Set("X-Preface-Resume", c.Resume)
	}
	for name, values := range a.cfg.Header {
		h[name] = values
	}
}

// readEvents reads a stream of events and calls f with each until f says that
// one was the last; then it leaves at once, or reads to the end. raw is all that
// was read. A line ends in LF or CRLF; a lone CR, which the standard allows and
// no provider sends, is text here.
func readEvents(body io.Reader, leave bool, f func(name string, data []byte) (bool, error)) (raw []byte, err error) {
	var all bytes.Buffer
	e := &events{rest: io.TeeReader(body, &all)}
	for {
		name, data, err := e.next()
		if errors.Is(err, io.EOF) {
			return all.Bytes(), ErrCut
		}
		if err != nil {
			return all.Bytes(), err
		}
		last, err := f(name, data)
		if err != nil {
			return all.Bytes(), err
		}
		if last && !leave {
			_, err = io.Copy(io.Discard, e.rest) // what comes is in all
		}
		if last {
			return all.Bytes(), err
		}
	}
}

// events splits a stream.
type events struct {
	rest io.Reader
	buf  []byte // read and not used
	room [4096]byte
}

// next returns the next event that has data.
func (e *events) next() (name string, data []byte, err error) {
	for {
		line, err := e.line()
		if err != nil {
			return "", nil, err
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(line) > 0 && string(field) == "event":
			name = string(value)
		case len(line) > 0 && string(field) == "data":
			data = append(data, value...)
		case len(line) == 0 && len(data) > 0:
			return name, data, nil
		case len(line) == 0:
			name = ""
		}
	}
}

// line returns the next line without its end. It reads no further than it must:
// what follows may take long to come.
func (e *events) line() ([]byte, error) {
	for {
		if line, rest, ok := bytes.Cut(e.buf, []byte("\n")); ok {
			e.buf = rest
			return bytes.TrimSuffix(line, []byte("\r")), nil
		}
		n, err := e.rest.Read(e.room[:])
		e.buf = append(e.buf, e.room[:n]...)
		if err != nil && n == 0 {
			return nil, err
		}
	}
}
