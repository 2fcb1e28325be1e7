package account

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// WriteJSON writes the report as one object. Money is in picodollars, 10^-12 USD.
func (r *Report) WriteJSON(w io.Writer) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("cannot write the report as JSON: %w", err)
	}
	_, err = w.Write(append(speechless(b), '\n'))
	return err
}

// speechless escapes what could speak to a terminal or hide text. In JSON it can
// only stand in a string.
func speechless(b []byte) []byte {
	var out bytes.Buffer
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == '\n' || unicode.IsGraphic(r) && !(r == utf8.RuneError && n == 1):
			out.Write(b[:n])
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		b = b[n:]
	}
	return out.Bytes()
}
