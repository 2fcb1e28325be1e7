package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench/redis:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("want memory or proxies")
	}
	t := &table{}
	defer t.print(os.Stdout)
	fs := flag.NewFlagSet(args[0], flag.ContinueOnError)
	switch args[0] {
	case "memory":
		m := memory{}
		fs.StringVar(&m.redis, "redis", "", "an empty server at `ADDR`; what is in it is not deleted")
		fs.IntVar(&m.sessions, "sessions", 100_000, "how many are frozen")
		if err := fs.Parse(args[1:]); err != nil {
			return err
		}
		return errors.Join(m.measure(t), t.missed())
	case "proxies":
		var p proxies
		fs.Var(&p.redis, "redis", "the replicas' server, as `ADDR@PID`")
		fs.Var(&p.embedded, "embedded", "a proxy with the embedded log, as `URL@PID`")
		fs.Var(&p.replicas, "replica", "a proxy with its log in Redis, as `URL@PID` (repeatable)")
		if err := fs.Parse(args[1:]); err != nil {
			return err
		}
		return errors.Join(p.measure(t), t.missed())
	}
	return fmt.Errorf("want memory or proxies, not %q", args[0])
}

// A process is where one is reached, and its id.
type process struct {
	addr string
	pid  int
}

func (p *process) String() string { return p.addr }

func (p *process) Set(s string) (err error) {
	addr, pid, _ := strings.Cut(s, "@")
	p.addr = addr
	p.pid, err = strconv.Atoi(pid)
	return err
}

type processes []process

func (l *processes) String() string { return "" }

func (l *processes) Set(s string) error {
	var p process
	err := p.Set(s)
	*l = append(*l, p)
	return err
}
