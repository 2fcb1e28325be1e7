package redistest

import (
	"fmt"
	"time"
)

// patience is how long anything may take that a server or a group of them does
// by itself. It is for stuck servers; what it waits for takes seconds at most.
const patience = 60 * time.Second

// await asks ok until it has no objection.
func await(what string, ok func() error) error {
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		err := ok()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("cannot see %s within %v: %w", what, patience, err)
		}
	}
}
