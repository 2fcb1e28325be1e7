package wire

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// TestDirectWrites: buffers of any number and size arrive whole and in order,
// also where the kernel takes less than is offered.
func TestDirectWrites(t *testing.T) {
	c, peer := pair(t, watcher(t), time.Minute)
	if err := errors.Join(c.Conn.(*net.TCPConn).SetWriteBuffer(4<<10), peer.SetReadBuffer(32<<10)); err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	text := make([]byte, 100<<10)
	for i := range text {
		text[i] = byte(rnd.Uint32())
	}
	var want []byte
	got := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(peer) // what is missing shows
		got <- b
	}()
	for range 60 {
		var bufs net.Buffers
		size := 0
		for range rnd.IntN(12) {
			from := rnd.IntN(len(text))
			part := text[from : from+rnd.IntN(min(len(text)-from, 1<<rnd.IntN(17)))]
			bufs, size = append(bufs, part), size+len(part)
			want = append(want, part...)
		}
		if n, err := c.WriteBuffers(&bufs); err != nil || n != int64(size) {
			t.Fatalf("WriteBuffers of %d bytes = %d, %v", size, n, err)
		}
		part := text[:rnd.IntN(1<<rnd.IntN(17))]
		want = append(want, part...)
		if n, err := c.Write(part); err != nil || n != len(part) {
			t.Fatalf("Write of %d bytes = %d, %v", len(part), n, err)
		}
	}
	c.Close()
	if b := <-got; !bytes.Equal(b, want) {
		t.Errorf("%d bytes arrived, want the %d that were written", len(b), len(want))
	}
}

// TestDirectReads: bytes come as they are there, then the end.
func TestDirectReads(t *testing.T) {
	c, peer := pair(t, watcher(t), time.Minute)
	want := bytes.Repeat([]byte("some bytes "), 20_000)
	go func() {
		_, _ = peer.Write(want) // what is missing shows
		peer.Close()
	}()
	var got []byte
	for _, size := range []int{1, 0, 10, 100 << 10} {
		p := make([]byte, size)
		n, err := c.Read(p)
		if err != nil || size > 0 && n == 0 {
			t.Fatalf("Read of %d bytes = %d, %v", size, n, err)
		}
		got = append(got, p[:n]...)
	}
	rest, err := io.ReadAll(c)
	if got = append(got, rest...); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes and %v arrived, want the %d that were written", len(got), err, len(want))
	}
}

// TestDirectErrors: they can be told apart as those of package net can.
func TestDirectErrors(t *testing.T) {
	t.Run("silence", func(t *testing.T) {
		c, _ := pair(t, watcher(t), time.Minute)
		if err := c.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
			t.Fatal(err)
		}
		_, err := c.Read(make([]byte, 1))
		var timeout net.Error
		if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &timeout) || !timeout.Timeout() || !os.IsTimeout(err) {
			t.Errorf("Read after the deadline = %v, want a timeout", err)
		}
	})
	t.Run("closed", func(t *testing.T) {
		c, _ := pair(t, watcher(t), time.Minute)
		c.Close()
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Read of a closed connection = %v, want net.ErrClosed", err)
		}
		if n, err := c.WriteBuffers(&net.Buffers{{1}, {2}}); n != 0 || !errors.Is(err, net.ErrClosed) {
			t.Errorf("WriteBuffers to a closed connection = %d, %v, want net.ErrClosed", n, err)
		}
	})
	t.Run("reset", func(t *testing.T) {
		c, peer := pair(t, watcher(t), time.Minute)
		gone := make(chan struct{})
		c.OnGone(func() { close(gone) })
		_ = peer.SetLinger(0)
		peer.Close()
		<-gone
		_, err := c.Read(make([]byte, 1))
		var op *net.OpError
		if !errors.Is(err, syscall.ECONNRESET) || !errors.As(err, &op) || op.Op != "read" {
			t.Errorf("Read of a reset connection = %v, want ECONNRESET", err)
		}
		if _, err := c.Write([]byte{1}); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("Write to a reset connection = %v, want EPIPE", err)
		}
	})
	t.Run("full", func(t *testing.T) {
		c, _ := pair(t, watcher(t), time.Minute)
		c.writeIdle = 50 * time.Millisecond
		var err error
		for sent := 0; err == nil && sent < 1<<30; sent += 32 << 10 {
			_, err = c.WriteBuffers(&net.Buffers{make([]byte, 16<<10), make([]byte, 16<<10)})
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("writing to a peer that does not read = %v, want a timeout", err)
		}
	})
}
