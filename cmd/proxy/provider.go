package main

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"syscall"

	"github.com/seed-9236c7ca/preface/bench/provider"
)

// simulate runs the simulated provider until a signal.
func simulate(ctx context.Context, args []string, stdout, _ io.Writer) error {
	fs := newFlags("proxy provider [flags]",
		"Runs the simulated provider: Anthropic Messages, OpenAI Chat Completions and\nOpenAI Responses, with a prompt cache that charges what the real ones would.\nAny API key will do.",
		"proxy provider -listen 127.0.0.1:9000 &\nproxy serve -upstream anthropic=http://127.0.0.1:9000 -upstream openai=http://127.0.0.1:9000")
	listen := fs.String("listen", "127.0.0.1:0", "serve at `ADDR`; port 0 takes a free one")
	fault := fs.String("fault", "", "let this `FAULT` happen to every model call, e.g. status=529,retry-after=1 or stall@2")
	if err := fs.parseNone(args, stdout); err != nil {
		return err
	}
	f, err := provider.ParseFault(*fault)
	if err != nil {
		return usageError{"cannot use -fault: " + err.Error()}
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	p := provider.New(provider.Options{})
	p.SetFault(f)
	if err := p.Start(*listen); err != nil {
		return portError("listen", *listen, err)
	}
	fmt.Fprintf(stdout, "provider at %s\n", p.URL())
	<-ctx.Done()
	return p.Close()
}
