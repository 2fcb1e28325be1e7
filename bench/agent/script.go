package agent

import "fmt"

// A Step is one turn of a script: what the user says, and how many tools the
// model is to call.
type Step struct {
	Prompt string
	Calls  int
}

// Script returns so many turns of a conversation about a made-up repository.
// About half of them call tools. It is the same for the same seed.
func Script(seed uint64, turns int) []Step {
	r := chance(seed, "script")
	steps := make([]Step, turns)
	for i := range steps {
		steps[i] = Step{
			Prompt: fmt.Sprintf("Step %d: %s", i+1, prose(r, 40+r.IntN(300))),
			Calls:  max(0, r.IntN(5)-2),
		}
	}
	return steps
}
