package main

import (
	"context"

	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
)

// closingKind is the kind of contributor that prefix.closing stands for.
const closingKind = "closing"

func init() { contrib.Register(closingKind, newClosing) }

// A closing line is an assistant message at the end of the prefix, so that
// roles alternate with the user message that follows. It is given only where
// something else was composed that does not end in such a message: a prefix of
// nothing but our own courtesy would be no prefix.
type closing string

func newClosing(c contrib.Config) (contrib.Contributor, error) { return closing(c.Text), nil }

func (t closing) Contribute(_ context.Context, _ contrib.Session, list []contrib.Message) ([]contrib.Message, error) {
	if len(list) == 0 || list[len(list)-1].Role == "assistant" {
		return list, nil
	}
	return append(list, contrib.Message{Role: "assistant", Text: string(t)}), nil
}

// addClosing makes a contributor of prefix.closing, the last of every route.
func (s *settings) addClosing() {
	if s.Prefix.Closing != "" {
		addContributor(&s.config, contrib.Config{Name: closingKind, Kind: closingKind, Role: "assistant", Text: s.Prefix.Closing})
	}
}
