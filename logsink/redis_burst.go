package logsink

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"
)

// Bursts are what replicas on one Redis tell each other of requests that begin
// alike and come at once: who of them goes first, and how long the provider is
// known to have the beginning in its cache. Nothing of it is a record: it goes by
// itself when its time is over, it waits for no replica of the server, and what is
// lost or comes late costs a wait or a cache write and no more.
type Bursts struct{ log *Redis }

// Bursts returns what other processes on this log share. It works until Close.
func (s *Redis) Bursts() *Bursts { return &Bursts{s} }

// A BurstID is a hash of a beginning, the tenant and the provider included.
type BurstID [16]byte

func (id BurstID) key() string { return bucketOf(id[0]).named(kindBurst, id[:]) }

// A BurstClaim is somebody's right to go first. The zero one is nobody's.
type BurstClaim string

// A BurstTurn is the answer to one who would go first: that it does, or that the
// beginning is cached for so long yet. If it is neither, somebody else goes first.
type BurstTurn struct {
	First bool
	Warm  time.Duration
}

// warmBurst is the value of a key whose beginning is cached, else it is a claim.
const warmBurst = "warm"

// enterBurstScript lets the caller go first if nobody does and the beginning is not
// cached. It returns who does, or for how many ms it is.
//
// KEYS burst
// ARGV claim, ms
var enterBurstScript = script(`
local v = redis.call('GET', KEYS[1])
if not v then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  v = ARGV[1]
end
if v == 'warm' then return {KEYS[1], v, redis.call('PTTL', KEYS[1])} end
return {KEYS[1], v, 0}
`)

// warmBurstScript notes that a beginning is cached, for the longest time that
// anybody told.
//
// KEYS burst
// ARGV ms
var warmBurstScript = script(`
if redis.call('GET', KEYS[1]) ~= 'warm' or redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[1], 'warm', 'PX', ARGV[1])
end
return {KEYS[1]}
`)

// quitBurstScript ends a claim that stands.
//
// KEYS burst
// ARGV claim
var quitBurstScript = script(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return {KEYS[1]}
`)

// Enter asks to go first by a fresh claim, which stands for hold at most: then
// another may, as its holder may be gone. After an error the claim may stand, too.
func (b *Bursts) Enter(ctx context.Context, id BurstID, claim BurstClaim, hold time.Duration) (BurstTurn, error) {
	there, err := b.run(ctx, step{enterBurstScript, []string{id.key()}, []any{string(claim), max(1, hold.Milliseconds())}})
	if err != nil {
		return BurstTurn{}, fmt.Errorf("cannot ask who goes first in a burst: %w", err)
	}
	return burstTurn(there, claim)
}

// NewBurstClaim returns a claim that nobody has.
func NewBurstClaim() BurstClaim {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return BurstClaim(hex.EncodeToString(b[:]))
}

func burstTurn(there []any, claim BurstClaim) (BurstTurn, error) {
	if len(there) != 2 {
		return BurstTurn{}, torn("a burst has %d values, want two", len(there))
	}
	ms, _ := there[1].(int64)
	switch there[0] {
	case string(claim):
		return BurstTurn{First: true}, nil
	case warmBurst:
		return BurstTurn{Warm: time.Duration(max(1, ms)) * time.Millisecond}, nil
	}
	return BurstTurn{}, nil
}

// Warm tells that a beginning is cached for life from now on.
func (b *Bursts) Warm(ctx context.Context, id BurstID, life time.Duration) error {
	if life < time.Millisecond {
		return nil
	}
	if _, err := b.run(ctx, step{warmBurstScript, []string{id.key()}, []any{life.Milliseconds()}}); err != nil {
		return fmt.Errorf("cannot tell that a burst may go on: %w", err)
	}
	return nil
}

// Quit ends a claim that came to nothing, so that the next one goes first.
func (b *Bursts) Quit(ctx context.Context, id BurstID, claim BurstClaim) error {
	if _, err := b.run(ctx, step{quitBurstScript, []string{id.key()}, []any{string(claim)}}); err != nil {
		return fmt.Errorf("cannot let the next one of a burst go first: %w", err)
	}
	return nil
}

// run is write without its durability.
func (b *Bursts) run(ctx context.Context, st step) ([]any, error) {
	return call(ctx, b.log, func(ctx context.Context) ([]any, error) {
		replies, err := b.log.readAll(ctx, []step{st})
		if err != nil {
			return nil, err
		}
		return answered(replies[0], st.keys[0])
	})
}
