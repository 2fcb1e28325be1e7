package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// scan indexes the body and reads what the dialect needs of it.
func (x *exchange) scan() error {
	if err := x.decode(); err != nil {
		return err
	}
	x.recall()
	if err := x.index(); err != nil {
		reason := "malformed"
		var e *jsonspan.Error
		if errors.As(err, &e) {
			reason = "malformed_" + e.Reason
		}
		return x.malformed(reason, err)
	}
	x.facts.Outlined = x.endpoint == dialect.Turn && x.gen.cfg.Usage.Account == On
	if err := x.dialect.Read(&x.doc, x.endpoint, &x.facts); err != nil {
		return x.malformed("not_"+x.dialect.Name(), err)
	}
	return nil
}

// index scans the body, from where it differs from what it repeats.
func (x *exchange) index() error {
	depth := x.gen.depths[x.dialect.Name()]
	if x.last == nil {
		return x.doc.Scan(x.body, depth)
	}
	return x.doc.Rescan(x.body, depth, x.last.index, x.same)
}

func (x *exchange) malformed(reason string, err error) error {
	return &refusal{kind: dialect.ErrInvalid, reason: reason,
		msg: fmt.Sprintf("cannot read the request body as %s: %v", x.dialect.Name(), err)}
}

// decode sets x.body: the body as it came or, if it is compressed, what it
// holds. A body that cannot be read so is no error of the provider's kind, so
// it is for the policy to decide about.
func (x *exchange) decode() error {
	x.body = x.raw
	coding := x.head.get("content-encoding")
	if len(coding) == 0 || is(coding, "identity") {
		return nil
	}
	limit := x.gen.cfg.Limits.Body
	body, err := inflate(coding, x.raw, limit)
	switch {
	case errors.Is(err, errInflated):
		return &refusal{kind: dialect.ErrTooLarge, reason: "body_limit",
			msg: fmt.Sprintf("the request body holds more than %d bytes when decompressed (limits.body)", limit)}
	case err != nil:
		return &refusal{kind: dialect.ErrInvalid, reason: "content_encoding",
			msg: fmt.Sprintf("cannot decompress the request body: %v", err)}
	}
	x.body, x.coded = body, true
	return nil
}

var (
	errInflated = errors.New("too large when decompressed")
	errCoding   = errors.New("unknown content-encoding: want zstd, gzip or deflate")
)

// inflate decompresses a body of at most limit bytes. The result is new.
func inflate(coding, body []byte, limit int) ([]byte, error) {
	r, err := inflater(coding, body, limit)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	out, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	switch {
	case len(out) > limit || errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeExceeded):
		return nil, errInflated
	case err != nil:
		return nil, errors.New("the data is damaged")
	}
	return out, nil
}

func inflater(coding, body []byte, limit int) (io.ReadCloser, error) {
	src := bytes.NewReader(body)
	switch {
	case is(coding, "gzip") || is(coding, "x-gzip"):
		return gzip.NewReader(src)
	case is(coding, "deflate"):
		return zlib.NewReader(src)
	case is(coding, "zstd"):
		d, err := zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(limit)+1<<20))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return nil, errCoding
}
