package logsink

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"
)

// checksum is kept beside what a row holds: a text, and other columns of the
// row. It is against bits that change on the disk, which neither SQLite nor JSON
// would notice, not against a forger.
func checksum(text []byte, columns ...any) int64 {
	var buf [512]byte
	b := buf[:0]
	for _, c := range columns {
		switch c := c.(type) {
		case int64:
			b = binary.BigEndian.AppendUint64(b, uint64(c))
		case string:
			b = append(binary.AppendUvarint(b, uint64(len(c))), c...)
		case []byte:
			b = append(binary.AppendUvarint(b, uint64(len(c))), c...)
		default:
			panic(fmt.Sprintf("BUG: no column is a %T", c))
		}
	}
	return int64(xxh3.HashSeed(text, xxh3.Hash(b)))
}
