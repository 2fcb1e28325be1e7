package identity

import (
	"regexp"
	"unicode"
	"unicode/utf8"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// maxCarrier is the longest value in bytes that a field or pattern is looked
// for in, so that a huge one costs nothing.
const maxCarrier = 16 << 10

// A reader reads one Source. It is immutable.
type reader struct {
	label   string // for Identity.Source, e.g. "body metadata.user_id"
	header  string // lower case; empty for a body source
	path    []string
	field   string
	pattern *regexp.Regexp // nil: none
	maxID   int
	prefix  string // put before the value
}

// first returns the first usable value of the readers and where it came from.
func first(readers []reader, in *Input, s *scratch) (value, label string) {
	for i := range readers {
		if v := readers[i].read(in, s); v != "" {
			return v, readers[i].label
		}
	}
	return "", ""
}

// read returns the prefixed value, with memory of its own, or "" if it is no id.
func (rd *reader) read(in *Input, s *scratch) string {
	raw := rd.carrier(in, s)
	if rd.field != "" {
		raw = field(raw, rd.field, s)
	}
	if rd.pattern != nil {
		raw = group(raw, rd.pattern)
	}
	if len(raw) > rd.maxID {
		return ""
	}
	if v := rd.prefix + string(raw); usable(v[len(rd.prefix):]) {
		return v
	}
	return ""
}

// carrier returns the whole value at the source's place, nil if there is none or
// it is too long. It is good until the next use of s.
func (rd *reader) carrier(in *Input, s *scratch) []byte {
	longest := rd.maxID
	if rd.field != "" || rd.pattern != nil {
		longest = maxCarrier
	}
	v := rd.value(in, s, longest)
	if len(v) > longest {
		return nil
	}
	return v
}

func (rd *reader) value(in *Input, s *scratch, longest int) []byte {
	if rd.header != "" {
		if in.Header == nil {
			return nil
		}
		return in.Header(rd.header)
	}
	if in.Doc == nil {
		return nil
	}
	v := in.Doc.Root()
	for _, name := range rd.path {
		v = v.Get(name)
	}
	// A character takes at most six bytes as an escape, so a longer span cannot
	// mean a short enough text and is not worth decoding.
	if v.Kind() != jsonspan.String || v.Span().Len() > 6*longest+2 {
		return nil
	}
	s.text = v.AppendText(s.text[:0])
	return s.text
}

// field returns the string member of a JSON text, nil if text is no object that
// has it.
func field(text []byte, name string, s *scratch) []byte {
	defer s.doc.Reset() // text may be the caller's
	if len(text) == 0 || s.doc.Scan(text, valueOnly) != nil {
		return nil
	}
	s.member = s.doc.Root().Get(name).AppendText(s.member[:0])
	return s.member
}

func valueOnly([]byte) int { return 0 }

// group returns what the pattern's group matched, nil if it did not.
func group(text []byte, re *regexp.Regexp) []byte {
	at := re.FindSubmatchIndex(text)
	if at == nil || at[2] < 0 {
		return nil
	}
	return text[at[2]:at[3]]
}

// usable reports whether v can be an id: UTF-8 with something to see in it and
// nothing that could end a line or a field of a record. U+FFFD is what is left
// of bytes that were no text; two different values would look the same.
func usable(v string) bool {
	seen := false
	for _, c := range v {
		switch {
		case ' ' < c && c < '\x7f': // nearly always
			seen = true
		case c == utf8.RuneError || unicode.IsControl(c):
			return false
		default:
			seen = seen || !unicode.IsSpace(c)
		}
	}
	return seen
}
