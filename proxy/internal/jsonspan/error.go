package jsonspan

import (
	"fmt"
	"strings"
)

// The reasons for which Scan refuses a document. They are stable: metrics and
// records carry them.
const (
	Syntax        = "syntax"         // not RFC 8259
	DuplicateName = "duplicate_name" // two members of one object mean the same name
	InvalidUTF8   = "invalid_utf8"   // bytes that are no UTF-8, or a lone surrogate escape in a name
	BOM           = "bom"            // a byte order mark before the document
	TrailingData  = "trailing_data"  // anything but white space after the document
	TooDeep       = "too_deep"       // nesting beyond MaxDepth
	NotObject     = "not_object"     // a valid document whose root is no object
	Empty         = "empty"          // no bytes, or nothing but white space
	TooLarge      = "too_large"      // beyond MaxElements, MaxValues or 2 GiB
	LongNumber    = "long_number"    // a number literal beyond MaxNumber bytes
)

// An Error says why Scan refused a document, and where. It never quotes it.
type Error struct {
	Reason string // one of the constants above
	Offset int    // the byte at which the reason was noticed; the length of the document if its end came too soon
}

// Error gives the reason in words and the offset, as in "duplicate name at byte 123".
func (e *Error) Error() string {
	what := strings.ReplaceAll(e.Reason, "_", " ")
	switch e.Reason {
	case Syntax:
		what = "syntax error"
	case InvalidUTF8:
		what = "invalid UTF-8"
	case BOM:
		what = "byte order mark"
	case TooDeep:
		what = "nested too deep"
	case NotObject:
		what = "not an object"
	case Empty:
		what = "empty document"
	}
	return fmt.Sprintf("%s at byte %d", what, e.Offset)
}
