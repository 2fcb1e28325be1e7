package provider

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// admit chooses the fault and checks the credential.
func (p *Provider) admit(x *exchange, r *http.Request) *apiError {
	var err error
	if x.fault, err = p.chooseFault(x.at.turn, r); err != nil {
		return refuse("x-provider-fault: %v", err)
	}
	key := credential(x.header)
	if key == "" && !x.at.open {
		return x.at.unauthorized()
	}
	x.tenant = TenantOf(key)
	return nil
}

func (p *Provider) chooseFault(turn bool, r *http.Request) (Fault, error) {
	n, standing := 0, Fault{}
	if turn {
		p.mu.Lock()
		p.turns++
		n, standing = p.turns, p.fault
		p.mu.Unlock()
	}
	if h := r.Header.Get("x-provider-fault"); h != "" {
		return ParseFault(h)
	}
	if turn && p.opt.Fault != nil {
		if f := p.opt.Fault(n, r); !f.IsZero() {
			return f, nil
		}
	}
	return standing, nil
}

// readBody reads the body whole, slowly if the fault says so.
func (p *Provider) readBody(x *exchange, r *http.Request) ([]byte, error) {
	var body io.Reader = http.MaxBytesReader(x.w, r.Body, p.opt.MaxBody)
	if x.fault.ReadRate > 0 {
		body = &slowReader{body, x}
	}
	return io.ReadAll(body)
}

// A slowReader passes on a tenth of a second's share ten times a second.
type slowReader struct {
	io.Reader
	x *exchange
}

func (s *slowReader) Read(b []byte) (int, error) {
	const part = 10
	if err := s.x.wait(time.Second / part); err != nil {
		return 0, err
	}
	return s.Reader.Read(b[:min(len(b), max(1, s.x.fault.ReadRate/part))])
}

// decode undoes the content coding of a request body.
func decode(body []byte, coding string, most int64) ([]byte, *apiError) {
	var r io.Reader
	var err error
	switch coding = strings.ToLower(strings.TrimSpace(coding)); coding {
	case "", "identity":
		return body, nil
	case "gzip":
		r, err = gzip.NewReader(bytes.NewReader(body))
	case "zstd":
		r, err = zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1))
	default:
		return nil, &apiError{status: 415, message: fmt.Sprintf("unsupported content-encoding %q", coding)}
	}
	if err != nil {
		return nil, refuse("cannot decode the request body: %v", err)
	}
	if c, ok := r.(*zstd.Decoder); ok {
		defer c.Close()
	}
	out, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, refuse("cannot decode the request body: %v", err)
	}
	if int64(len(out)) > most {
		return nil, &apiError{status: 413, message: "Request exceeds the maximum size"}
	}
	return out, nil
}
