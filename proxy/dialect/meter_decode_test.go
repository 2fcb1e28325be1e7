package dialect

import (
	"bytes"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/molecule-man/go-brrr"
	"go.uber.org/goleak"
)

// A flusher is a compressor as servers use it for streams.
type flusher interface {
	io.WriteCloser
	Flush() error
}

// compressors are keyed by coding; "deflate" has two readings.
var compressors = map[string]func(io.Writer) (flusher, error){
	"gzip":        func(w io.Writer) (flusher, error) { return gzip.NewWriter(w), nil },
	"deflate":     func(w io.Writer) (flusher, error) { return zlib.NewWriter(w), nil },
	"deflate raw": func(w io.Writer) (flusher, error) { return flate.NewWriter(w, flate.BestSpeed) },
	"zstd":        func(w io.Writer) (flusher, error) { return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)) },
	"br":          func(w io.Writer) (flusher, error) { return brrr.NewWriter(w, 4) },
}

// compress codes the parts and flushes after each.
func compress(t testing.TB, name string, parts ...string) []string {
	var b bytes.Buffer
	w, err := compressors[name](&b)
	if err != nil {
		t.Fatal(err)
	}
	var coded []string
	for _, part := range parts {
		if _, err := io.WriteString(w, part); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		coded = append(coded, b.String())
		b.Reset()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return append(coded, b.String())
}

func coding(name string) string { return strings.TrimSuffix(name, " raw") }

func TestDecoding(t *testing.T) {
	defer goleak.VerifyNone(t)
	for name := range compressors {
		for _, r := range recordings(t) {
			f := func(stream bool, parts ...string) {
				t.Helper()
				coded := strings.Join(compress(t, name, parts...), "")
				for _, chunks := range [][]string{{coded}, bytesOf(coded)} {
					m := Decoding(r.meter(Turn, stream), " "+strings.ToUpper(coding(name)))
					feed(m, chunks...)
					if diff := cmp.Diff(r.report, show(m.Report())); diff != "" {
						t.Errorf("%s of %s in %d chunks (-want +got):\n%s", name, r.name, len(chunks), diff)
					}
				}
			}
			f(true, strings.SplitAfter(r.stream, "\n\n")...)
			if r.answer != "" {
				f(false, r.answer)
			}
		}
	}
}

// What a server has flushed is known although the stream has not ended, and each
// report goes on where the last one was.
func TestDecodingSoFar(t *testing.T) {
	for name := range compressors {
		for _, r := range recordings(t) {
			events := strings.SplitAfter(r.stream, "\n\n")
			m, plain := Decoding(r.meter(Turn, true), coding(name)), r.meter(Turn, true)
			for i, coded := range compress(t, name, events...)[:len(events)] {
				feed(m, coded)
				feed(plain, events[i])
				if diff := cmp.Diff(plain.Report(), m.Report()); diff != "" {
					t.Fatalf("%s of %s after event %d (-want +got):\n%s", name, r.name, i, diff)
				}
			}
		}
	}
}

// byteMeter is given the plain bytes.
type byteMeter struct{ got []byte }

func (m *byteMeter) Write(p []byte) { m.got = append(m.got, p...) }
func (m *byteMeter) Report() Report { return Report{} }

func TestDecodingGivesEachByteOnce(t *testing.T) {
	want := strings.Repeat("one and another\n", 50)
	for name := range compressors {
		plain := new(byteMeter)
		m := Decoding(plain, coding(name))
		for _, coded := range compress(t, name, strings.SplitAfter(want, "\n")...) {
			feed(m, coded)
			m.Report()
			m.Report()
		}
		if string(plain.got) != want {
			t.Errorf("%s gave %d bytes in the end, want the %d of the answer", name, len(plain.got), len(want))
		}
	}
}

func TestCaseF1_CutCodedStreamIsNotTerminal(t *testing.T) {
	for name := range compressors {
		for _, r := range recordings(t) {
			coded := compress(t, name, r.stream)
			for i := range len(coded[0]) / 8 {
				m := Decoding(r.meter(Turn, true), coding(name))
				feed(m, coded[0][:i*8])
				if got := m.Report(); got.Terminal || got.Blind {
					t.Fatalf("%s of %s after %d of %d bytes reports %+v, want no end", name, r.name, i*8, len(coded[0]), got)
				}
			}
		}
	}
}

func TestDecodingWithoutACoding(t *testing.T) {
	m := newChatMeter(Turn, true)
	for _, encoding := range []string{"", "identity", " Identity "} {
		if got := Decoding(m, encoding); got != m {
			t.Errorf("Decoding(m, %q) = %T, want m itself", encoding, got)
		}
	}
}

func TestI11_UnknownCodingIsBlind(t *testing.T) {
	for _, encoding := range []string{"compress", "dcb", "gzip, br", "x"} {
		m := Decoding(newChatMeter(Turn, false), encoding)
		if got := m.Report(); !reflect.DeepEqual(got, Report{Blind: true}) {
			t.Errorf("report under %q before any byte = %+v, want a blind one", encoding, got)
		}
		feed(m, `{"usage":{"prompt_tokens":1}}`)
		if got := m.Report(); !reflect.DeepEqual(got, Report{Blind: true}) {
			t.Errorf("report under %q = %+v, want a blind one", encoding, got)
		}
	}
}

func TestI10_CodedAnswersAreBounded(t *testing.T) {
	f := func(what, encoding string, coded ...string) {
		t.Helper()
		m := Decoding(newAnthropicMeter(Turn, true), encoding)
		feed(m, coded...)
		if got := m.Report(); !reflect.DeepEqual(got, Report{Blind: true}) {
			t.Errorf("report of %s = %+v, want a blind one", what, got)
		}
		if n := cap(m.(*codedMeter).body); n > 0 {
			t.Errorf("%s: %d bytes kept, want none", what, n)
		}
	}
	zeros := make([]string, maxDecoded>>20+1)
	for i := range zeros {
		zeros[i] = strings.Repeat("\x00", 1<<20)
	}
	f("a small answer that is large when decoded", "gzip", compress(t, "gzip", zeros...)...)
	noise := make([]byte, maxAnswer+1)
	rand.NewChaCha8([32]byte{1}).Read(noise)
	f("a large answer", "gzip", compress(t, "gzip", string(noise))...)
}

// A zstd window over what a content coding may have is not allocated.
func TestI10_LargeWindow(t *testing.T) {
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithWindowSize(64<<20), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, strings.Repeat("data: x\n\n", 1<<20))
	w.Close()
	m := Decoding(newAnthropicMeter(Turn, true), "zstd").(*codedMeter)
	m.Write(b.Bytes())
	if m.Report(); m.fed != 0 {
		t.Errorf("%d bytes decoded with a window of 64 MiB, want none", m.fed)
	}
}

func FuzzDecoding(f *testing.F) {
	for name := range compressors {
		f.Add(coding(name), []byte(strings.Join(compress(f, name, "data: [DONE]\n\n"), "")), uint8(5))
	}
	f.Fuzz(func(t *testing.T, encoding string, coded []byte, size uint8) {
		if len(coded) > 1<<12 {
			return
		}
		whole, parts := Decoding(newChatMeter(Turn, true), encoding), Decoding(newChatMeter(Turn, true), encoding)
		whole.Write(coded)
		for rest := coded; len(rest) > 0; {
			n := min(len(rest), 200+int(size))
			parts.Write(rest[:n])
			parts.Report()
			rest = rest[n:]
		}
		if diff := cmp.Diff(whole.Report(), parts.Report()); diff != "" {
			t.Errorf("%s of %q in parts of %d (-whole +parts):\n%s", encoding, coded, 200+int(size), diff)
		}
	})
}
