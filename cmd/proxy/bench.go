package main

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// benchCommands are the words behind "proxy bench", in the order of its help. A
// new one is a line here and a file of its own.
func benchCommands() []command {
	return []command{
		{"economics", "tell what ways of giving an opener cost on recorded traffic", benchEconomics},
		{"overhead", "measure what a running proxy adds on this machine", benchOverhead},
		{"wire", "compare what a provider's cache reads over the wire with the model", benchWire},
	}
}

// benchExamples are those of its help, by command.
const benchExamples = `proxy bench economics
proxy bench economics -trace preface.db -o report
proxy bench overhead -h
proxy bench wire -trace cc_traces_rle.jsonl.gz
`

// bench measures: each of its commands is one question.
func bench(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return usageError{"no benchmark is given: want " + strings.Join(benchNames(), " or ") + "; " + asCalled("proxy bench -h") + " tells more"}
	}
	switch name := args[0]; name {
	case "-h", "-help", "--help", "help":
		fmt.Fprint(stdout, benchOverview())
		return nil
	default:
		for _, c := range benchCommands() {
			if c.name == name {
				return c.run(ctx, args[1:], stdout, stderr)
			}
		}
		return usageError{fmt.Sprintf("there is no benchmark %q: want %s; %s tells more", name, strings.Join(benchNames(), " or "), asCalled("proxy bench -h"))}
	}
}

func benchNames() (names []string) {
	for _, c := range benchCommands() {
		names = append(names, c.name)
	}
	return names
}

func benchOverview() string {
	var b strings.Builder
	b.WriteString("usage: " + asCalled("proxy bench COMMAND [flags]") + "\n\nMeasures what an opener costs, and what the proxy does.\n\n")
	for _, c := range benchCommands() {
		fmt.Fprintf(&b, "  %-10s %s\n", c.name, c.about)
	}
	b.WriteString("\nexample:\n")
	for line := range strings.Lines(asCalled(benchExamples)) {
		b.WriteString("  " + line)
	}
	b.WriteString("\n" + asCalled("proxy bench COMMAND -h") + " tells more.\n")
	return b.String()
}
