package telemetry

import (
	"encoding/hex"
	"regexp"
	"strings"
	"testing"
)

// traceparentForm is the form by W3C Trace Context, of any version.
var traceparentForm = regexp.MustCompile(`(?s)^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$`)

// FuzzTraceparent holds our reading of a traceparent to the form: version ff and ids
// of zeros are none, version 00 has nothing behind, flags that level 2 does not know
// say nothing. The library's own reader takes a dash behind version 00, and refuses
// unknown flags.
func FuzzTraceparent(f *testing.F) {
	const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for _, s := range []string{
		"", good, good + "-", good + "x", "01" + good[2:], "01" + good[2:] + "-x", "01" + good[2:] + "x", "ff" + good[2:], "0A" + good[2:],
		good[:53] + "ff", good[:53] + "0G", good[:3] + strings.Repeat("0", 32) + good[35:], good[:36] + strings.Repeat("0", 16) + "-01", " " + good,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := parseTraceparent([]byte(s))
		m := traceparentForm.FindStringSubmatch(s)
		want := m != nil && m[1] != "ff" && (m[1] != "00" || m[5] == "") && strings.Trim(m[2], "0") != "" && strings.Trim(m[3], "0") != ""
		if ok != want {
			t.Fatalf("parseTraceparent(%q) takes it: %t, want %t", s, ok, want)
		}
		if !ok {
			return
		}
		flags, _ := hex.DecodeString(m[4])
		if got.TraceID().String() != m[2] || got.SpanID().String() != m[3] || byte(got.TraceFlags()) != flags[0]&3 || !got.IsRemote() {
			t.Errorf("parseTraceparent(%q) = %+v", s, got)
		}
	})
}

// TestIDs: ids are never zero.
func TestIDs(t *testing.T) {
	for range 1000 {
		if !newTraceID().IsValid() || !newSpanID().IsValid() {
			t.Fatal("an id is all zeros")
		}
	}
}
