package agent

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestReadEvents(t *testing.T) {
	f := func(stream string, want ...string) {
		t.Helper()
		var got []string
		raw, err := readEvents(iotest.OneByteReader(strings.NewReader(stream)), false, func(name string, data []byte) (bool, error) {
			got = append(got, name+"="+string(data))
			return string(data) == "end", nil
		})
		if err != nil {
			t.Errorf("readEvents(%q): %v", stream, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("readEvents(%q) (-want +got)\n%s", stream, diff)
		}
		if string(raw) != stream {
			t.Errorf("readEvents(%q) kept %q, want all of it", stream, raw)
		}
	}
	f("data: end\n\n", "=end")
	f("event: a\ndata: 1\n\ndata:end\n\n", "a=1", "=end")
	f("event: a\r\ndata: 1\r\n\r\ndata: end\r\n\r\n", "a=1", "=end")
	f(": comment\n\nevent: a\n\ndata: end\n\n", "=end")
	f("data: en\ndata: d\n\nrest", "=end")
	f("data: end\n\n: more\n\n", "=end")
}

func TestReadEventsLeavesOrFails(t *testing.T) {
	last := func(_ string, data []byte) (bool, error) { return string(data) == "end", nil }
	if _, err := readEvents(strings.NewReader("data: 1\n\ndata: end\n"), false, last); !errors.Is(err, ErrCut) {
		t.Errorf("readEvents of a cut stream = %v, want %v", err, ErrCut)
	}
	broken := iotest.ErrReader(errors.New("broken"))
	if _, err := readEvents(broken, false, last); err == nil || errors.Is(err, ErrCut) {
		t.Errorf("readEvents of a broken connection = %v, want its error", err)
	}
	after := readUntil{strings.NewReader("data: end\n\n")}
	if _, err := readEvents(after, true, last); err != nil {
		t.Errorf("readEvents = %v, want no read after the last event", err)
	}
}

// readUntil fails the read after the last.
type readUntil struct{ r *strings.Reader }

func (r readUntil) Read(p []byte) (int, error) {
	if r.r.Len() == 0 {
		panic("read after the last event")
	}
	return r.r.Read(p)
}

func FuzzReadEvents(f *testing.F) {
	f.Add("event: a\ndata: 1\n\n")
	f.Add(": x\r\n\r\ndata:\r\n\r\n")
	f.Fuzz(func(t *testing.T, stream string) {
		for _, r := range []reader{&claudeReader{}, &codexReader{}, &chatReader{}} {
			raw, err := readEvents(strings.NewReader(stream), false, r.event)
			if !strings.HasPrefix(stream, string(raw)) {
				t.Errorf("readEvents(%q) kept %q", stream, raw)
			}
			if err == nil {
				r.answer()
			}
		}
	})
}
