package logsink

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Check reports the first thing in which the anchor contradicts itself: an
// epoch or decision that cannot be, a prefix that is not the hash of the
// messages, a rendering that is not what its hashes say, a bare anchor with
// something to insert (I13). A log refuses such an anchor, since it would be
// wrong for ever.
func (a *Anchor) Check() error {
	if err := a.check(); err != nil {
		return fmt.Errorf("cannot accept anchor of session %q epoch %d: %w", a.Session, a.Epoch, err)
	}
	return nil
}

func (a *Anchor) check() error {
	if err := a.Key.check(); err != nil {
		return err
	}
	if a.Epoch < 1 {
		return errors.New("epochs count from 1")
	}
	switch a.Decision {
	case Inject:
		return a.checkPrefix()
	case Bare:
		if a.Prefix != "" || len(a.Messages) > 0 || len(a.Renderings) > 0 {
			return errors.New("it is bare, yet has something to insert")
		}
		return nil
	}
	return fmt.Errorf("its decision %q is neither %s nor %s", a.Decision, Inject, Bare)
}

func (a *Anchor) checkPrefix() error {
	for _, m := range a.Messages {
		if !utf8.ValidString(m.Text) || !utf8.ValidString(m.Role) {
			return errors.New("a message is not UTF-8")
		}
	}
	if want := PrefixHash(a.Messages); a.Prefix != want || want == "" {
		return fmt.Errorf("its prefix is %q, its messages give %q", a.Prefix, want)
	}
	seen := make(map[string]bool, len(a.Renderings))
	for i := range a.Renderings {
		r := &a.Renderings[i]
		if seen[r.Name] {
			return fmt.Errorf("two renderings are named %q", r.Name)
		}
		seen[r.Name] = true
		if err := r.check(); err != nil {
			return err
		}
	}
	return nil
}

func (r *Rendering) check() error {
	if r.Size != len(r.Bytes) {
		return fmt.Errorf("rendering %q has %d bytes, not %d", r.Name, len(r.Bytes), r.Size)
	}
	if sum := sha256.Sum256(r.Bytes); r.SHA256 != hex.EncodeToString(sum[:]) {
		return fmt.Errorf("rendering %q has the SHA-256 %x, not %q", r.Name, sum, r.SHA256)
	}
	if got := Sum(r.Bytes); r.Blob != got {
		return fmt.Errorf("rendering %q has the digest %s, not %s", r.Name, got, r.Blob)
	}
	return nil
}

// check refuses ids that JSON cannot hold: two of them could read back as one.
func (k Key) check() error {
	if !utf8.ValidString(k.Tenant) || !utf8.ValidString(k.Session) {
		return errors.New("the session's key is not UTF-8")
	}
	return nil
}
