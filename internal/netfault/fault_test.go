package netfault

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestInvariant1_WithoutAFaultAllArrives(t *testing.T) {
	p := New(t, echo(t).addr)
	c := dial(t, p)
	sent := make([]byte, 1<<20)
	for i := range sent {
		sent[i] = byte(rand.IntN(256))
	}
	sent[len(sent)-1] = '\n'
	go func() {
		_, _ = c.Write(sent)
		_ = c.CloseWrite()
	}()
	got, err := io.ReadAll(c)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("read %d bytes, %v; want the %d that were sent", len(got), err, len(sent))
	}
}

func TestEndsArePassedOn(t *testing.T) {
	s := echo(t)
	p := New(t, s.addr)
	c := dial(t, p)
	send(t, c, "a\n")
	want(t, c, "a\n")
	_ = c.CloseWrite()
	wantEnd(t, c, "")
	c = dial(t, p)
	send(t, c, "b\n")
	want(t, c, "b\n")
	_ = c.SetLinger(0)
	_ = c.Close()
	for _, w := range []string{"a\n", "EOF", "b\n", "reset"} {
		if got := <-s.arrived; got != w {
			t.Errorf("the server saw %q, want %q", got, w)
		}
	}
}

func TestDelay(t *testing.T) {
	p := New(t, echo(t).addr)
	c := dial(t, p)
	p.Delay(Down, 30*time.Millisecond)
	start := time.Now()
	send(t, c, "a\n")
	want(t, c, "a\n")
	if d := time.Since(start); d < 30*time.Millisecond {
		t.Errorf("the answer came after %v, want 30ms at least", d)
	}
	p.Delay(Down, time.Hour)
	send(t, c, "b\n")
	wantNothing(t, c)
	p.Heal()
	want(t, c, "b\n")
}

func TestMute(t *testing.T) {
	for _, dir := range []Direction{Up, Down, Both} {
		s := echo(t)
		p := New(t, s.addr)
		old := dial(t, p)
		send(t, old, "a\n")
		want(t, old, "a\n")
		<-s.arrived
		p.Mute(dir)
		fresh := dial(t, p)
		for _, c := range []*net.TCPConn{old, fresh} {
			send(t, c, "b\n")
			_ = c.CloseWrite()
			wantNothing(t, c)
		}
		if dir&Up != 0 && len(s.arrived) > 0 {
			t.Errorf("Mute(%d): the server saw %q", dir, <-s.arrived)
		}
		p.Heal()
		wantEnd(t, old, "b\n")
		wantEnd(t, fresh, "b\n")
	}
}

func TestThrottle(t *testing.T) {
	p := New(t, echo(t).addr)
	c := dial(t, p)
	p.Throttle(Down, 1000)
	line := strings.Repeat("a", 99) + "\n"
	start := time.Now()
	send(t, c, line)
	want(t, c, line)
	if d := time.Since(start); d < 95*time.Millisecond {
		t.Errorf("100 bytes came within %v, want 100ms at 1000 bytes per second", d)
	}
	p.Throttle(Down, 1)
	send(t, c, line)
	wantNothing(t, c)
	p.Throttle(Down, 0)
	want(t, c, line)
}

func TestInvariant2_CutAfter(t *testing.T) {
	s := echo(t)
	p := New(t, s.addr)
	old := dial(t, p)
	send(t, old, "before\n")
	want(t, old, "before\n")
	p.CutAfter(Down, 3)
	fresh := dial(t, p)
	for _, c := range []*net.TCPConn{old, fresh} {
		send(t, c, "+answer\r\n")
		wantEnd(t, c, "+an")
	}
	p.CutAfter(Down, 0)
	c := dial(t, p)
	send(t, c, "+answer\r\n")
	wantEnd(t, c, "")
	if n := p.Counts().Cut; n != 3 {
		t.Errorf("Counts().Cut = %d, want 3", n)
	}
	p.Heal()
	c = dial(t, p)
	send(t, c, "+answer\r\n")
	want(t, c, "+answer\r\n")
}

func TestCutAfterUp(t *testing.T) {
	s := echo(t)
	p := New(t, s.addr)
	p.CutAfter(Up, 5)
	c := dial(t, p)
	send(t, c, "commands\n")
	wantEnd(t, c, "")
	if got := <-s.arrived; got != "commaEOF" && got != "commareset" {
		t.Errorf("the server saw %q, want comma and the end", got)
	}
}

func TestRefuseNew(t *testing.T) {
	p := New(t, echo(t).addr)
	old := dial(t, p)
	send(t, old, "a\n")
	want(t, old, "a\n")
	p.RefuseNew()
	p.RefuseNew()
	if c, err := net.Dial("tcp", p.Addr()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("Dial while refused = %v, %v; want %v", c, err, syscall.ECONNREFUSED)
	}
	send(t, old, "b\n")
	want(t, old, "b\n")
	p.Accept()
	p.Accept()
	c := dial(t, p)
	send(t, c, "c\n")
	want(t, c, "c\n")
	p.RefuseNew()
	p.Heal()
	c = dial(t, p)
	send(t, c, "d\n")
	want(t, c, "d\n")
}

func TestCutAll(t *testing.T) {
	p := New(t, echo(t).addr)
	var all []*net.TCPConn
	for range 3 {
		c := dial(t, p)
		send(t, c, "a\n")
		want(t, c, "a\n")
		all = append(all, c)
	}
	if n := p.Counts().Open; n != 3 {
		t.Errorf("Counts().Open = %d, want 3", n)
	}
	p.CutAll()
	for _, c := range all {
		wantEnd(t, c, "")
	}
	p.Close() // waits
	if got, want := p.Counts(), (Counts{Accepted: 3, Cut: 3}); got != want {
		t.Errorf("Counts() = %+v, want %+v", got, want)
	}
}

func TestServerDown(t *testing.T) {
	p := New(t, "127.0.0.1:1")
	if c, err := net.Dial("tcp", p.Addr()); err == nil { // the reset may be there already
		defer c.Close()
		wantEnd(t, c, "")
	}
	p.Close()
	if got, want := p.Counts(), (Counts{Accepted: 1, Unserved: 1}); got != want {
		t.Errorf("Counts() = %+v, want %+v", got, want)
	}
}

func TestInvariant3_CloseEndsEveryWait(t *testing.T) {
	for name, fault := range map[string]func(*Proxy){
		"mute":     func(p *Proxy) { p.Mute(Both) },
		"delay":    func(p *Proxy) { p.Delay(Both, time.Hour) },
		"throttle": func(p *Proxy) { p.Throttle(Both, 1) },
		"none":     func(*Proxy) {},
	} {
		p := New(t, echo(t).addr)
		fault(p)
		c := dial(t, p)
		send(t, c, "some bytes\n")
		if name != "none" {
			wantNothing(t, c)
		}
		p.Close() // hangs the test if a wait outlasts it; TestMain looks for goroutines
	}
}
