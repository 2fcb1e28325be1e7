package faulttest

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

func readAll(c net.Conn) string {
	b, _ := io.ReadAll(c) // a reset ends it as well
	return string(b)
}

// smuggled are request heads that two servers could take for one request or for
// two, with what follows. %s is a request of its own that nobody sent; N is its
// length.
var smuggled = []struct{ name, text string }{
	{"CL and TE", "Content-Length: 5N\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n%s"},
	{"TE and CL", "Transfer-Encoding: chunked\r\nContent-Length: 5N\r\n\r\n0\r\n\r\n%s"},
	{"two CL", "Content-Length: 0\r\nContent-Length: N\r\n\r\n%s"},
	{"two CL, alike", "Content-Length: 0\r\nContent-Length: 0\r\n\r\n%s"},
	{"CL listed", "Content-Length: 0, N\r\n\r\n%s"},
	{"CL signed", "Content-Length: +0\r\n\r\n%s"},
	{"CL negative", "Content-Length: -1\r\n\r\n%s"},
	{"CL hex", "Content-Length: 0x0\r\n\r\n%s"},
	{"CL empty", "Content-Length: \r\n\r\n%s"},
	{"CL with a space inside", "Content-Length: 0 0\r\n\r\n%s"},
	{"CL over 64 bits", "Content-Length: 18446744073709551616\r\n\r\n%s"},
	{"CL with a letter", "Content-Length: 0a\r\n\r\n%s"},
	{"space before the colon", "Content-Length : 0\r\n\r\n%s"},
	{"tab before the colon", "Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n%s"},
	{"two TE", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n%s"},
	{"two TE, alike", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n%s"},
	{"TE folded", "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n%s"},
	{"TE xchunked", "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n%s"},
	{"TE gzip, chunked", "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n%s"},
	{"TE chunked, identity", "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n%s"},
	{"TE with a vertical tab", "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n%s"},
	{"TE with a NUL", "Transfer-Encoding: chunked\x00\r\n\r\n0\r\n\r\n%s"},
	{"TE quoted", "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n%s"},
	{"bare LF between heads", "Content-Length: 0\nX: y\r\n\r\n%s"},
	{"bare LF ends the head", "Content-Length: 0\r\n\n%s"},
	{"CR in a value", "X: a\rContent-Length: N\r\nContent-Length: 0\r\n\r\n%s"},
	{"NUL in a value", "X: a\x00b\r\nContent-Length: 0\r\n\r\n%s"},
	{"header without a colon", "Content-Length: 0\r\nno colon here\r\n\r\n%s"},
	{"empty name", ": x\r\nContent-Length: 0\r\n\r\n%s"},
	{"name with a space", "X Y: z\r\nContent-Length: 0\r\n\r\n%s"},
	{"leading space", " X: y\r\nContent-Length: 0\r\n\r\n%s"},
	{"folded line", "X: y\r\n z\r\nContent-Length: 0\r\n\r\n%s"},
	{"chunk size with a sign", "Transfer-Encoding: chunked\r\n\r\n+0\r\n\r\n%s"},
	{"chunk size hex-prefixed", "Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n%s"},
	{"chunk size over 64 bits", "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n\r\n%s"},
	{"chunk size negative", "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n%s"},
	{"chunks with LF alone", "Transfer-Encoding: chunked\r\n\r\n0\n\n%s"},
	{"chunk extension with LF", "Transfer-Encoding: chunked\r\n\r\n0;a\nb\r\n\r\n%s"},
	{"chunk without its end", "Transfer-Encoding: chunked\r\n\r\n2\r\n{}XX0\r\n\r\n%s"},
	{"trailer that frames", "Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: N\r\n\r\n%s"},
}

// requestLines are request lines in front of an ordinary empty request.
var requestLines = []string{
	"POST /v1/messages HTTP/1.0", "POST /v1/messages HTTP/0.9", "POST /v1/messages HTTP/2.0", "POST /v1/messages HTTP/1.9", "POST /v1/messages",
	"post /v1/messages HTTP/1.1", "PO ST /v1/messages HTTP/1.1", "POST  /v1/messages HTTP/1.1", "POST /v1/messages  HTTP/1.1", "POST\t/v1/messages HTTP/1.1",
	"POST http://elsewhere/v1/messages HTTP/1.1", "POST //elsewhere/v1/messages HTTP/1.1", "POST /v1/messages#x HTTP/1.1", "CONNECT elsewhere:443 HTTP/1.1",
	"PRI * HTTP/2.0", "OPTIONS * HTTP/1.1", " POST /v1/messages HTTP/1.1", "GET /v1/messages HTTP/1.1",
}

// victimMark is in the answers to the victim's requests alone.
const victimMark = "x-preface-session: victim"

// TestI6_Smuggling: behind each request that could be read in two ways comes one
// that must never be served, and another client's request follows on a
// connection of its own. The hidden request never reaches the provider, and
// the other client gets its own answer.
func TestI6_Smuggling(t *testing.T) {
	st := newStage(t, with("timeouts: {receive: 1s, keep_alive: 1s}\n")) // ends what waits for more
	p := st.start()
	hidden := newSession(forms[0], "hidden", false).newTry(1).text()
	f := func(name, request string) {
		t.Helper()
		answer := readAll(talk(t, p.agents, request))
		for _, e := range st.up.Received() {
			if strings.Contains(string(e.Head), ": hidden") {
				t.Fatalf("I6: %s: the hidden request was sent; answer %.300q", name, answer)
			}
		}
		victim := newSession(forms[0], "victim", false)
		got := readAll(talk(t, p.agents, victim.newTry(1).text("connection", "close")))
		if !strings.HasPrefix(got, "HTTP/1.1 200 ") || !strings.Contains(strings.ToLower(got), victimMark) || strings.Count(got, "HTTP/1.1 ") != 1 {
			t.Errorf("I6: %s: the next client got %.400q", name, got)
		}
	}
	for _, s := range smuggled {
		text := strings.ReplaceAll(s.text, "5N", fmt.Sprint(5+len(hidden)))
		text = strings.ReplaceAll(text, "N\r", fmt.Sprint(len(hidden))+"\r")
		f(s.name, "POST /v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: sk-test-1\r\n"+fmt.Sprintf(text, hidden))
	}
	for _, line := range requestLines {
		f(line, line+"\r\nHost: x\r\nx-api-key: sk-test-1\r\nContent-Length: 5\r\n\r\nhello")
	}
	p.stop()
	st.verify(false)
}
