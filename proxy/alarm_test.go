package proxy

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore"
	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
)

// heard has the bench keep the alarms that a page would show.
func heard(to *lockedBuffer) setupFunc {
	return func(_ *bench, _ *Setup, d *Deps, _ *prefixstore.Options) {
		d.Alarm = func(name, detail string, k logsink.Key, _ string) {
			fmt.Fprintf(to, "%s %s: %s\n", name, k.Session, detail)
		}
	}
}

// TestAlarmOnVaryingText: a contributor whose text is another for the third
// session running is named once, until a session is given a text that another had.
func TestAlarmOnVaryingText(t *testing.T) {
	f := func(name string, allow bool, texts string, want ...string) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "opener.md")
			var alarms lockedBuffer
			b := newBench(t, heard(&alarms), contributors(
				contrib.Config{Kind: "text", Name: "still", Text: "Be kind.", Deadline: patience},
				contrib.Config{Kind: "file", Name: "news", Paths: []string{path}, AllowVolatile: allow, Deadline: patience}))
			for i, text := range strings.Fields(texts) {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				b.post("/v1/messages", anthropicTurn, "x-session-id", fmt.Sprintf("s%d", i+1))
			}
			got := strings.Split(alarms.String(), "\n")
			if got = got[:len(got)-1]; len(got) != len(want) {
				t.Fatalf("the alarms are %q, want one for each of the sessions %q", got, want)
			}
			for i := range want {
				if !strings.HasPrefix(got[i], alarmTextVaries+" "+want[i]+": contributor news ") {
					t.Errorf("alarm %d is %q, want %s for %s naming news", i+1, got[i], alarmTextVaries, want[i])
				}
			}
			counted := fmt.Sprintf("preface_alarms_total{alarm=%q} %d\n", alarmTextVaries, len(want))
			if is := strings.Contains(b.metrics(), counted); is != (len(want) > 0) {
				t.Errorf("the metrics have %q: %v", counted, is)
			}
			if logged := strings.Count(b.out.String(), "alarm="+alarmTextVaries); logged != len(want) {
				t.Errorf("%d log lines tell of it, want %d", logged, len(want))
			}
		})
	}
	f("always another", false, "a b c d e f g", "s3")
	f("the same", false, "a a a a a")
	f("changed twice", false, "a b a b a b a b")
	f("by turns of three", false, "a b a b c a b c a b c")
	f("mended and broken again", false, "a b c d d d e f g h", "s3", "s9")
	f("as it is meant to be", true, "a b c d e f g")
}

// TestTextsOfSessionsAndTenants: a session that is resumed is not another one,
// and tenants may each have a text of their own.
func TestTextsOfSessionsAndTenants(t *testing.T) {
	v := newVariety()
	for i := range 10 {
		if text := fmt.Sprint("text ", i); v.varies("c", "one tenant", "one session", text) || v.varies("c", fmt.Sprint("tenant ", i), "s", text) {
			t.Fatalf("an alarm at epoch %d", i+1)
		}
	}
	for i := range variesFrom {
		if got := v.varies("c", "t", fmt.Sprint("session ", i), fmt.Sprint("text ", i)); got != (i == variesFrom-1) {
			t.Errorf("an alarm at session %d: %v", i+1, got)
		}
	}
}

// TestI10_VarietyIsBounded: any number of tenants is watched in bounded memory.
func TestI10_VarietyIsBounded(t *testing.T) {
	v := newVariety()
	for i := range 3 * maxVariety {
		v.varies("c", fmt.Sprint("tenant ", i), "s", "text")
	}
	if n := v.lines.Len(); n != maxVariety {
		t.Errorf("%d lines are kept, want %d", n, maxVariety)
	}
}

// TestI3_ChangedBytesAreAnAlarm: a body with parts that are not the client's is
// counted, and is an alarm: for the first, and each time there are twice as many.
func TestI3_ChangedBytesAreAnAlarm(t *testing.T) {
	var alarms lockedBuffer
	b := newBench(t, heard(&alarms))
	ctx := fakeRequest(t, b, "", "changed")
	ctx.Request.SetBodyStream(strings.NewReader(anthropicTurn), len(anthropicTurn))
	x := b.srv.begin(ctx)
	defer x.finish()
	if err := x.prepare(); err != nil {
		t.Fatal(err)
	}
	parts := x.outgoing(nil)
	if x.checkParts(parts); alarms.String() != "" {
		t.Fatalf("the client's own bytes raise %s", &alarms)
	}
	parts[len(parts)-1] = bytes.Clone(parts[len(parts)-1])
	for range 5 {
		x.checkParts(parts)
	}
	if got := alarms.String(); strings.Count(got, alarmBytesChanged+" changed: ") != 3 || strings.Count(got, "\n") != 3 {
		t.Errorf("five changed bodies raise\n%s\nwant three alarms", got)
	}
	for _, want := range []string{"preface_bytes_changed_outside_splice_total 5\n", fmt.Sprintf("preface_alarms_total{alarm=%q} 3\n", alarmBytesChanged)} {
		if !strings.Contains(b.metrics(), want) {
			t.Errorf("the metrics lack %q", want)
		}
	}
}
