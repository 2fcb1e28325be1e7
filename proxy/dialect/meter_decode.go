package dialect

import (
	"bytes"
	"io"
	"strings"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/molecule-man/go-brrr"
)

// maxDecoded bounds what a coded answer is decoded to, so that a small answer
// cannot cost any amount of time.
const maxDecoded = 64 << 20

// Decoding returns a meter to be fed with an answer in a content coding (the
// value of Content-Encoding), which gives m the plain bytes. Without a coding
// that is m itself; with one that is not known, or a list, the meter is Blind.
//
// The coded bytes are kept, up to a limit, and decoded when Report asks: no
// goroutine and no decoder is tied to the answer, and Write costs a copy. So
// Report is best called once, at the end. The result is never a UsageFilter:
// what would have to be taken out is coded.
func Decoding(m Meter, encoding string) Meter {
	coding := strings.ToLower(strings.TrimSpace(encoding))
	if coding == "" || coding == "identity" {
		return m
	}
	return &codedMeter{plain: m, open: decoders[coding]}
}

// decoders are the content codings that clients offer.
var decoders = map[string]func(*bytes.Reader) (io.ReadCloser, error){
	"gzip":    openGzip,
	"x-gzip":  openGzip,
	"deflate": openDeflate,
	"zstd":    openZstd,
	"br":      openBrotli,
}

// codedMeter decodes an answer for another meter.
type codedMeter struct {
	plain Meter
	open  func(*bytes.Reader) (io.ReadCloser, error) // nil: coding not known

	body   []byte // as coded
	over   bool   // a limit was passed and body let go
	looked int    // length of body when it was decoded last
	fed    int64  // decoded bytes that plain was given
}

func (m *codedMeter) Write(p []byte) {
	if m.open == nil || m.over || len(m.body)+len(p) > maxAnswer {
		m.over, m.body = true, nil
		return
	}
	m.body = append(m.body, p...)
}

// Report decodes from the start if bytes came since the last Report.
func (m *codedMeter) Report() Report {
	if m.looked != len(m.body) {
		m.looked = len(m.body)
		m.decode()
	}
	if m.open == nil || m.over {
		return Report{Blind: true}
	}
	return m.plain.Report()
}

// decode gives plain what it has not seen. A coded answer that is cut or broken
// is decoded up to there.
func (m *codedMeter) decode() {
	r, err := m.open(bytes.NewReader(m.body))
	if err != nil {
		return
	}
	defer r.Close()
	if _, err := io.CopyN(io.Discard, r, m.fed); err != nil {
		return
	}
	n, _ := io.Copy(meterWriter{m.plain}, io.LimitReader(r, maxDecoded-m.fed))
	if m.fed += n; m.fed == maxDecoded {
		m.over, m.body = true, nil
	}
}

// meterWriter lets a Meter be written to like a file.
type meterWriter struct{ m Meter }

func (w meterWriter) Write(p []byte) (int, error) {
	w.m.Write(p)
	return len(p), nil
}

func openGzip(b *bytes.Reader) (io.ReadCloser, error) { return gzip.NewReader(b) }

func openBrotli(b *bytes.Reader) (io.ReadCloser, error) { return brrr.NewReader(b), nil }

// zstdDecoders are kept since each needs as much memory as its window is large.
var zstdDecoders = sync.Pool{New: func() any {
	// Decodes in the caller's goroutine, with the largest window that RFC 9659
	// lets a content coding have.
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(8<<20))
	if err != nil {
		panic("BUG: options of the zstd decoder: " + err.Error())
	}
	return zstdReader{d}
}}

// A zstdReader goes back to the others when it is closed.
type zstdReader struct{ *zstd.Decoder }

func (z zstdReader) Close() error {
	defer zstdDecoders.Put(z)
	return z.Reset(nil)
}

func openZstd(b *bytes.Reader) (io.ReadCloser, error) {
	z := zstdDecoders.Get().(zstdReader)
	return z, z.Reset(b)
}

// openDeflate takes the zlib wrapper that the coding's name means, and the bare
// stream that some servers send for it.
func openDeflate(b *bytes.Reader) (io.ReadCloser, error) {
	if r, err := zlib.NewReader(b); err != zlib.ErrHeader {
		return r, err
	}
	b.Seek(0, io.SeekStart)
	return flate.NewReader(b), nil
}
