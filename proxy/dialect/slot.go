package dialect

// A Slot is the place right after the system slot.
type Slot struct {
	At   int  // offset in the document
	Wrap Wrap // what has to stand around the rendering there
	// End is, for WrapString, the offset after the string that is wrapped.
	End int
}

// A Wrap is the punctuation that joins a rendering to what is there.
type Wrap byte

// The wraps. R is the rendering.
const (
	WrapBefore Wrap = iota // R,        before the first element of a list
	WrapAfter              // ,R        after the last element of the system slot
	WrapOnly               // R         in an empty list
	WrapString             // [R,{"role":"user","content":  …string…  }]
)

// A Splice is an insertion of bytes at an offset of the client's body.
// Splices of one request are sorted by offset.
type Splice struct {
	At    int
	Bytes []byte // frozen or constant: never changed, may be shared
	Kind  string // "prefix", "wrap", "usage"
}

// Splices returns the insertions that put the rendering into the slot.
func (s Slot) Splices(rendering []byte) []Splice {
	switch s.Wrap {
	case WrapAfter:
		return []Splice{{s.At, comma, "wrap"}, {s.At, rendering, "prefix"}}
	case WrapOnly:
		return []Splice{{s.At, rendering, "prefix"}}
	case WrapString:
		return []Splice{{s.At, openList, "wrap"}, {s.At, rendering, "prefix"}, {s.At, openUser, "wrap"}, {s.End, closeUser, "wrap"}}
	default:
		return []Splice{{s.At, rendering, "prefix"}, {s.At, comma, "wrap"}}
	}
}

var (
	comma     = []byte(",")
	openList  = []byte("[")
	openUser  = []byte(`,{"role":"user","content":`)
	closeUser = []byte("}]")
)
