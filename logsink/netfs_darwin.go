package logsink

import "syscall"

var networkNames = map[string]bool{"nfs": true, "smbfs": true, "afpfs": true, "webdav": true, "ftp": true, "macfuse": true, "osxfuse": true}

// networkFS returns the name of the network file system that dir is on, or "".
func networkFS(dir string) (string, error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return "", err
	}
	var name []byte
	for _, c := range fs.Fstypename {
		if c == 0 {
			break
		}
		name = append(name, byte(c))
	}
	if networkNames[string(name)] {
		return string(name), nil
	}
	return "", nil
}
