package trace

import (
	"encoding/json"
	"errors"
	"io"
)

// formats are told apart by members that all lines of one have and no others do.
var formats = []struct {
	name string
	has  []string
	make func(name string) format
}{
	{"cc-traces", []string{"block_size", "requests"}, func(string) format { return new(sessions) }},
	{"mooncake", []string{"hash_ids", "timestamp"}, func(name string) format { return &arrivals{scope: name} }},
	{"tracelab", []string{"session_id", "newly_append_tokens"}, func(string) format { return new(rounds) }},
}

// detect finds the format from the first line, which it leaves to be read.
func detect(l *lines) (format, string, error) {
	line, err := l.peek()
	if errors.Is(err, io.EOF) {
		return nil, "", &Fault{File: l.name, Reason: "the trace is empty"}
	}
	if err != nil {
		return nil, "", err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(line, &members); err != nil {
		return nil, "", l.fault("unknown format: neither JSON lines nor a header log of Preface")
	}
	for _, f := range formats {
		if hasAll(members, f.has) {
			return f.make(l.name), f.name, nil
		}
	}
	return nil, "", l.fault("unknown format: its first line has the members of none of cc-traces, mooncake, tracelab")
}

func hasAll(members map[string]json.RawMessage, names []string) bool {
	for _, n := range names {
		if _, ok := members[n]; !ok {
			return false
		}
	}
	return true
}

// decode reads a line's JSON into v.
func (l *lines) decode(line []byte, v any) error {
	err := json.Unmarshal(line, v)
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &kind):
		return l.fault("%s is a %s, which it must not be", kind.Field, kind.Value)
	}
	return l.fault("not JSON: %v", err)
}
