package contrib

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
)

func init() { Register("http", newHTTP) }

// An httpService contributor posts the Session as JSON to a service and takes
// its answer's messages: {"messages":[{"role":"user","text":"…"}]} or the bare
// list. Only the status 200 is an answer; redirects are not followed. It keeps
// no connection: it is called once per epoch, and a kept one would outlive the
// configuration it came from. HTTP_PROXY and its kin count, save for loopback.
type httpService struct {
	transport http.RoundTripper
	url       string
	shown     string // url without its query, for errors
	header    http.Header
	maxBytes  int
}

func newHTTP(c Config) (Contributor, error) {
	if err := c.allow("url", "headers", "forward_headers"); err != nil {
		return nil, err
	}
	u, err := serviceURL(c.URL)
	if err != nil {
		return nil, err
	}
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}, "User-Agent": {"preface"}}
	for _, name := range sortedKeys(c.Headers) {
		if err := checkSentHeader(name, c.Headers[name]); err != nil {
			return nil, err
		}
		h.Set(name, c.Headers[name])
	}
	return &httpService{newTransport(), u.String(), shownURL(u), h, c.MaxBytes}, nil
}

// serviceURL parses the url of an http contributor. Its errors do not quote
// it: it may hold a password.
func serviceURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return nil, errors.New("cannot use url: it is no URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, errors.New("cannot use url: want http:// or https:// and a host")
	case u.User != nil:
		return nil, errors.New("cannot use url with user and password: send them in headers")
	}
	return u, nil
}

func shownURL(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// newTransport is used without an http.Client: one exchange is wanted, without
// redirects.
func newTransport() http.RoundTripper {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment, // never for loopback
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

func (h *httpService) Contribute(ctx context.Context, s Session, list []Message) ([]Message, error) {
	body, err := h.post(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("cannot get messages from %s: %w", h.shown, err)
	}
	given, err := parseAnswer(body)
	if err != nil {
		return nil, fmt.Errorf("cannot use the answer of %s: %w", h.shown, err)
	}
	return append(list, given...), nil
}

// post returns the body of the service's answer.
func (h *httpService) post(ctx context.Context, s Session) ([]byte, error) {
	asked, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(asked))
	if err != nil {
		return nil, errors.New("the url is no URL")
	}
	req.Header = h.header.Clone()
	resp, err := h.transport.RoundTrip(req)
	if err != nil {
		return nil, quotable(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d, want 200", resp.StatusCode)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, int64(h.maxBytes)+1))
	if err != nil {
		return nil, quotable(err)
	}
	if len(b) > h.maxBytes {
		return nil, tooLong(h.maxBytes)
	}
	return b, nil
}

// quotable returns err if its text is known to hold nothing of the answer:
// net/http quotes the line that it cannot read.
func quotable(err error) error {
	var op *net.OpError
	var cert *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	switch {
	case errors.As(err, &op):
		return op
	case errors.As(err, &cert):
		return cert
	case errors.As(err, &noTLS):
		return noTLS
	}
	for _, known := range []error{context.Canceled, context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, known) {
			return known
		}
	}
	return errors.New("no usable HTTP answer")
}
