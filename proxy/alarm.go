package proxy

import (
	"fmt"
	"math/bits"
	"net"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/proxy/explain"
)

// Names of the alarms that do not come from comparing requests, as those of
// package explain do.
const (
	// alarmBytesChanged: what was sent outside the inserted ranges is not the
	// client's. It breaks I3.
	alarmBytesChanged = "bytes_changed"
	// alarmTextVaries: a contributor gives each session another text.
	alarmTextVaries = "text_varies"
)

// alarm says that something should be looked at, from any goroutine.
func (s *Server) alarm(name, detail string, k logsink.Key, request string) {
	s.accountant.raise(explain.Alarm{Name: name, Detail: detail}, &logsink.Request{Key: k, ID: request})
}

// checkParts counts a body whose parts are not the client's (I3), and raises an
// alarm for the first and each time their number has doubled: a fault of ours may
// be in every request.
func (x *exchange) checkParts(parts net.Buffers) {
	if x.unchanged(parts) {
		return
	}
	x.s.counters.BytesChanged()
	if n := x.s.bytesChanged.Add(1); bits.OnesCount64(uint64(n)) == 1 {
		x.s.alarm(alarmBytesChanged, fmt.Sprintf("the bytes of %d requests were not the client's outside the inserted ranges: a fault of Preface", n), x.key(), x.id)
	}
}
