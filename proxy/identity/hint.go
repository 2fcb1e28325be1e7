package identity

import "hash/maphash"

// Hint hashes what the headers say of whose request it is, so that it can be
// guessed before the body is read: requests of one thread mostly give the same.
// It is no identity, and requests of different threads may give the same too.
func (r *Resolver) Hint(h *maphash.Hash, header func(name string) []byte) {
	for _, readers := range [...][]reader{r.session, r.thread, r.parent} {
		for i := range readers {
			if name := readers[i].header; name != "" {
				_, _ = h.Write(header(name))
				_ = h.WriteByte(0)
			}
		}
	}
}
