package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

const claudeCountPath = "/v1/messages/count_tokens?beta=true"

// fragments is how many counts Claude Code's /context sends.
const fragments = 22

// Fragments counts pieces of the conversation and of the header one by one, all
// at once, as Claude Code does to show how full its context is. Other kinds do
// nothing.
func (a *Agent) Fragments(ctx context.Context) error {
	c, ok := a.format.(*claude)
	if !ok {
		return nil
	}
	errs := make([]error, fragments)
	var all sync.WaitGroup
	for i := range fragments {
		body := encode(c.fragment(i))
		call := a.call(ClassFragment, claudeCountPath, body)
		all.Go(func() { _, errs[i] = a.send(ctx, call, nil) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// fragment is one piece: a tool beside next to nothing, or a text.
func (c *claude) fragment(i int) claudeRequest {
	one := claudeRequest{Model: c.model, Tools: []claudeTool{}, Messages: []claudeMessage{{"user", "foo"}}}
	if i < len(c.tools) {
		one.Tools = c.tools[i : i+1]
		return one
	}
	texts := append([]string{c.system[2].Text, c.today}, c.reminders...)
	one.Messages[0].Content = fmt.Sprintf("%d: %s", i, texts[i%len(texts)])
	return one
}

// Count counts the conversation so far as a whole, as programs do that decide
// when to compact. Other kinds do nothing.
func (a *Agent) Count(ctx context.Context) error {
	c, ok := a.format.(*claude)
	if !ok {
		return nil
	}
	// What comes next is what would be sent: the count is of a turn.
	next := append(a.history[:len(a.history):len(a.history)], entry{role: "user", texts: []string{"What next?"}})
	r := c.request(next, "")
	r.Metadata, r.MaxTokens, r.Stream, r.Output = nil, 0, false, nil
	_, err := a.send(ctx, a.call(ClassCount, claudeCountPath, encode(r)), nil)
	return err
}
