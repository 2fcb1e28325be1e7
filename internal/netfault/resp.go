package netfault

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	maxDepth = 32        // of arrays in arrays
	maxLine  = 64 << 10  // what Redis takes as a line
	maxBulk  = 512 << 20 // what Redis takes as a string
)

var (
	errShort   = errors.New("more is to come")
	errNotRESP = errors.New("not RESP")
)

// command reads the command that b begins with, and where it ends. There are no
// words if it is one that is not answered: an empty line or list. It wants to be
// called again with more bytes if the error is errShort.
func command(b []byte) (words []string, end int, err error) {
	if len(b) > 0 && b[0] != '*' {
		return inline(b)
	}
	if end, err = element(b, 0); err != nil {
		return nil, 0, err
	}
	_, at, err := line(b)
	if err != nil {
		return nil, 0, err
	}
	for at < end {
		word, n, err := bulk(b[at:])
		if err != nil {
			return nil, 0, err
		}
		words = append(words, word)
		at += n
	}
	return words, end, nil
}

// inline reads a command as people type it.
func inline(b []byte) (words []string, end int, err error) {
	i := bytes.IndexByte(b[:min(len(b), maxLine)], '\n')
	switch {
	case i >= 0:
		return strings.Fields(string(b[:i])), i + 1, nil
	case len(b) >= maxLine:
		return nil, 0, fmt.Errorf("%w: a line of more than %d bytes", errNotRESP, maxLine)
	}
	return nil, 0, errShort
}

// bulk reads a word of a command that element has found complete.
func bulk(b []byte) (word string, end int, err error) {
	head, n, err := line(b)
	if err != nil {
		return "", 0, err
	}
	size, err := length(head)
	if err != nil || size < 0 || head[0] != '$' {
		return "", 0, fmt.Errorf("%w: a word of a command begins with %q", errNotRESP, head)
	}
	return string(b[n : n+size]), n + size + 2, nil
}

// element says where the value that b begins with ends: a reply, or a part of one,
// of RESP 2 or 3.
func element(b []byte, depth int) (end int, err error) {
	head, n, err := line(b)
	if err != nil {
		return 0, err
	}
	switch head[0] {
	case '+', '-', ':', '_', '#', ',', '(':
		return n, nil
	case '$', '!', '=':
		return stringEnd(b, head, n)
	case '*', '~', '>', '%', '|':
		return listEnd(b, head, n, depth)
	}
	return 0, fmt.Errorf("%w: a value begins with %q", errNotRESP, head[:1])
}

// line returns the line that b begins with, without its end, and where it ends.
func line(b []byte) (head []byte, end int, err error) {
	i := bytes.IndexByte(b[:min(len(b), maxLine)], '\n')
	switch {
	case i < 0 && len(b) >= maxLine:
		return nil, 0, fmt.Errorf("%w: a line of more than %d bytes", errNotRESP, maxLine)
	case i < 0:
		return nil, 0, errShort
	case i < 2 || b[i-1] != '\r':
		return nil, 0, fmt.Errorf("%w: the line %q", errNotRESP, b[:min(i+1, 40)])
	}
	return b[:i-1], i + 1, nil
}

func stringEnd(b, head []byte, n int) (end int, err error) {
	size, err := length(head)
	switch {
	case err != nil:
		return 0, err
	case size < 0:
		return n, nil
	case size > maxBulk:
		return 0, fmt.Errorf("%w: a string of %d bytes", errNotRESP, size)
	}
	end = n + size + 2
	if len(b) < end {
		return 0, errShort
	}
	if string(b[end-2:end]) != "\r\n" {
		return 0, fmt.Errorf("%w: a string of %d bytes goes on", errNotRESP, size)
	}
	return end, nil
}

func listEnd(b, head []byte, n, depth int) (end int, err error) {
	count, err := length(head)
	if err != nil {
		return 0, err
	}
	switch head[0] {
	case '%':
		count *= 2
	case '|': // pairs that say something about the value behind them
		count = max(0, count)*2 + 1
	}
	if depth == maxDepth {
		return 0, fmt.Errorf("%w: lists nest deeper than %d", errNotRESP, maxDepth)
	}
	end = n
	for ; count > 0; count-- {
		n, err := element(b[end:], depth+1)
		if err != nil {
			return 0, err
		}
		end += n
	}
	return end, nil
}

// length is the number of bytes or values that a line announces; -1 is RESP 2's
// way to say that there is no value.
func length(head []byte) (int, error) {
	n, err := strconv.ParseInt(string(head[1:]), 10, 32)
	if err != nil || n < -1 {
		return 0, fmt.Errorf("%w: no length in %q", errNotRESP, head[:min(len(head), 40)])
	}
	return int(n), nil
}
