package agent

import (
	"context"
	"fmt"
	"strings"
)

// maxRounds bounds the requests of one turn.
const maxRounds = 32

// Turn has the user say something, and goes on until the model calls no more
// tools. calls is how many tools the prompt asks the simulated model to call, one
// after the other.
//
// After an error the turn stands where it stood before the request that failed;
// Retry goes on with it.
func (a *Agent) Turn(ctx context.Context, prompt string, calls int) error {
	a.say(prompt + a.wish(calls))
	return a.Retry(ctx)
}

// Retry goes on with a turn whose last request failed: with the same bytes.
func (a *Agent) Retry(ctx context.Context) error {
	for range maxRounds {
		got, err := a.ask(ctx)
		if err != nil {
			return err
		}
		a.history = append(a.history, entry{role: "assistant", parts: got.parts})
		if len(got.calls) == 0 {
			return nil
		}
		a.history = append(a.history, entry{role: "tool", results: a.run(got.calls)})
	}
	return fmt.Errorf("agent %s: the model still calls tools after %d requests", a.cfg.Name, maxRounds)
}

// say adds the user's words. What stands before the first of them is the
// format's.
func (a *Agent) say(prompt string) {
	if len(a.history) == 0 {
		a.history = a.format.open(prompt)
		return
	}
	a.history = append(a.history, entry{role: "user", texts: []string{prompt}})
}

// wish names tools in the words that the simulated provider understands.
func (a *Agent) wish(calls int) string {
	var b strings.Builder
	names := toolNames(a.cfg.Kind)
	for i := range calls {
		b.WriteString(" CALL_TOOL " + names[i%len(names)])
	}
	return b.String()
}

// ask sends the next request of the conversation.
func (a *Agent) ask(ctx context.Context) (answer, error) {
	a.requests++
	opener := ""
	if a.cfg.Opener != nil {
		opener = a.cfg.Opener(a.requests)
	}
	c := a.call(ClassTurn, a.format.path(), a.format.body(a, opener))
	return a.send(ctx, c, a.format.reader())
}

// run gives what the tools give: some lines of text, the same for the same seed
// and place in the conversation.
func (a *Agent) run(calls []toolCall) []result {
	out := make([]result, len(calls))
	for i, c := range calls {
		a.results++
		r := chance(a.cfg.Seed, fmt.Sprintf("result %d of %s", a.results, a.cfg.Name))
		out[i] = result{c, prose(r, 200+r.IntN(1800))}
	}
	return out
}

// Title asks for a title of a conversation that begins with the prompt, as real
// agents do beside their first request.
func (a *Agent) Title(ctx context.Context, prompt string) error {
	_, err := a.send(ctx, a.call(ClassTitle, a.format.path(), a.format.title(a, prompt)), a.format.reader())
	return err
}
