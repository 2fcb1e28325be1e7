package logsink

import (
	"crypto/sha256"
	"encoding/hex"
)

// PrefixHash returns the name of a prefix, "sha256:" and the hex SHA-256 of the
// canonical JSON of its messages, or "" if there are none.
//
// The canonical JSON is that of RFC 8785 for the list of messages: no white
// space, in each message "role" then "text", strings with only the quotation
// mark, the backslash and control characters escaped. For ["user", "hi"]:
//
//	[{"role":"user","text":"hi"}]
func PrefixHash(msgs []Message) string {
	if len(msgs) == 0 {
		return ""
	}
	return prefixHashOf(appendMessages(nil, msgs))
}

func prefixHashOf(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// appendMessages writes the canonical JSON of PrefixHash.
func appendMessages(dst []byte, msgs []Message) []byte {
	dst = append(dst, '[')
	for i, m := range msgs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendStr(dst, `{"role":`, m.Role)
		dst = appendStr(dst, `,"text":`, m.Text)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}
