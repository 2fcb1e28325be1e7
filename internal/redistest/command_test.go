package redistest

import (
	"bufio"
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadReply(t *testing.T) {
	f := func(in string, want any, wantErr string) {
		t.Helper()
		got, err := readReply(bufio.NewReader(bytes.NewReader([]byte(in))), 0)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("readReply(%q): %s", in, d)
		}
		if (err == nil) != (wantErr == "") || err != nil && err.Error() != wantErr {
			t.Errorf("readReply(%q): error %v, want %q", in, err, wantErr)
		}
	}
	f("+OK\r\n", "OK", "")
	f("-ERR no\r\n", nil, "ERR no")
	f(":-7\r\n", int64(-7), "")
	f("$3\r\nabcd\r\n", nil, "cannot read a string of 3 bytes: it does not end there")
	f("$3\r\n\r\nb\r\n", "\r\nb", "")
	f("$-1\r\n", nil, "")
	f("*2\r\n:1\r\n-EXECABORT\r\n", []any{int64(1), Error("EXECABORT")}, "")
	f("*0\r\n", []any{}, "")
	f("*1\r\n+cut", nil, "EOF")
	f("?\r\n", nil, `cannot read reply line "?\r\n"`)
}

func FuzzReadReply(f *testing.F) {
	f.Fuzz(func(t *testing.T, in []byte) {
		_, _ = readReply(bufio.NewReader(bytes.NewReader(in)), 0)
	})
}
