package logsink

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// buckets is how many hash slots sessions and blobs are spread over. It is part
// of the format: another number would look for everything elsewhere.
const buckets = 64

// A bucket is one of them. Its keys share the hash tag {NN}.
type bucket int

func bucketOf(firstByte byte) bucket { return bucket(firstByte & (buckets - 1)) }

func (k sessionKey) bucket() bucket { return bucketOf(k[0]) }

// key names something of a bucket. All keys begin with "preface:", so that a
// user of the server can be bound to them.
func (b bucket) key(kind string) string { return fmt.Sprintf("preface:{%02x}:%s", int(b), kind) }

func (b bucket) named(kind string, id []byte) string {
	return fmt.Sprintf("preface:{%02x}:%s:%s", int(b), kind, hex.EncodeToString(id))
}

// Kinds of keys. redis_script.go says what they hold.
const (
	kindSession = "session"
	kindPages   = "pages"
	kindThreads = "threads"
	kindSeen    = "seen"
	kindSeenOld = "seen_before"
	kindBlob    = "blob"
	kindLineage = "lineage"
	kindSecret  = "secret"
	kindBurst   = "burst" // who goes first, or that its beginning is cached (redis_burst.go)

	kindIndex    = "index"    // stream: all pages
	kindAnchored = "anchored" // sorted set: sessions by latest anchor
	kindActive   = "active"   // sorted set: sessions by latest record
	kindEnded    = "ended"    // stream: epochs that have ended
	kindClock    = "clock"    // hash: latest page number, bytes held
	kindBlobs    = "blobs"    // sorted set: blobs by when they were last offered
	kindFormat   = "format"
	kindSweep    = "sweep" // somebody has swept blobs of late
	kindFence    = "fence" // written so that there is something to wait for
)

// fenceBeside is the fence of the bucket that a key is of.
func fenceBeside(key string) string {
	bucket, _, _ := strings.Cut(key, "}:")
	return bucket + "}:" + kindFence
}

func (k sessionKey) key(kind string) string { return k.bucket().named(kind, k[:]) }

func (d Digest) bucket() bucket { return bucketOf(d[0]) }

// A tick numbers the pages of a bucket: 8 µs of the server's clock since 2024,
// or one more than the last if that is later. So pages of all buckets have an
// order that is that of time, without anything that all buckets share.
type tick int64

const (
	tickLength = 8 * time.Microsecond
	tickEpoch  = 1704067200 // 2024-01-01, Unix seconds; redis_script.go has it too
)

func tickAt(t time.Time) tick { return tick(t.Sub(time.Unix(tickEpoch, 0)) / tickLength) }

// stream is the tick as the id of a stream's entry.
func (v tick) stream() string { return fmt.Sprintf("%d-0", v) }

func parseTick(id string) (v tick, err error) {
	_, err = fmt.Sscanf(id, "%d-0", &v)
	if err != nil {
		return 0, torn("entry %q of a stream is none of ours", id)
	}
	return v, nil
}

// A cursor of Records is the tick of a page, its bucket, and the place of the
// record in it, from high to low bits. Ticks fit until 2059.
const (
	placeBits  = 10 // pageRecords
	bucketBits = 6  // buckets
)

func cursorOf(v tick, b bucket, place int) int64 {
	return int64(v)<<(placeBits+bucketBits) | int64(b)<<placeBits | int64(place)
}

func tickOf(cursor int64) tick { return tick(cursor >> (placeBits + bucketBits)) }

// micros is how times stand in Redis: sorted sets have doubles for scores, in
// which nanoseconds would be rounded.
func micros(ns int64) int64 { return ns / 1000 }

func fromMicros(us int64) time.Time { return time.UnixMicro(us).UTC() }
