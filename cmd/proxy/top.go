package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/proxy/admin"
)

// tokenVariable is where "proxy top" finds the token if it is not given one.
const tokenVariable = "PREFACE_ADMIN_TOKEN"

// A topFlags is the command line of "proxy top".
type topFlags struct {
	admin, token string
	once         bool
	every        time.Duration
}

// top shows the overview of a running proxy in a terminal.
func top(ctx context.Context, args []string, stdout, _ io.Writer) error {
	fs := newFlags("proxy top [flags]",
		"Shows what a running proxy does: hit rates, money, causes of misses, sessions now.\nIt asks the operators' listener, and goes on until it is stopped; where the output\nis no terminal, it prints once. The token, if the listener asks for one, is best\ngiven in the environment, as "+tokenVariable+".",
		"proxy top\nproxy top -admin http://10.1.2.3:8788 -once")
	f := topFlags{token: os.Getenv(tokenVariable)}
	fs.StringVar(&f.admin, "admin", "http://127.0.0.1:8788", "operators' listener at `URL`")
	fs.Func("token", "`TOKEN` of the listener (admin_token)", func(s string) error { f.token = s; return nil })
	fs.BoolVar(&f.once, "once", false, "print once and end")
	fs.DurationVar(&f.every, "every", 2*time.Second, "`TIME` between two looks")
	if err := fs.parseNone(args, stdout); err != nil {
		return err
	}
	if !strings.Contains(f.admin, "://") {
		f.admin = "http://" + f.admin
	}
	u, err := url.Parse(f.admin)
	if err != nil || u.Host == "" || f.every < 100*time.Millisecond {
		return fs.misused("cannot use -admin %q with -every %v: want http://HOST:PORT and 100ms or more", f.admin, f.every)
	}
	if f.once || !isTerminal(stdout) || os.Getenv("TERM") == "dumb" {
		return f.print(ctx, stdout)
	}
	return f.watch(ctx, stdout)
}

// print shows the overview once, whatever its length.
func (f *topFlags) print(ctx context.Context, stdout io.Writer) error {
	s, err := f.ask(ctx)
	if err != nil {
		return err
	}
	_, err = io.WriteString(stdout, strings.Join(topLines(s, 100), "\n")+"\n")
	return err
}

// What a terminal is told: to show another page, hide the cursor and break no
// line, the other way round, to begin at the top left, to clear to the end of the line or the page.
const (
	ansiEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	ansiLeave = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	ansiHome  = "\x1b[H"
	ansiLine  = "\x1b[K\r\n"
	ansiRest  = "\x1b[J"
)

// watch shows the overview until ctx or a signal ends it. A proxy that does not
// answer for a while is said to, and asked again.
func (f *topFlags) watch(ctx context.Context, stdout io.Writer) error {
	ctx, stop := untilInterrupt(ctx)
	defer stop()
	if _, err := io.WriteString(stdout, ansiEnter); err != nil {
		return err
	}
	defer func() { _, _ = io.WriteString(stdout, ansiLeave) }() // the terminal is gone if it fails
	tick := time.NewTicker(f.every)
	defer tick.Stop()
	resized, done := whenResized()
	defer done()
	for {
		width, height := terminalSize(stdout)
		lines := []string{"preface: cannot ask " + shown(f.admin) + " now; trying again"}
		if s, err := f.ask(ctx); err == nil {
			lines = topLines(s, width)
		} else {
			lines = append(lines, legible.OneLine(err.Error()))
		}
		lines = lines[:min(len(lines), max(height-1, 1))]
		for i := range lines {
			lines[i] = clipTo(lines[i], width)
		}
		if _, err := io.WriteString(stdout, ansiHome+strings.Join(lines, ansiLine)+ansiLine+ansiRest); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-resized:
		}
	}
}

// mostSummary bounds the answer that is read.
const mostSummary = 8 << 20

// ask gets the overview.
func (f *topFlags) ask(ctx context.Context) (*admin.Summary, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(f.admin, "/")+"/api/overview", nil)
	if err != nil {
		return nil, fmt.Errorf("cannot ask for the overview: %w", err)
	}
	if f.token != "" {
		r.Header.Set("Authorization", "Bearer "+f.token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, fmt.Errorf("cannot reach a running proxy; say where its operators' listener is with -admin: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostSummary))
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot read the overview: %w", err)
	case resp.StatusCode == http.StatusUnauthorized:
		return nil, errors.New("the operators' listener asks for its token: set " + tokenVariable + " (setting admin_token)")
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("cannot get the overview: status %d: %s", resp.StatusCode, shown(strings.TrimSpace(string(body[:min(len(body), 300)]))))
	}
	s := new(admin.Summary)
	if err := json.Unmarshal(body, s); err != nil {
		return nil, fmt.Errorf("cannot read the overview; is %s a proxy's operators' listener? %w", shown(f.admin), err)
	}
	return s, nil
}
