package redistest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// commandTimeout ends a command whose server is stuck.
const commandTimeout = 10 * time.Second

// maxDepth bounds how deep arrays nest in a reply.
const maxDepth = 16

// An Error is what a server answered instead of a result, such as
// "MOVED 3 127.0.0.1:7000".
type Error string

func (e Error) Error() string { return string(e) }

// Do sends one command through a connection of its own and returns the reply:
// string, int64, []any or nil. An error that the server answered is an [Error].
func (s *Server) Do(args ...string) (any, error) {
	v, err := ask(s.Addr, args)
	if err != nil {
		return nil, fmt.Errorf("cannot %s at %s: %w", strings.Join(args[:min(len(args), 2)], " "), s.Addr, err)
	}
	return v, nil
}

// text is Do for commands that answer with a string.
func (s *Server) text(args ...string) (string, error) {
	v, err := s.Do(args...)
	if err != nil {
		return "", err
	}
	str, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("%s at %s answered %v, not a string", args[0], s.Addr, v)
	}
	return str, nil
}

// field returns the value of one line "name:value" of what a command answers,
// "" if there is none.
func (s *Server) field(name string, args ...string) (string, error) {
	all, err := s.text(args...)
	for line := range strings.Lines(all) {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(v), nil
		}
	}
	return "", err
}

func ask(addr string, args []string) (any, error) {
	conn, err := net.DialTimeout("tcp", addr, commandTimeout)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(commandTimeout))
	if _, err := conn.Write(appendCommand(nil, args)); err != nil {
		return nil, err
	}
	return readReply(bufio.NewReader(conn), 0)
}

func appendCommand(b []byte, args []string) []byte {
	b = fmt.Appendf(b, "*%d\r\n", len(args))
	for _, a := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b
}

// readReply reads one reply of protocol version 2.
func readReply(r *bufio.Reader, depth int) (any, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	head, ok := strings.CutSuffix(line, "\r\n")
	if !ok || head == "" {
		return nil, fmt.Errorf("cannot read reply line %q", line)
	}
	switch kind, rest := head[0], head[1:]; kind {
	case '+':
		return rest, nil
	case '-':
		return nil, Error(rest)
	case ':':
		return strconv.ParseInt(rest, 10, 64)
	case '$':
		return readBulk(r, rest)
	case '*':
		return readArray(r, rest, depth)
	}
	return nil, fmt.Errorf("cannot read reply line %q", line)
}

func readBulk(r *bufio.Reader, length string) (any, error) {
	n, err := strconv.ParseInt(length, 10, 32)
	if err != nil || n < 0 {
		return nil, err
	}
	var b bytes.Buffer // grows with what arrives, not with what is promised
	if _, err := io.CopyN(&b, r, n+2); err != nil {
		return nil, err
	}
	s, ok := strings.CutSuffix(b.String(), "\r\n")
	if !ok {
		return nil, fmt.Errorf("cannot read a string of %d bytes: it does not end there", n)
	}
	return s, nil
}

func readArray(r *bufio.Reader, length string, depth int) (any, error) {
	n, err := strconv.ParseInt(length, 10, 32)
	if err != nil || n < 0 {
		return nil, err
	}
	if depth == maxDepth {
		return nil, errors.New("cannot read a reply that nests so deep")
	}
	list := []any{}
	for range n {
		v, err := readReply(r, depth+1)
		if e, ok := err.(Error); ok { // one of EXEC's
			v, err = e, nil
		}
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}
