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

// A logFlags is the command line of "proxy log".
type logFlags struct {
	sessionsFlags
}

// logCommand reads the header log.
func logCommand(ctx context.Context, args []string, stdout, _ io.Writer) error {
	fs := newFlags("proxy log [flags] ls | show SESSION | tail | verify [SESSION]",
		"Reads the header log, also of a running proxy.\n\n  ls       sessions with what was recorded of them, newest first\n  show     all records of a session, oldest first\n  tail     the latest records, and those to come\n  verify   rebuild all that can be rebuilt and compare it with what was recorded",
		"proxy log ls -n 5\nproxy log show 3f2c -json\nproxy log verify -log /var/lib/preface/preface.db")
	var f logFlags
	f.registerRead(fs)
	fs.StringVar(&f.tenant, "tenant", "", "only sessions of the `TENANT`, a hash or its beginning")
	fs.IntVar(&f.n, "n", 20, "ls at most `N` sessions (0 is all); tail begins with N records")
	fs.BoolVar(&f.json, "json", false, "print JSON, a line for each record")
	words, err := fs.parse(args, stdout)
	if err != nil {
		return err
	}
	do, err := f.choose(fs, words)
	if err != nil {
		return err
	}
	r, err := openReader(ctx, f.options)
	if err != nil {
		return err
	}
	defer r.Close()
	return do(ctx, r, stdout)
}

type logAction func(ctx context.Context, r logsink.Reader, stdout io.Writer) error

func (f *logFlags) choose(fs *flagSet, words []string) (logAction, error) {
	what, rest := "", ""
	if len(words) > 0 {
		what = words[0]
	}
	if len(words) > 1 {
		rest = words[1]
	}
	switch {
	case what == "ls" && len(words) == 1:
		return f.ls, nil
	case what == "show" && len(words) == 2:
		return f.showing(rest), nil
	case what == "tail" && len(words) == 1:
		return f.tail, nil
	case what == "verify" && len(words) <= 2:
		return f.verifying(rest), nil
	}
	return nil, fs.misused("cannot understand %q: want ls, show SESSION, tail or verify [SESSION]", strings.Join(words, " "))
}

// A tally is what was recorded of one session.
type tally struct {
	logsink.SessionInfo
	Threads  int `json:"threads"`
	Headers  int `json:"headers"`
	Requests int `json:"requests"`
	// Incomplete are the requests whose answer did not come to its end.
	Incomplete int `json:"incomplete"`
}

func (f *logFlags) ls(ctx context.Context, r logsink.Reader, stdout io.Writer) error {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	if !f.json {
		fmt.Fprintln(w, "SESSION\tTENANT\tEPOCHS\tTHREADS\tHEADERS\tREQUESTS\tINCOMPLETE\tLAST\tPREFIX")
	}
	err := f.each(ctx, r, func(s logsink.SessionInfo) error {
		t, err := count(ctx, r, s)
		if err != nil {
			return err
		}
		if f.json {
			return printJSON(stdout, t)
		}
		_, err = fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\n", shown(s.Session), legible.Short(s.Tenant), s.Epochs, t.Threads, t.Headers, t.Requests, t.Incomplete, stamp(s.LastTime), decision(s.Decision, s.Why, s.Prefix))
		return err
	})
	if err != nil {
		return err
	}
	return w.Flush()
}

func count(ctx context.Context, r logsink.Reader, s logsink.SessionInfo) (tally, error) {
	t := tally{SessionInfo: s}
	threads := map[string]bool{}
	err := r.Records(ctx, s.Key, 0, func(_ int64, rec logsink.Record) bool {
		switch {
		case rec.Header != nil:
			t.Headers++
		case rec.Request != nil:
			t.Requests++
			t.Incomplete++
			threads[rec.Request.Thread] = true
		case rec.Response != nil && rec.Response.End == logsink.EndComplete:
			t.Incomplete--
		}
		return true
	})
	t.Threads = len(threads)
	return t, err
}

// showing returns the action that prints all records of a session: each anchor
// before the first record of its epoch.
func (f *logFlags) showing(id string) logAction {
	return func(ctx context.Context, r logsink.Reader, stdout io.Writer) error {
		s, err := pick(ctx, r, id, f.tenant)
		if err != nil {
			return err
		}
		anchors, err := r.Anchors(ctx, s.Key)
		if err != nil {
			return err
		}
		p := recordPrinter{w: stdout, json: f.json}
		anchorsTo := func(epoch int) {
			for len(anchors) > 0 && anchors[0].Epoch <= epoch {
				p.print(logsink.Record{Anchor: anchors[0]})
				anchors = anchors[1:]
			}
		}
		err = r.Records(ctx, s.Key, 0, func(_ int64, rec logsink.Record) bool {
			anchorsTo(rec.Of().Epoch)
			return p.print(rec)
		})
		if err != nil {
			return err
		}
		anchorsTo(1<<63 - 1)
		return p.err
	}
}
