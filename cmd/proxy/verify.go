package main

import (
	"context"
	"fmt"
	"io"

	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/logsink"
)

// verifying returns the action that checks a log from its records alone, or one
// session of it: the findings, one on a line, then what was looked at.
func (f *logFlags) verifying(id string) logAction {
	return func(ctx context.Context, r logsink.Reader, stdout io.Writer) error {
		var only *logsink.Key
		if id != "" {
			s, err := pick(ctx, r, id, f.tenant)
			if err != nil {
				return err
			}
			only = &s.Key
		}
		sum, err := logsink.Verify(ctx, r, only, func(x logsink.Finding) { f.tell(stdout, x) })
		if err != nil {
			return err
		}
		if f.json {
			err = printJSON(stdout, struct {
				logsink.Summary
				OK bool `json:"ok"`
			}{sum, sum.OK()})
		} else {
			_, err = fmt.Fprintln(stdout, verdict(sum))
		}
		if err == nil && !sum.OK() {
			err = quietError{}
		}
		return err
	}
}

func (f *logFlags) tell(w io.Writer, x logsink.Finding) {
	if f.json {
		_ = printJSON(w, x) // the summary's error will tell
		return
	}
	kind := "finding"
	if x.Gap {
		kind = "gap"
	}
	where := fmt.Sprintf("session %s of tenant %s, epoch %d", shown(x.Session), legible.Short(x.Tenant), x.Epoch)
	if x.Record != "" {
		where += ", " + legible.Visible(x.Record)
	}
	fmt.Fprintf(w, "%s: %s: %s\n", kind, where, legible.Visible(x.What))
}

// verdict is the one line that verify ends with.
func verdict(s logsink.Summary) string {
	line := fmt.Sprintf("verify: %s, %s, %s: ", legible.Plural(s.Sessions, "session"), legible.Plural(s.Anchors, "anchor"), legible.Plural(s.Requests, "request"))
	if s.OK() {
		line += "ok"
	} else {
		line += legible.Plural(s.Findings, "finding")
	}
	if s.Gaps > 0 {
		line += ", " + legible.Plural(s.Gaps, "gap") + " where records were dropped or the log has lost them"
	}
	return line
}
