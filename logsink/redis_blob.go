package logsink

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// blobGrace is how long a blob is kept that nothing names: whoever has offered
// it may be about to.
const blobGrace = time.Hour

// putBlobs stores blobs that are not there. Most are: many sessions share an
// opener, so first it is asked for the digests alone.
func (s *Redis) putBlobs(ctx context.Context, blobs []Blob) error {
	digests := make([]Digest, len(blobs))
	for i := range blobs {
		digests[i] = blobs[i].Digest
	}
	there, err := s.touchBlobs(ctx, digests)
	if err != nil {
		return err
	}
	var steps []step
	for i := range blobs {
		if there[i] {
			continue
		}
		d := blobs[i].Digest
		if got := Sum(blobs[i].Bytes); got != d {
			return fmt.Errorf("%w: blob %s has bytes with the digest %s", errRefused, d, got)
		}
		b := d.bucket()
		steps = append(steps, step{putScript, []string{b.named(kindBlob, d[:]), b.key(kindBlobs), b.key(kindClock)}, []any{d.hex(), packBlob(blobs[i].Bytes)}})
	}
	if len(steps) == 0 {
		return nil
	}
	replies, err := s.writeAll(ctx, steps)
	if err != nil {
		return err
	}
	for i, r := range replies {
		if _, err := answered(r, steps[i].keys[0]); err != nil {
			return err
		}
	}
	return nil
}

// touchBlobs reports which blobs are there, and keeps those from being dropped
// for some time.
func (s *Redis) touchBlobs(ctx context.Context, digests []Digest) ([]bool, error) {
	there := make([]bool, len(digests))
	if len(digests) == 0 {
		return there, nil
	}
	steps := make([]step, len(digests))
	for i, d := range digests {
		b := d.bucket()
		steps[i] = step{touchScript, []string{b.named(kindBlob, d[:]), b.key(kindBlobs)}, []any{d.hex()}}
	}
	replies, err := s.writeAll(ctx, steps)
	if err != nil {
		return nil, err
	}
	for i, r := range replies {
		n, err := answered(r, steps[i].keys[0])
		if err != nil {
			return nil, err
		}
		there[i] = len(n) == 1 && n[0] == int64(1)
	}
	return there, nil
}

func (d Digest) hex() string { return hex.EncodeToString(d[:]) }

// A stored blob is a byte that says how it is encoded, and the bytes.
const (
	blobRaw  = 'r'
	blobZstd = 'z'
)

func packBlob(b []byte) []byte {
	if z := encoder().EncodeAll(b, []byte{blobZstd}); len(z) <= len(b) {
		return z
	}
	return append([]byte{blobRaw}, b...)
}

func unpackBlob(stored []byte) ([]byte, error) {
	if len(stored) == 0 {
		return nil, errors.New("it is empty")
	}
	switch stored[0] {
	case blobRaw:
		return stored[1:], nil
	case blobZstd:
		return decoder().DecodeAll(stored[1:], nil)
	}
	return nil, fmt.Errorf("no encoding is %q", stored[0])
}

// ReadBlob implements Reader.
func (s *Redis) ReadBlob(ctx context.Context, d Digest) ([]byte, error) {
	b, err := call(ctx, s, func(ctx context.Context) ([]byte, error) { return s.readBlob(ctx, d) })
	if err != nil {
		return nil, fmt.Errorf("cannot read blob %s: %w", d, err)
	}
	return b, nil
}

func (s *Redis) readBlob(ctx context.Context, d Digest) ([]byte, error) {
	got, err := s.readBlobs(ctx, []Digest{d})
	return got[d], err
}

// readBlobs returns the bytes of all digests, checked, or the error of one.
func (s *Redis) readBlobs(ctx context.Context, digests []Digest) (map[Digest][]byte, error) {
	if len(digests) == 0 {
		return nil, nil
	}
	replies := make([]*redis.StringCmd, len(digests))
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, d := range digests {
			replies[i] = p.Get(ctx, d.bucket().named(kindBlob, d[:]))
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	got := make(map[Digest][]byte, len(digests))
	for i, d := range digests {
		if got[d], err = checkBlob(d, replies[i]); err != nil {
			return nil, err
		}
	}
	return got, nil
}

func checkBlob(d Digest, reply *redis.StringCmd) ([]byte, error) {
	stored, err := reply.Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, fmt.Errorf("%w: %s", ErrNoBlob, d)
	}
	if err != nil {
		return nil, err
	}
	b, err := unpackBlob(stored)
	if err != nil {
		return nil, torn("blob %s: %v", d, err)
	}
	if Sum(b) != d {
		return nil, torn("blob %s: its bytes have another digest", d)
	}
	return b, nil
}
