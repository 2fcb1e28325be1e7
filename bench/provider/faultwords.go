package provider

import (
	"fmt"
	"strconv"
	"time"
)

// A word is one name of the fault language: how it is set, and how it is
// written ("" if it is not set).
type word struct {
	name string
	set  func(f *Fault, value string, count int64) error
	get  func(f Fault) string
}

var words = []word{
	numberWord("read-rate", func(f *Fault) *int { return &f.ReadRate }),
	flagWord("reset", func(f *Fault) *bool { return &f.Reset }),
	durationWord("delay", func(f *Fault) *time.Duration { return &f.Delay }),
	{"status", setStatus, getStatus},
	textWord("retry-after", func(f *Fault) *string { return &f.RetryAfter }),
	textWord("message", func(f *Fault) *string { return &f.Message }),
	durationWord("gap", func(f *Fault) *time.Duration { return &f.Gap }),
	durationWord("ping", func(f *Fault) *time.Duration { return &f.Ping }),
	countedWord("stall", func(f *Fault) (*bool, *int) { return &f.Stall, &f.StallAfter }),
	countedWord("error", func(f *Fault) (*bool, *int) { return &f.Error, &f.ErrorAfter }),
	flagWord("no-terminal", func(f *Fault) *bool { return &f.NoTerminal }),
	{"cut", setCut, getCut},
	textWord("encoding", func(f *Fault) *string { return &f.Encoding }, "gzip", "zstd"),
	textWord("line-end", func(f *Fault) *string { return &f.LineEnd }, "lf", "crlf", "cr"),
	numberWord("event-bytes", func(f *Fault) *int { return &f.EventBytes }),
	numberWord("chunks", func(f *Fault) *int64 { return &f.Chunks }),
	numberWord("length", func(f *Fault) *int64 { return &f.Length }),
	countedWord("bad-chunk", func(f *Fault) (*bool, *int) { return &f.BadChunk, &f.BadChunkAfter }),
	flagWord("chunk-extensions", func(f *Fault) *bool { return &f.ChunkExtensions }),
}

func flagWord(name string, at func(*Fault) *bool) word {
	return word{name,
		func(f *Fault, _ string, _ int64) error { *at(f) = true; return nil },
		func(f Fault) string {
			if !*at(&f) {
				return ""
			}
			return name
		}}
}

func countedWord(name string, at func(*Fault) (*bool, *int)) word {
	return word{name,
		func(f *Fault, _ string, count int64) error {
			on, n := at(f)
			*on, *n = true, int(count)
			return nil
		},
		func(f Fault) string {
			on, n := at(&f)
			if !*on {
				return ""
			}
			return fmt.Sprintf("%s@%d", name, *n)
		}}
}

func numberWord[T int | int64](name string, at func(*Fault) *T) word {
	return word{name,
		func(f *Fault, v string, _ int64) error {
			n, err := strconv.ParseInt(v, 10, 64)
			*at(f) = T(n)
			return err
		},
		func(f Fault) string {
			if *at(&f) == 0 {
				return ""
			}
			return fmt.Sprintf("%s=%d", name, *at(&f))
		}}
}

func durationWord(name string, at func(*Fault) *time.Duration) word {
	return word{name,
		func(f *Fault, v string, _ int64) error {
			d, err := time.ParseDuration(v)
			*at(f) = d
			return err
		},
		func(f Fault) string {
			if *at(&f) == 0 {
				return ""
			}
			return name + "=" + at(&f).String()
		}}
}

// textWord takes any value, or one of those given.
func textWord(name string, at func(*Fault) *string, only ...string) word {
	return word{name,
		func(f *Fault, v string, _ int64) error {
			for i, o := range only {
				if v == o {
					break
				}
				if i == len(only)-1 {
					return fmt.Errorf("want one of %v", only)
				}
			}
			*at(f) = v
			return nil
		},
		func(f Fault) string {
			if *at(&f) == "" {
				return ""
			}
			return name + "=" + *at(&f)
		}}
}

func setStatus(f *Fault, v string, _ int64) error {
	n, err := strconv.Atoi(v)
	f.Status = n
	if err == nil && (n < 200 || n > 999) {
		return fmt.Errorf("want a status from 200 to 999")
	}
	return err
}

func getStatus(f Fault) string {
	if f.Status == 0 {
		return ""
	}
	return fmt.Sprintf("status=%d", f.Status)
}

func setCut(f *Fault, v string, count int64) error {
	f.Cut, f.CutAfter = Cut(v), count
	if f.Cut != CutFIN && f.Cut != CutRST {
		return fmt.Errorf("want cut=fin@K or cut=rst@K")
	}
	return nil
}

func getCut(f Fault) string {
	if f.Cut == CutNone {
		return ""
	}
	return fmt.Sprintf("cut=%s@%d", f.Cut, f.CutAfter)
}
