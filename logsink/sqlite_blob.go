package logsink

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// How a payload is encoded.
const (
	encRaw  = 0
	encZstd = 1
)

// A blob is compressed once, when it is stored, so the default level is worth
// its time. Neither starts goroutines, since only EncodeAll and DecodeAll are
// used.
var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic("BUG: zstd encoder options: " + err.Error())
		}
		return e
	})
	decoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(1<<30))
		if err != nil {
			panic("BUG: zstd decoder options: " + err.Error())
		}
		return d
	})
)

func cloneBlobs(blobs []Blob) []Blob {
	list := slices.Clone(blobs)
	for i := range list {
		list[i].Bytes = bytes.Clone(list[i].Bytes)
	}
	return list
}

// putBlob stores bytes under their digest if they are not there. A blob that
// nothing refers to yet is kept for orphanAge from now.
func (t *tx) putBlob(d Digest, b []byte) error {
	var refs int64
	err := t.row(`SELECT refs FROM blob WHERE digest = ?`, d[:]).Scan(&refs)
	switch {
	case err == nil && refs > 0:
		return nil
	case err == nil:
		_, err = t.exec(`UPDATE blob SET time = ? WHERE digest = ?`, time.Now().UnixNano(), d[:])
		return err
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	if got := Sum(b); got != d {
		return fmt.Errorf("cannot store blob %s: its bytes have the digest %s", d, got)
	}
	enc, data := encRaw, b
	if z := encoder().EncodeAll(b, nil); len(z) < len(b) {
		enc, data = encZstd, z
	}
	if data == nil {
		data = []byte{} // not NULL
	}
	res, err := t.exec(`INSERT INTO payload (enc, data) VALUES (?,?)`, enc, data)
	if err != nil {
		return err
	}
	payload, err := res.LastInsertId()
	if err != nil {
		return err
	}
	_, err = t.exec(`INSERT INTO blob (digest, refs, size, time, payload) VALUES (?,0,?,?,?)`, d[:], len(b), time.Now().UnixNano(), payload)
	return err
}

// refBlob counts one more reference. That there is such a blob is invariant 4.
func (t *tx) refBlob(d Digest) error {
	res, err := t.exec(`UPDATE blob SET refs = refs + 1 WHERE digest = ?`, d[:])
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return fmt.Errorf("%w: %s, which a record refers to; it must come with the record or before it", ErrNoBlob, d)
}

// shareBlob stores a blob that is not there, and counts one more reference. Most
// openers are there: many sessions share them.
func (t *tx) shareBlob(b Blob) error {
	err := t.refBlob(b.Digest)
	if !errors.Is(err, ErrNoBlob) {
		return err
	}
	if err := t.putBlob(b.Digest, b.Bytes); err != nil {
		return err
	}
	return t.refBlob(b.Digest)
}

// unrefBlob takes one reference back. With the last one the blob may go at
// once, unless it is offered again.
func (t *tx) unrefBlob(d Digest) error {
	_, err := t.exec(`UPDATE blob SET refs = max(0, refs - 1), time = CASE WHEN refs > 1 THEN time ELSE 0 END WHERE digest = ?`, d[:])
	return err
}

// blob is readBlob.
func (ask asker) blob(d Digest) ([]byte, error) { return readBlob(ask, d) }

// readBlob returns the bytes under a digest, checked, or ErrNoBlob.
func readBlob(ask asker, d Digest) ([]byte, error) {
	var enc, size int
	var data []byte
	err := ask(`SELECT p.enc, b.size, p.data FROM blob b JOIN payload p ON p.id = b.payload WHERE b.digest = ?`, d[:]).Scan(&enc, &size, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%w: %s", ErrNoBlob, d)
	}
	if err != nil {
		return nil, err
	}
	b, err := decodePayload(enc, size, data)
	if err != nil {
		return nil, damaged("blob %s: %v", d, err)
	}
	if Sum(b) != d {
		return nil, damaged("blob %s: its bytes have another digest", d)
	}
	return b, nil
}

func decodePayload(enc, size int, data []byte) ([]byte, error) {
	switch enc {
	case encRaw:
		return data, nil
	case encZstd:
		b, err := decoder().DecodeAll(data, make([]byte, 0, min(max(size, 0), 64<<20)))
		if err == nil && len(b) != size {
			err = fmt.Errorf("it has %d bytes, not %d", len(b), size)
		}
		return b, err
	}
	return nil, fmt.Errorf("no encoding is %d", enc)
}
