package logsink

import "sync"

// A blobReader returns the bytes under a digest, checked, or ErrNoBlob.
type blobReader func(Digest) ([]byte, error)

// interned shares the values of blobs that many anchors have in common: after a
// restart ten thousand sessions with one opener hold its bytes once.
type interned struct {
	mu       sync.Mutex
	bytes    map[Digest][]byte
	messages map[Digest][]Message
	size     int
}

// internMost bounds it; when it is full it starts anew.
const internMost = 32 << 20

func (n *interned) blob(read blobReader, d Digest) ([]byte, error) {
	n.mu.Lock()
	b, ok := n.bytes[d]
	n.mu.Unlock()
	if ok {
		return b, nil
	}
	b, err := read(d)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.room(len(b))
	n.bytes[d] = b
	return b, nil
}

func (n *interned) list(read blobReader, d Digest) ([]Message, error) {
	n.mu.Lock()
	msgs, ok := n.messages[d]
	n.mu.Unlock()
	if ok {
		return msgs, nil
	}
	b, err := read(d)
	if err != nil {
		return nil, err
	}
	if msgs, err = parseMessages(b); err != nil {
		return nil, damaged("messages %s: %v", d, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.room(len(b))
	n.messages[d] = msgs
	return msgs, nil
}

// room makes place for n more bytes. It is called under mu.
func (n *interned) room(size int) {
	if n.bytes == nil || n.size+size > internMost {
		n.bytes, n.messages, n.size = map[Digest][]byte{}, map[Digest][]Message{}, 0
	}
	n.size += size
}
