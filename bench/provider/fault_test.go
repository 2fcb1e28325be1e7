package provider

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestFaultIsReadAsItIsWritten(t *testing.T) {
	for _, test := range []struct {
		text string
		want Fault
	}{
		{"", Fault{}},
		{"status=529,retry-after=1", Fault{Status: 529, RetryAfter: "1"}},
		{"cut=rst@300,gap=20ms", Fault{Cut: CutRST, CutAfter: 300, Gap: 20 * time.Millisecond}},
		{" reset ", Fault{Reset: true}},
		{"stall@2,ping=1s", Fault{Stall: true, StallAfter: 2, Ping: time.Second}},
		{"error@0,no-terminal", Fault{Error: true, NoTerminal: true}},
		{"length=-5,encoding=zstd,line-end=cr", Fault{Length: -5, Encoding: "zstd", LineEnd: "cr"}},
	} {
		if got, err := ParseFault(test.text); err != nil || got != test.want {
			t.Errorf("ParseFault(%q) = %+v, %v, want %+v", test.text, got, err, test.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		f := Fault{
			ReadRate: rapid.IntRange(0, 9).Draw(t, "rate"), Reset: rapid.Bool().Draw(t, "reset"), Delay: time.Duration(rapid.IntRange(0, 9).Draw(t, "delay")),
			Status: rapid.SampledFrom([]int{0, 400, 529}).Draw(t, "status"), RetryAfter: rapid.SampledFrom([]string{"", "3"}).Draw(t, "retry"),
			Stall: rapid.Bool().Draw(t, "stall"), EventBytes: rapid.IntRange(0, 9).Draw(t, "bytes"), Chunks: rapid.Int64Range(-9, 9).Draw(t, "chunks"),
			Cut: rapid.SampledFrom([]Cut{CutNone, CutFIN, CutRST}).Draw(t, "cut"), BadChunk: rapid.Bool().Draw(t, "bad"), Length: rapid.Int64Range(-9, 9).Draw(t, "length"),
			Encoding: rapid.SampledFrom([]string{"", "gzip", "zstd"}).Draw(t, "encoding"), ChunkExtensions: rapid.Bool().Draw(t, "extensions"),
		}
		if got, err := ParseFault(f.String()); err != nil || got != f {
			t.Fatalf("ParseFault(%q) = %+v, %v, want %+v", f, got, err, f)
		}
	})
}

func TestFaultRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, text := range []string{"explode", "status=x", "cut=maybe@3", "cut=rst@-1", "stall@x", "delay=5", "encoding=br", "line-end=lfcr", "status=99"} {
		if f, err := ParseFault(text); err == nil {
			t.Errorf("ParseFault(%q) = %+v, want an error", text, f)
		}
	}
	c := start(t, Options{})
	if got := c.refused("/v1/messages", ask(opus, nil, user("a")), "x-provider-fault", "explode"); got != `x-provider-fault: cannot read fault "explode": unknown name "explode"` {
		t.Errorf("refusal %q, want it to name the fault", got)
	}
}

func FuzzParseFault(f *testing.F) {
	for _, s := range []string{"status=529,retry-after=1", "cut=rst@300", "stall@2,ping=1s", "message=a b", "chunks=-1", "delay=1h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		fault, err := ParseFault(s)
		if err != nil {
			return
		}
		if again, err := ParseFault(fault.String()); err != nil || again != fault {
			t.Errorf("ParseFault(%q) = %+v, but its String %q is read as %+v, %v", s, fault, fault, again, err)
		}
	})
}
