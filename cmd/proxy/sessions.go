package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/logsink"
)

// A sessionsFlags is the command line of "proxy sessions".
type sessionsFlags struct {
	options
	tenant string
	n      int
	json   bool
}

// sessions lists sessions, shows one, or ends an epoch.
func sessions(ctx context.Context, args []string, stdout, _ io.Writer) error {
	fs := newFlags("proxy sessions [flags] [ID | resume ID]",
		"Lists the sessions in the header log, newest first; shows one with its epochs and\nhow their prefixes differ; or ends the epoch of one, so that its next request\nbegins a new one with a fresh prefix. All of it while a proxy is running.",
		"proxy sessions -n 10\nproxy sessions 3f2c\nproxy sessions resume 3f2c")
	var f sessionsFlags
	f.registerRead(fs)
	fs.StringVar(&f.tenant, "tenant", "", "only sessions of the `TENANT`, a hash or its beginning")
	fs.IntVar(&f.n, "n", 50, "list at most `N` sessions; 0 is all")
	fs.BoolVar(&f.json, "json", false, "print JSON")
	words, err := fs.parse(args, stdout)
	switch {
	case err != nil:
		return err
	case len(words) == 0:
		return f.list(ctx, stdout)
	case len(words) == 1 && words[0] != "resume":
		return f.show(ctx, words[0], stdout)
	case len(words) == 2 && words[0] == "resume":
		return f.resume(ctx, words[1], stdout)
	}
	return fs.misused("cannot understand %q: want nothing, ID or resume ID", strings.Join(words, " "))
}

// each calls f with the sessions that the flags select, newest first.
func (f *sessionsFlags) each(ctx context.Context, r logsink.Reader, do func(logsink.SessionInfo) error) error {
	left := f.n
	var failed error
	err := r.Sessions(ctx, wholeTenant(f.tenant), "", func(s logsink.SessionInfo) bool {
		if strings.HasPrefix(s.Tenant, f.tenant) {
			failed = do(s)
			left--
		}
		return failed == nil && left != 0
	})
	if failed != nil {
		return failed
	}
	return err
}

func (f *sessionsFlags) list(ctx context.Context, stdout io.Writer) error {
	r, err := openReader(ctx, f.options)
	if err != nil {
		return err
	}
	defer r.Close()
	if f.json {
		return f.each(ctx, r, func(s logsink.SessionInfo) error { return printJSON(stdout, s) })
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SESSION\tTENANT\tEPOCHS\tPREFIX\tROUTE\tSINCE\tLAST")
	err = f.each(ctx, r, func(s logsink.SessionInfo) error {
		_, err := fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%s\n", shown(s.Session), legible.Short(s.Tenant), s.Epochs, decision(s.Decision, s.Why, s.Prefix), s.Route, stamp(s.Since), stamp(s.LastTime))
		return err
	})
	if err != nil {
		return err
	}
	return w.Flush()
}

// decision shows what an epoch was given.
func decision(decided, why, prefix string) string {
	switch {
	case decided == "":
		return "-"
	case decided == logsink.Bare:
		return "bare; " + why
	case why != "":
		return legible.Short(prefix) + "; " + why
	}
	return legible.Short(prefix)
}

func (f *sessionsFlags) show(ctx context.Context, id string, stdout io.Writer) error {
	r, s, err := openSession(ctx, f.options, id, f.tenant)
	if err != nil {
		return err
	}
	defer r.Close()
	anchors, err := r.Anchors(ctx, s.Key)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(stdout, struct {
			logsink.SessionInfo
			Anchors []*logsink.Anchor `json:"anchors"`
		}{s, anchors})
	}
	fmt.Fprintf(stdout, "session  %s\ntenant   %s\nfound by %s\nroute    %s\nsince    %s\nlast     %s\n", shown(s.Session), s.Tenant, s.Source, s.Route, stamp(s.Since), stamp(s.LastTime))
	var before *logsink.Anchor
	for _, a := range anchors {
		showEpoch(stdout, a, before)
		before = a
	}
	return nil
}

// showEpoch tells what an anchor froze and what changed since the one before.
func showEpoch(w io.Writer, a, before *logsink.Anchor) {
	fmt.Fprintf(w, "\nepoch %d  %s  %s  %s\n", a.Epoch, a.Reason, decision(a.Decision, a.Why, ""), stamp(a.Time))
	if a.Injects() {
		fmt.Fprintf(w, "  prefix %s, %s\n", a.Prefix, legible.Plural(len(a.Messages), "message"))
	}
	for _, c := range a.Contributors {
		fmt.Fprintf(w, "  contributor %s (%s): %s, %s in %v\n", c.Name, c.Kind, c.Outcome, size(c.Bytes), c.Took)
	}
	for _, r := range a.Renderings {
		fmt.Fprintf(w, "  rendering %s: %d bytes, sha256:%s\n", r.Name, r.Size, legible.Short(r.SHA256))
	}
	if a.Config != "" {
		fmt.Fprintf(w, "  by preface %s with configuration %s\n", a.Preface, legible.Short(a.Config))
	}
	if before == nil {
		return
	}
	lines := drift(before.Messages, a.Messages)
	if lines == nil {
		fmt.Fprintf(w, "  same messages as epoch %d\n", before.Epoch)
		return
	}
	fmt.Fprintf(w, "  drift from epoch %d:\n", before.Epoch)
	for _, l := range lines {
		fmt.Fprintf(w, "    %s\n", l)
	}
}

// resume ends the session's epoch in the log; whichever proxy serves it learns
// of that within a second.
func (f *sessionsFlags) resume(ctx context.Context, id string, stdout io.Writer) error {
	c, err := loadLog(f.options)
	if err != nil {
		return err
	}
	// Opened to read first: opening to write makes a log where there is none.
	r, err := logsink.OpenReader(ctx, c)
	if err != nil {
		return err
	}
	s, err := pick(ctx, r, id, f.tenant)
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if s.Epochs == 0 {
		return fmt.Errorf("session %s has no epoch in the log: nothing was frozen for it", shown(s.Session))
	}
	return endEpoch(ctx, c, s, stdout)
}

func endEpoch(ctx context.Context, c logsink.Config, s logsink.SessionInfo, stdout io.Writer) error {
	l, err := logsink.Open(ctx, c)
	if err != nil {
		return err
	}
	err = l.EndEpoch(ctx, s.Key, s.Epochs)
	if cerr := l.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "session %s: epoch %d has ended; its next request begins epoch %d with a fresh prefix\n", shown(s.Session), s.Epochs, s.Epochs+1)
	return nil
}
