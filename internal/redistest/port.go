package redistest

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Ports are taken below 32768, where Linux begins to hand them out to
// connections: the port of a server that is down stays free, and a client that
// dials it cannot meet itself. A node of a cluster has a second one, for its
// peers, busOffset above the first.
const (
	firstPort = 12000
	lastPort  = 22767
	busOffset = 10000
)

// given holds every port that was handed out in this process, so that two
// servers which start at once do not find the same one free.
var given struct {
	mu    sync.Mutex
	ports map[int]bool
}

func freePort() (int, error) {
	given.mu.Lock()
	defer given.mu.Unlock()
	if given.ports == nil {
		given.ports = map[int]bool{}
	}
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		if given.ports[port] || given.ports[port+busOffset] || !isFree(port) || !isFree(port+busOffset) {
			continue
		}
		given.ports[port], given.ports[port+busOffset] = true, true
		return port, nil
	}
	return 0, errors.New("cannot find a free port on 127.0.0.1 between 12000 and 22767")
}

func isFree(port int) bool {
	l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}
