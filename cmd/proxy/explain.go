package main

import (
	"context"
	"io"
	"strings"

	"github.com/seed-9236c7ca/preface/proxy/dialect"
)

// An explainFlags is the command line of "proxy explain".
type explainFlags struct {
	sessionsFlags
	dialect string
}

// explain says why a provider's cache read less than it could have.
func explain(ctx context.Context, args []string, stdout, _ io.Writer) error {
	fs := newFlags("proxy explain [flags] SESSION | A.json B.json",
		"Says why a provider's prompt cache read less than it could have.\n\n  SESSION          the requests of a session in the header log whose reads fell short,\n                   with cause, owner and price\n  A.json B.json    two saved request bodies: what of B cannot be read although A was\n                   sent before it, and from which byte on. Nothing is sent anywhere.",
		"proxy explain 3f2c\nproxy explain -json monday.json tuesday.json")
	var f explainFlags
	f.registerRead(fs)
	fs.StringVar(&f.tenant, "tenant", "", "only a session of the `TENANT`, a hash or its beginning")
	fs.StringVar(&f.dialect, "dialect", "", "the bodies are in the dialect `NAME`: "+strings.Join(dialect.Names(), ", ")+" (default: as they look)")
	fs.BoolVar(&f.json, "json", false, "print JSON: one object for two bodies, a line for each request of a session")
	words, err := fs.parse(args, stdout)
	switch {
	case err != nil:
		return err
	case len(words) == 1 && f.dialect != "":
		return fs.misused("-dialect is for two bodies; the log knows that of session %q", words[0])
	case len(words) == 1:
		return f.session(ctx, words[0], stdout)
	case len(words) == 2:
		return f.bodies(words[0], words[1], stdout)
	}
	return fs.misused("cannot understand %q: want a session, or two files", strings.Join(words, " "))
}
