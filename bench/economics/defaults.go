package economics

import (
	"fmt"
	"time"
)

// WithDefaults returns o with what zero values mean. What is below 0 stays.
func (o Options) WithDefaults() Options {
	if len(o.Providers) == 0 {
		o.Providers = []string{"anthropic", "openai"}
	}
	orDefault(&o.OpenerTokens, 4000)
	orDefault(&o.Change.Kind, ChangeEachRequest)
	orDefault(&o.Change.Every, 24*time.Hour)
	orDefault(&o.SubagentInput, 2000)
	orDefault(&o.Burst, 1)
	orDefault(&o.Marks, MarksIdeal)
	orDefault(&o.Shared, 1)
	orDefault(&o.KeepaliveMargin, 30*time.Second)
	orDefault(&o.FirstToken.Base, 600*time.Millisecond)
	orDefault(&o.FirstToken.PerFresh, 64*time.Millisecond)
	orDefault(&o.FirstToken.PerRead, 18*time.Millisecond)
	if o.PriceDate.IsZero() {
		o.PriceDate = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	}
	return o
}

// opener is the opener's size.
func (o Options) opener() int64 { return max(o.OpenerTokens, 0) }

func orDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// check refuses what cannot be simulated.
func (o Options) check() error {
	for _, r := range []struct {
		name  string
		value float64
	}{{"resumes", o.Resumes}, {"compactions", o.Compactions}, {"forks", o.Forks}, {"warm", o.Warm}, {"shared", max(o.Shared, 0)}} {
		if !(r.value >= 0 && r.value <= 1) {
			return fmt.Errorf("%s is %v: want a share from 0 to 1", r.name, r.value)
		}
	}
	if !(o.Subagents >= 0 && o.Subagents <= 1000) || o.Burst < 1 || o.Keepalive < 0 {
		return fmt.Errorf("subagents %v, burst %d, keepalive %d: want numbers that are not negative", o.Subagents, o.Burst, o.Keepalive)
	}
	switch {
	case o.Capacity < 0:
		return fmt.Errorf("capacity %d: want a number that is not negative", o.Capacity)
	case o.Capacity > 0 && (o.Keepalive > 0 || o.Warm > 0 || o.Subagents > 0):
		return fmt.Errorf("capacity %d: keepalives, warm starts and added subagents are simulated with room for everything only", o.Capacity)
	}
	switch o.Change.Kind {
	case ChangeEachRequest, ChangeNever, ChangeMidnight, ChangeDeploy:
	default:
		return fmt.Errorf("unknown change %q: known are each_request, never, midnight, deploy", o.Change.Kind)
	}
	switch o.Marks {
	case MarksIdeal:
	case MarksClient, MarksOpener:
		if o.Keepalive > 0 || o.Warm > 0 {
			return fmt.Errorf("marks %q: keepalive and warm starts are simulated with marks ideal only", o.Marks)
		}
	default:
		return fmt.Errorf("unknown marks %q: known are ideal, client, opener", o.Marks)
	}
	return nil
}

// String names the change as rows do.
func (c Change) String() string {
	if c.Kind == ChangeDeploy {
		return "deploy " + short(c.Every)
	}
	return string(c.Kind)
}

// short writes a time as people do: 90m, 4h.
func short(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}
