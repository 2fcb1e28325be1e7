package logsink

import (
	"bufio"
	"strings"
	"testing"
)

func TestNetworkFileSystems(t *testing.T) {
	for magic, want := range map[uint32]string{0x6969: "nfs", 0xFF534D42: "cifs", 0xFE534D42: "smb2", 0x01021997: "9p", 0xEF53: "", 0x01021994: ""} {
		if got := networkMagic[magic]; got != want {
			t.Errorf("file system %#x is taken for %q, want %q", magic, got, want)
		}
	}
	if name, err := networkFS(t.TempDir()); name != "" || err != nil {
		t.Errorf("networkFS of a temporary folder = %q, %v; want a local one", name, err)
	}
	if _, err := networkFS("/does/not/exist"); err == nil {
		t.Errorf("networkFS of no folder gives no error")
	}
}

func TestDeviceName(t *testing.T) {
	for dev, want := range map[uint64]string{0x801: "8:1", 0xfd00: "253:0", 0x29: "0:41", 0x10300102: "1:66306", 0x100000000801: "4104:1"} {
		if got := deviceName(dev); got != want {
			t.Errorf("deviceName(%#x) = %s, want %s", dev, got, want)
		}
	}
}

func TestFuseName(t *testing.T) {
	const mounts = `22 26 0:20 / /proc rw,nosuid shared:5 - proc proc rw
98 26 0:41 / /home/a/remote rw,nosuid,nodev shared:52 - fuse.sshfs host:/srv rw,user_id=1000
99 26 0:42 / /home/a/vault rw,nosuid,nodev shared:53 - fuse.gocryptfs /home/a/.vault rw
broken line
`
	for device, want := range map[string]string{"0:41": "fuse.sshfs", "0:42": "", "0:20": "", "9:9": ""} {
		if got := fuseName(bufio.NewScanner(strings.NewReader(mounts)), device); got != want {
			t.Errorf("fuseName(%s) = %q, want %q", device, got, want)
		}
	}
}
