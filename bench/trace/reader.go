package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// A Reader reads the requests of one trace. It is not safe for use by several
// goroutines at once.
type Reader struct {
	info  Info
	lines *lines
	from  format
	queue []Request // of the line, or lines, read last
	at    int       // the next one in queue
	err   error     // what every further Next returns
	close func() error
}

// Info describes a trace.
type Info struct {
	Name   string // the file's, without its folder
	Format string // e.g. "cc-traces"; formats lists them
	Read   int64  // bytes read so far, of Size; for a progress line
	Size   int64  // bytes in all, as stored; 0 if that is not known
}

// A format reads one kind of trace. next returns the requests of the next
// session, or of a part of one; io.EOF at the end.
type format interface {
	next(l *lines) ([]Request, error)
}

// A Fault is a place of a trace that cannot be read.
type Fault struct {
	File   string
	Line   int // counted from 1; 0 if the file has no lines
	Reason string
}

func (f *Fault) Error() string {
	if f.Line == 0 {
		return f.File + ": " + f.Reason
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Reason)
}

// Sample is the name under which Open knows the generated sample.
const Sample = "sample"

// Open opens a trace, packed by gzip or not, and finds its format from its
// beginning: cc-traces, Mooncake, TraceLab rounds, or a header log of Preface
// (SQLite). "" and "sample" are a small generated one.
func Open(path string) (*Reader, error) {
	if path == "" || path == Sample {
		return NewReader(bytes.NewReader(sample()), Sample)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the trace (-trace): %w", err)
	}
	if isLog(f) {
		_ = f.Close() // nothing was written to it
		return openLog(path)
	}
	r, err := newReader(f, filepath.Base(path))
	if err != nil {
		_ = f.Close() // err says more
		return nil, err
	}
	if stat, err := f.Stat(); err == nil {
		r.info.Size = stat.Size()
	}
	r.close = f.Close
	return r, nil
}

// NewReader reads a trace of lines, packed or not. name is for messages and Info.
func NewReader(src io.Reader, name string) (*Reader, error) { return newReader(src, name) }

func newReader(src io.Reader, name string) (*Reader, error) {
	count := &counter{from: src}
	packed := bufio.NewReaderSize(count, 64<<10)
	plain := packed
	if magic, _ := packed.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(packed)
		if err != nil {
			return nil, &Fault{File: name, Reason: "it begins as gzip does and is none: " + err.Error()}
		}
		plain = bufio.NewReaderSize(z, 64<<10)
	}
	r := &Reader{info: Info{Name: name}, lines: &lines{name: name, from: plain, count: count}}
	var err error
	r.from, r.info.Format, err = detect(r.lines)
	return r, err
}

// Next reads a request into q, whose Runs are good until the next call. It
// returns io.EOF at the end, and a *Fault where the trace cannot be read.
func (r *Reader) Next(q *Request) error {
	for r.at == len(r.queue) && r.err == nil {
		r.at = 0
		r.queue, r.err = r.from.next(r.lines)
	}
	if r.at == len(r.queue) {
		return r.err
	}
	*q = r.queue[r.at]
	r.at++
	return nil
}

// Info describes the trace, with how much of it was read.
func (r *Reader) Info() Info {
	i := r.info
	if r.lines != nil {
		i.Read = r.lines.count.n
	}
	return i
}

// Close closes the file.
func (r *Reader) Close() error {
	if r.close == nil {
		return nil
	}
	err := r.close()
	r.close = nil
	return err
}

// lines are the lines of a trace, with their numbers.
type lines struct {
	name  string
	from  *bufio.Reader
	count *counter
	n     int    // of the line read last
	held  []byte // the next line, read ahead
	buf   []byte
}

// longestLine bounds a line: a session of a day has some megabytes.
const longestLine = 64 << 20

// next returns the next line that is not empty, until the next call; io.EOF at
// the end.
func (l *lines) next() ([]byte, error) {
	if b := l.held; b != nil {
		l.held = nil
		return b, nil
	}
	for {
		b, err := l.read()
		if len(bytes.TrimSpace(b)) > 0 {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// read reads one line. What stands before the end of the file without a line
// feed is one; what stands before an error is not.
func (l *lines) read() ([]byte, error) {
	l.buf = l.buf[:0]
	l.n++
	for {
		part, err := l.from.ReadSlice('\n')
		l.buf = append(l.buf, part...)
		switch {
		case len(l.buf) > longestLine:
			return nil, l.fault("a line of more than %d MiB", longestLine>>20)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			return l.buf, io.EOF
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nil, l.fault("the file ends in the middle: it is cut off")
		case err != nil:
			return nil, l.fault("cannot read on: %v", err)
		}
		return l.buf, nil
	}
}

// peek returns the next line and leaves it to be read.
func (l *lines) peek() ([]byte, error) {
	b, err := l.next()
	l.held = b
	return b, err
}

// fault is one of the line read last.
func (l *lines) fault(reason string, args ...any) error {
	return &Fault{File: l.name, Line: l.n, Reason: fmt.Sprintf(reason, args...)}
}

// A counter counts what is read through it.
type counter struct {
	from io.Reader
	n    int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}
