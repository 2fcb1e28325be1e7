package proxy

import (
	"bytes"
	"errors"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore"
	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/identity"
)

// identify finds whose session the request belongs to, and which thread of it.
func (x *exchange) identify() error {
	in := identity.Input{
		Family:      dialect.Family(x.dialect.Name()),
		Header:      x.get,
		Credential:  x.credential(),
		Named:       x.session,
		Doc:         &x.doc,
		History:     x.facts.History,
		FirstPrompt: x.facts.FirstPrompt,
		Answered:    x.facts.Answered,
		Peek:        x.peeks(),
	}
	var err error
	x.ident, err = x.gen.resolver.Resolve(x.life, &in)
	if x.ident.Derived {
		x.sent.history = append(x.sent.history[:0], x.facts.History...)
	}
	if errors.Is(err, identity.ErrIndex) {
		// A history whose session only the log could tell: as for any session
		// that this process does not know (DESIGN.md 4.9).
		return x.unlogged(err)
	}
	return err
}

// peeks reports whether the request is no turn of a conversation: nothing is
// learnt from it, and it begins no session that only its content would name.
func (x *exchange) peeks() bool { return x.endpoint == dialect.Count || x.facts.Side }

// credential is what authenticates the caller: the API key, or the whole
// authorization. It is hashed and forgotten. Of several it is the one that the
// provider reads: two callers are not one because a header that is nothing to
// the provider is the same.
func (x *exchange) credential() []byte {
	names := [...]string{"x-api-key", "authorization", "api-key"}
	if dialect.Family(x.dialect.Name()) == "openai" {
		names = [...]string{"authorization", "api-key", "x-api-key"}
	}
	for _, name := range names {
		if v := x.head.get(name); len(v) > 0 {
			return bearer(v)
		}
	}
	return nil
}

// bearer takes the scheme off an authorization, so that a key is one tenant
// however it is sent.
func bearer(v []byte) []byte {
	const scheme = "bearer "
	if len(v) > len(scheme) && is(v[:len(scheme)-1], scheme[:len(scheme)-1]) && v[len(scheme)-1] == ' ' {
		return bytes.TrimSpace(v[len(scheme):])
	}
	return v
}

// subscribes reports whether the caller signs in with a subscription instead
// of an API key: Claude's OAuth tokens begin with sk-ant-oat, ChatGPT's are
// JSON web tokens and come with an account id (facts/clients.md 5). An API key
// beside such a token hides nothing.
func (x *exchange) subscribes() bool {
	return x.head.get("chatgpt-account-id") != nil ||
		isSubscription(x.credential()) || isSubscription(bearer(x.head.get("authorization")))
}

func isSubscription(token []byte) bool {
	return bytes.HasPrefix(token, []byte("sk-ant-oat")) ||
		bytes.HasPrefix(token, []byte("eyJ")) && bytes.Count(token, []byte(".")) == 2
}

// want is what the store must know to find or freeze this request's epoch.
func (x *exchange) want() prefixstore.Want {
	w := prefixstore.Want{
		Key:           x.key(),
		Source:        x.ident.Source,
		Resume:        x.ident.Resume,
		SignedHistory: x.facts.SignedThinking,
		Session: contrib.Session{
			Dialect: x.dialect.Name(), Model: string(x.facts.Model), Headers: x.told(),
		},
	}
	if x.route.Subscription == PassBare && x.subscribes() {
		w.Bare = whySubscription
	}
	return w
}

func (x *exchange) key() logsink.Key {
	return logsink.Key{Tenant: x.ident.Tenant, Session: x.ident.Session}
}

// told copies the headers that the route's contributors ask for.
func (x *exchange) told() map[string]string {
	var m map[string]string
	for _, name := range x.route.headers {
		if v := x.head.get(name); v != nil {
			if m == nil {
				m = map[string]string{}
			}
			m[name] = string(v)
		}
	}
	return m
}

// freeze finds the session's epoch, or freezes its first one, or its next.
// When it returns nil the epoch's anchor is in the log.
func (x *exchange) freeze() error {
	if x.epoch != nil {
		return nil // decided already, while the log was down
	}
	e := x.s.store.Live(x.key(), x.ident.Resume)
	if e == nil && x.ident.Derived && x.peeks() {
		return x.peek()
	}
	if e == nil {
		var err error
		if e, err = x.s.store.Find(x.life, x.want(), x.route.recipe); err != nil {
			return x.unfrozen(err)
		}
	}
	x.epoch = e
	if e.Why == whySubscription {
		x.s.noteSubscription(x.route.Name)
	}
	return nil
}

// peek finds the epoch of a session that the request must not begin. Without
// one the request goes on untouched, and there is no session to record it in.
func (x *exchange) peek() error {
	e, err := x.s.store.Peek(x.life, x.key())
	if errors.Is(err, logsink.ErrNoSession) {
		x.plan.why = whySide
		if x.endpoint == dialect.Count {
			x.plan.why = whyFragment
		}
		return nil
	}
	if err != nil {
		return x.unfrozen(err)
	}
	x.epoch = e
	return nil
}
