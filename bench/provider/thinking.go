package provider

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// A signature binds a thinking block to its own text, to all that was sent
// before it, to the model and to the account (facts/providers.md 1.7). What is
// signed is content: cache_control, key order, and string-or-block shape do not
// show in it.
type signature struct{ text, before, model, account [16]byte }

const signatureSize = 4 * 16

// signKey is no secret: signatures only have to be the same on every run.
var signKey = []byte("preface simulated provider")

func signPart(label string, content []byte) (out [16]byte) {
	h := hmac.New(sha256.New, signKey)
	fmt.Fprintf(h, "%s\n", label)
	h.Write(content)
	copy(out[:], h.Sum(nil))
	return out
}

func (m *messagesRequest) sign(text string, before digest) signature {
	return signature{
		text:    signPart("text", []byte(text)),
		before:  signPart("before", before[:]),
		model:   signPart("model", []byte(m.name)),
		account: signPart("account", []byte(m.tenant)),
	}
}

func (s signature) String() string {
	b := make([]byte, 0, signatureSize)
	for _, part := range [][16]byte{s.text, s.before, s.model, s.account} {
		b = append(b, part[:]...)
	}
	return base64.StdEncoding.EncodeToString(b)
}

func parseSignature(s string) (sig signature, ok bool) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil || len(b) != signatureSize {
		return sig, false
	}
	for i, part := range []*[16]byte{&sig.text, &sig.before, &sig.model, &sig.account} {
		copy(part[:], b[i*16:])
	}
	return sig, true
}

// A transformation is what the provider did to a thinking block, as reported
// under the binding beta.
type transformation struct {
	Type   string `json:"type"`
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

const (
	bindingBeta = "thinking-binding-controls-2026-08-01"

	mismatchPrefix  = "prefix_binding_mismatch"
	mismatchModel   = "model_binding_mismatch"
	mismatchAccount = "organization_binding_mismatch"
)

// checkThinking checks every signed block against what stands before it, and
// drops those that may be dropped.
func (m *messagesRequest) checkThinking() *apiError {
	binding := m.body.obj("thinking").obj("block_binding")
	if binding != nil && !m.beta(bindingBeta) {
		return refuse("thinking.block_binding: Extra inputs are not permitted")
	}
	drop := binding.str("prefix_mismatch_behavior") == "drop_block"
	chain := newBindingChain(m.placed)
	dropping := false
	var kept []placed
	for _, p := range m.placed {
		before := chain.upTo(p)
		if !isThinking(p.block) {
			kept = append(kept, p)
			continue
		}
		reason, e := m.judge(p, before, dropping)
		if e != nil && (!drop || reason == "") {
			return e
		}
		if reason == "" {
			kept = append(kept, p)
			continue
		}
		dropping = dropping || reason == mismatchPrefix
		m.changes = append(m.changes, transformation{"thinking_dropped", p.path, reason})
	}
	m.placed, m.bound = kept, chain.here().Sum
	return nil
}

// A bindingChain digests what was sent before each block of a message, tools
// and system included. A compaction stands for all messages before it.
type bindingChain struct {
	*meter
	head block // what every chain begins with
}

func newBindingChain(all []placed) *bindingChain {
	var head []block
	for _, p := range all {
		if p.message < 0 {
			head = append(head, p.content())
		}
	}
	_, end, _ := measure(head, 0)
	c := &bindingChain{head: block{kind: "head", text: end.Sum[:], silent: true}}
	c.restart()
	return c
}

func (c *bindingChain) restart() {
	c.meter = newMeter(0)
	c.add(c.head)
}

// upTo returns the digest of what is before p, and takes p in.
func (c *bindingChain) upTo(p placed) digest {
	if p.message < 0 {
		return digest{}
	}
	if p.block.str("type") == "compaction" {
		c.restart()
	}
	before := c.here().Sum
	c.add(p.content())
	return before
}

func isThinking(b object) bool {
	t := b.str("type")
	return t == "thinking" || t == "redacted_thinking"
}

// judge returns why a block has to be dropped, "" if it stays. The error is set
// where dropping has to be asked for, or is no remedy.
func (m *messagesRequest) judge(p placed, before digest, dropping bool) (string, *apiError) {
	if dropping {
		return mismatchPrefix, nil
	}
	sig, ok := parseSignature(p.block.str("signature"))
	want := m.sign(p.block.str("thinking"), before)
	switch {
	case !ok || sig.text != want.text:
		return "", refuse("%s: Invalid `signature` in `thinking` block", p.path)
	case sig.model != want.model && m.claude.bindsThinking():
		return mismatchModel, nil
	case sig.account != want.account && m.claude.bindsAccount():
		return mismatchAccount, nil
	case sig.before != want.before && m.claude.bindsThinking():
		return mismatchPrefix, refuse("%s: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".", p.path)
	}
	return "", nil
}
