package logsink

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// networkMagic is f_type of statfs(2) for file systems that more than one host
// can mount, or that pass a host's files into a guest without sharing memory.
var networkMagic = map[uint32]string{
	0x6969:     "nfs",
	0x517B:     "smb",
	0xFF534D42: "cifs",
	0xFE534D42: "smb2",
	0x5346414F: "afs",
	0x73757245: "coda",
	0x00C36400: "ceph",
	0x01021997: "9p",
	0x0BD00BD0: "lustre",
	0x47504653: "gpfs",
	0x7461636F: "ocfs2",
	0x01161970: "gfs2",
	0x786F4256: "vboxsf",
}

const fuseMagic = 0x65735546

// networkFuse names the FUSE file systems that are known to reach over a
// network; others, like an encrypted home, are local.
var networkFuse = []string{"sshfs", "rclone", "s3fs", "goofys", "gcsfuse", "blobfuse", "davfs", "curlftpfs", "glusterfs", "ceph", "juicefs", "mfs", "hdfs", "smbnetfs", "afuse"}

// networkFS returns the name of the network file system that dir is on, or "".
func networkFS(dir string) (string, error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return "", err
	}
	if uint32(fs.Type) != fuseMagic {
		return networkMagic[uint32(fs.Type)], nil
	}
	var st syscall.Stat_t
	if err := syscall.Stat(dir, &st); err != nil {
		return "", err
	}
	mounts, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "", nil // without /proc a FUSE mount is given the benefit of the doubt
	}
	defer mounts.Close()
	return fuseName(bufio.NewScanner(mounts), deviceName(uint64(st.Dev))), nil
}

// deviceName writes a device as mountinfo does, major:minor.
func deviceName(dev uint64) string {
	major := dev>>8&0xfff | dev>>32&^0xfff
	minor := dev&0xff | dev>>12&^0xff
	return fmt.Sprintf("%d:%d", uint32(major), uint32(minor))
}

// fuseName finds the mount of a device and returns its type if that is one of
// networkFuse. A line reads "36 35 98:0 /root /mount opts - fuse.sshfs source opts".
func fuseName(mounts *bufio.Scanner, device string) string {
	for mounts.Scan() {
		left, right, _ := strings.Cut(mounts.Text(), " - ")
		where, what := strings.Fields(left), strings.Fields(right)
		if len(where) < 3 || len(what) < 1 || where[2] != device {
			continue
		}
		for _, name := range networkFuse {
			if strings.HasPrefix(what[0], "fuse."+name) {
				return what[0]
			}
		}
	}
	return ""
}
