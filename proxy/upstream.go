package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttpproxy"

	"github.com/seed-9236c7ca/preface/internal/failpoint"
	"github.com/seed-9236c7ca/preface/proxy/internal/wire"
)

// An upstream is one provider: where it is and a pool of connections to it.
// Connections are fasthttp's to pool; what is written to them is ours, since
// only so can a body go out in parts and a request be cancelled.
type upstream struct {
	base   *url.URL // immutable
	pool   *fasthttp.HostClient
	dials  dials
	dialer fasthttp.DialFunc
	watch  *wire.Watcher
	times  Timeouts
	tls    *tls.Config // nil for plain HTTP

	refusals atomic.Int32 // of requests running that asked for verdicts
}

// connWait is how long a request waits for a connection when limits.upstream are
// in use: they come free as answers end.
const connWait = 2 * time.Second

// maxAnswerHead bounds the head of an answer, in bytes.
const maxAnswerHead = 16 << 10

func newUpstream(base string, limits Limits, times Timeouts, watch *wire.Watcher) (*upstream, error) {
	u, err := parseUpstream(base)
	if err != nil {
		return nil, err
	}
	up := &upstream{base: u, watch: watch, times: times}
	secure := u.Scheme == "https"
	if secure {
		up.tls = &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}
	}
	d := &fasthttpproxy.Dialer{DialDualStack: true, Timeout: times.Connect, ConnectTimeout: times.Connect}
	// Go resolves and tries addresses itself; fasthttp's cache of them has a
	// goroutine that nothing stops.
	d.DisableDNSResolution = true
	if up.dialer, err = d.GetDialFuncForTLS(true, secure); err != nil {
		return nil, fmt.Errorf("cannot use HTTP_PROXY or HTTPS_PROXY for %s: %w", u.Host, err)
	}
	up.pool = &fasthttp.HostClient{
		Addr:                fasthttp.AddMissingPort(u.Host, secure),
		Dial:                up.dials.take,
		MaxConns:            limits.Upstream,
		MaxConnWaitTimeout:  connWait,
		MaxIdleConnDuration: times.UpstreamKeep,
		ReadBufferSize:      maxAnswerHead,
		WriteBufferSize:     16 << 10,
	}
	return up, nil
}

// connect opens, wraps and, if need be, secures a connection. When ctx ends while it
// is secured it is closed; while there is none yet, nothing is to be closed. Waiting
// for that in a goroutine of its own would let the requests of a burst hold all
// their bodies at once.
func (u *upstream) connect(ctx context.Context) (net.Conn, error) {
	c, err := u.dialer(u.pool.Addr)
	if err != nil {
		return nil, err
	}
	wc, err := wire.NewConn(c, u.watch, u.times.StreamIdle)
	if err != nil || u.tls == nil {
		return wc, err
	}
	if err := wc.SetDeadline(time.Now().Add(u.times.Connect)); err != nil {
		return nil, closing(wc, err)
	}
	tc := tls.Client(wc, u.tls)
	if err := tc.HandshakeContext(ctx); err != nil {
		return nil, closing(wc, fmt.Errorf("cannot secure the connection to %s: %w", u.base.Host, err))
	}
	if err := wc.SetDeadline(time.Time{}); err != nil {
		return nil, closing(wc, err)
	}
	return tc, nil
}

func closing(c net.Conn, err error) error {
	_ = c.Close() // err says more
	return err
}

// appendTarget appends the request target for a path and query: the client's,
// below the upstream's own path. A /v1 that both have stands there once.
func (u *upstream) appendTarget(dst []byte, path string, query []byte) []byte {
	base := strings.TrimSuffix(u.base.Path, "/")
	if strings.HasSuffix(base, "/v1") && (path == "/v1" || strings.HasPrefix(path, "/v1/")) {
		path = path[len("/v1"):]
	}
	dst = append(append(dst, base...), path...)
	if len(query) > 0 {
		dst = append(append(dst, '?'), query...)
	}
	return dst
}

// A link is one connection to a provider. One request at a time has it; it lasts
// as long as the connection.
type link struct {
	conn net.Conn      // to write to: plain, or TLS
	wire *wire.Conn    // under it
	br   *bufio.Reader // for the head of the answer; nil once that is read
	pool *fasthttp.HostClient
	give func(reuse bool) // back to the pool
}

// acquire takes a connection out of the pool, or opens one; when ctx ends it gives
// up. A pooled one that the provider has closed meanwhile is thrown away: nothing
// was sent on it. So is one on which more came than the answer before.
func (u *upstream) acquire(ctx context.Context) (*link, error) {
	failpoint.Hit(failpoint.BeforeDial)
	var made net.Conn
	for {
		cc, err := u.pool.AcquireConn(0, false)
		if errors.Is(err, errNoneReady) {
			if made, err = u.connect(ctx); err != nil {
				return nil, err
			}
			u.dials.add(made)
			continue
		}
		u.dials.discard(made) // unless it is cc's: one that came free was faster
		if err != nil {
			return nil, err
		}
		wc := wire.Of(cc.Conn())
		l, used := wc.Owner.(*link)
		if !used {
			l = &link{conn: cc.Conn(), wire: wc, pool: u.pool}
			l.give = func(reuse bool) {
				if reuse && !wc.Gone() {
					u.pool.ReleaseConn(cc)
				} else {
					u.pool.CloseConn(cc)
				}
			}
			wc.Owner = l
		}
		if used && (wc.Gone() || l.unasked()) {
			l.give(false)
			continue
		}
		l.br = u.pool.AcquireReader(l.conn)
		return l, nil
	}
}

// unasked reports whether bytes have come on a connection that nobody waits on:
// the next request, maybe another tenant's, would take them for its answer (I6).
func (l *link) unasked() bool {
	if l.wire.Unread() {
		return true
	}
	if l.conn == net.Conn(l.wire) {
		return false
	}
	// TLS may have read more than it has handed out; of the connection itself it
	// reads nothing now.
	if l.wire.SetReadIdle(0) != nil || l.wire.SetReadDeadline(longAgo) != nil {
		return true
	}
	n, err := l.conn.Read(make([]byte, 1))
	return n > 0 || !isTimeout(err) || l.wire.SetReadDeadline(time.Time{}) != nil
}

var longAgo = time.Unix(1, 0)

// buffered is what was read beyond the answer's head. It is valid until unread,
// and may be changed.
func (l *link) buffered() []byte {
	b, _ := l.br.Peek(l.br.Buffered()) // what is buffered is there
	return b
}

// overfull reports whether more was read than the head of an answer that has no
// body. It is not if the body was asked for all the same: then unread was called.
func (l *link) overfull() bool { return l != nil && l.br != nil && l.br.Buffered() > 0 }

// unread lets go of the reader: from here on the body is read straight from the
// connection.
func (l *link) unread() {
	l.pool.ReleaseReader(l.br)
	l.br = nil
}

// done gives the link back. reuse says that the whole answer was read.
func (l *link) done(reuse bool) {
	if l.br != nil {
		l.pool.ReleaseReader(l.br)
		l.br = nil
	}
	l.give(reuse)
}

// write sends the parts of a request. n is how many bytes may have left; only
// when it is 0 may the request be sent again elsewhere.
func (l *link) write(u *upstream, parts net.Buffers) (n int64, err error) {
	if failpoint.Enabled {
		return l.writeSlowly(parts)
	}
	if u.tls == nil {
		return l.wire.WriteBuffers(&parts)
	}
	// Small parts share a TLS record; large ones pass through the writer.
	bw := u.pool.AcquireWriter(l.conn)
	defer u.pool.ReleaseWriter(bw)
	for _, p := range parts {
		m, err := bw.Write(p)
		if n += int64(m); err != nil {
			return n, err
		}
	}
	return n, bw.Flush()
}

// writeSlowly writes part by part, and the last one in two, so that a failpoint
// can lie between.
func (l *link) writeSlowly(parts net.Buffers) (n int64, err error) {
	last := parts[len(parts)-1]
	parts = append(parts[:len(parts)-1:len(parts)-1], last[:len(last)/2], last[len(last)/2:])
	for i, p := range parts {
		m, err := l.conn.Write(p)
		if n += int64(m); err != nil {
			return n, err
		}
		switch i {
		case 0:
			failpoint.Hit(failpoint.HeadSent)
		case len(parts) - 2:
			failpoint.Hit(failpoint.BodyHalf)
		}
	}
	return n, nil
}

// abort ends the link at once, from any goroutine; reads and writes under way
// fail. The link must still be given back.
func (l *link) abort() { _ = l.wire.Abort() } // there is nobody to tell

// close stops the pool's connections.
func (u *upstream) close() { u.pool.CloseIdleConnections() }
