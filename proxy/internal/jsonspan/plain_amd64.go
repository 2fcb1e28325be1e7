package jsonspan

import "golang.org/x/sys/cpu"

var wide = cpu.X86.HasAVX2 && cpu.X86.HasBMI1

// plain returns an offset from i on up to which the inside of a string is right
// and goes on. It looks at blocks of 64 bytes: what remains after the last whole
// one, and what is wrong, it leaves to its caller.
func plain(body []byte, i int) int {
	if !wide || len(body)-i < 64 || i < 3 {
		return i
	}
	return i + plainAVX2(&body[i], len(body)-i)
}

// plainAVX2 does so for the n bytes at p. It reads three bytes before p too.
//
//go:noescape
func plainAVX2(p *byte, n int) int
