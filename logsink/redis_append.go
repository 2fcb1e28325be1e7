package logsink

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// How long and how many records are remembered, for each session, so that one
// that is offered again is not stored again. A queue offers no more at once, but
// for as long as the log is away.
const (
	seenSeconds = 24 * 3600
	seenMost    = batchRecords
)

// append stores blobs, then pages, then what leads from lineages to pages.
// Records that name a blob that is not there are refused before anything of the
// batch is stored. What a crash in between leaves is stored once when the batch
// is offered again.
func (s *Redis) append(ctx context.Context, pages []*page, blobs []Blob) error {
	if err := s.putBlobs(ctx, blobs); err != nil {
		return err
	}
	if err := s.haveBlobs(ctx, pages, blobs); err != nil {
		return err
	}
	if len(pages) == 0 {
		return nil
	}
	steps := make([]step, len(pages))
	for i, p := range pages {
		steps[i] = p.redisStep()
	}
	replies, err := s.writeAll(ctx, steps)
	if err != nil {
		return err
	}
	for i, p := range pages {
		at, err := answeredTexts(replies[i], steps[i].keys[0])
		if err != nil {
			return err
		}
		if len(at) != len(p.entries)+1 {
			return torn("a page of %d records was answered with %d numbers", len(p.entries), len(at))
		}
		if err := s.putLineages(ctx, p, at); err != nil {
			return err
		}
		s.compare(p, at[len(at)-1])
	}
	return nil
}

// compare tells of records whose epoch the log does not have: a server that was
// emptied, or a replica that took over before it had everything.
func (s *Redis) compare(p *page, latest string) {
	have, _ := strconv.Atoi(latest) // a script wrote it
	if lost := p.epoch(); lost > have && s.lost != nil {
		s.lost(EpochRef{p.of, lost})
	}
}

// OnLost has f called when records come of an epoch that the log does not have:
// it was lost, or is not stored yet. It must not block. It is set before the log
// is used.
func (s *Redis) OnLost(f func(EpochRef)) { s.lost = f }

func (p *page) epoch() int {
	latest := 0
	for i := range p.entries {
		latest = max(latest, p.entries[i].epoch)
	}
	return latest
}

func (p *page) redisStep() step {
	k, b := p.key, p.key.bucket()
	keys := []string{k.key(kindSession), k.key(kindPages), k.key(kindThreads), k.key(kindSeen), k.key(kindSeenOld),
		b.key(kindIndex), b.key(kindAnchored), b.key(kindActive), b.key(kindClock)}
	ids, err := json.Marshal(p.of)
	if err != nil {
		panic("BUG: a session's ids are no JSON: " + err.Error()) // they are UTF-8
	}
	args := []any{k.hex(), micros(max(1000, p.latest())), ids, p.digests(), seenSeconds, seenMost}
	return step{appendScript, keys, append(args, p.redisColumns()...)}
}

// redisColumns are the records as appendScript reads them: of each kind of value
// all one after the other, since an argument of its own for each costs more than
// the rest of the way.
func (p *page) redisColumns() []any {
	n := len(p.entries)
	kinds, threads := make([]byte, 0, n), make([]byte, 0, 8*n)
	lineEnds, headerEnds := make([]byte, 0, 4*n), make([]byte, 0, 4*n)
	var headers []byte
	for i := range p.entries {
		e := &p.entries[i]
		kinds = append(kinds, redisKinds[e.kind])
		threads = binary.BigEndian.AppendUint64(threads, uint64(e.thread))
		headers = append(headers, e.header...)
		lineEnds = binary.BigEndian.AppendUint32(lineEnds, uint32(e.end))
		headerEnds = binary.BigEndian.AppendUint32(headerEnds, uint32(len(headers)))
	}
	return []any{p.ids(), kinds, threads, lineEnds, p.lines, headerEnds, headers}
}

var redisKinds = map[Kind]byte{KindHeader: 'h', KindRequest: 'q', KindResponse: 'p'}

func (t threadHash) bytes() []byte { return binary.BigEndian.AppendUint64(nil, uint64(t)) }

// digests are those of all blobs that a page names.
func (p *page) digests() string {
	var b strings.Builder
	for i := range p.entries {
		for _, d := range p.entries[i].blobs {
			b.WriteString(hex.EncodeToString(d[:]) + " ")
		}
	}
	return strings.TrimSuffix(b.String(), " ")
}

// haveBlobs checks that what the pages name is there or was just put.
func (s *Redis) haveBlobs(ctx context.Context, pages []*page, put []Blob) error {
	have := map[Digest]bool{}
	for i := range put {
		have[put[i].Digest] = true
	}
	var ask []Digest
	for _, p := range pages {
		for i := range p.entries {
			for _, d := range p.entries[i].blobs {
				if !have[d] {
					have[d] = true
					ask = append(ask, d)
				}
			}
		}
	}
	there, err := s.touchBlobs(ctx, ask)
	if err != nil {
		return err
	}
	for i, d := range ask {
		if !there[i] {
			return fmt.Errorf("%w: %s, which a record refers to; it must come with the record or before it", ErrNoBlob, d)
		}
	}
	return nil
}

// putLineages makes the page's derived sessions found by their history. The
// page is there by now, so a lineage never leads to nothing for longer than a
// page lives.
func (s *Redis) putLineages(ctx context.Context, p *page, at []string) error {
	pipe := s.client.Pipeline()
	for i := range p.entries {
		if id := p.entries[i].lineage; id != nil {
			pipe.Set(ctx, bucketOf(id[0]).named(kindLineage, id[:]), p.key.hex()+" "+at[i], s.config.Retention.MaxAge)
		}
	}
	if pipe.Len() == 0 {
		return nil
	}
	_, err := pipe.Exec(ctx)
	return err
}
