package main

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

// TestProgress: nothing is told for two seconds, then at most five times a second,
// and in the end the line is clear again.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := newProgress(&out)
		p.w = &out
		for range 3 {
			p.tell("%d", 1)
			p.clear()
			time.Sleep(progressAfter / 3)
		}
		if out.Len() > 0 {
			t.Errorf("told %q before it took long", out.String())
		}
		time.Sleep(progressEvery)
		for range 3 {
			p.tell("%d", 2)
		}
		time.Sleep(progressEvery)
		p.tell("%d", 3)
		p.clear()
		if want := "\r\x1b[K2\r\x1b[K3\r\x1b[K"; out.String() != want {
			t.Errorf("told %q, want %q", out.String(), want)
		}
	})
}

func TestNoProgressElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := newProgress(&out)
		time.Sleep(time.Hour)
		p.tell("x")
		p.clear()
		if out.Len() > 0 {
			t.Errorf("told %q where no terminal is", out.String())
		}
	})
}

func TestFarInTrace(t *testing.T) {
	for _, c := range []struct {
		done, total int64
		want        string
	}{{50, 100, "50 %"}, {101, 100, "100 %"}, {12345, 0, "12,345 requests"}} {
		if got := farInTrace(c.done, c.total); got != c.want {
			t.Errorf("farInTrace(%d, %d) = %q, want %q", c.done, c.total, got, c.want)
		}
	}
}
