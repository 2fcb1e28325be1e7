package main

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestNotify(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NOTIFY_SOCKET", name)
	for _, want := range []string{notifyReady, notifyReloading(), notifyStopping} {
		notify(want)
		b := make([]byte, 256)
		n, err := conn.Read(b)
		if got := string(b[:n]); err != nil || got != want {
			t.Errorf("notify(%q) sent %q, %v", want, got, err)
		}
	}
	if !strings.HasPrefix(notifyReloading(), "RELOADING=1\nMONOTONIC_USEC=") {
		t.Errorf("notifyReloading() = %q, want the time beside it", notifyReloading())
	}
}

// A supervisor that does not listen holds nothing up.
func TestNotifyNobody(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "none"))
	notify(notifyReady)
	t.Setenv("NOTIFY_SOCKET", "")
	notify(notifyReady)
}
