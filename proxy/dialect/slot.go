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

// The wraps. R is the rendering. None is for an empty list: there is always a
// message of the client's behind ours.
const (
	WrapBefore Wrap = iota // R,   before the first element of the history
	WrapString             // [R,{"role":"user","content":  …string…  }]
)

// A Splice is an insertion of bytes at an offset of the client's body.
// Splices of one request are sorted by offset.
type Splice struct {
	At    int
	Bytes []byte // frozen or constant: never changed, may be shared
	Kind  string // "prefix", "wrap", "usage", "verdict"
}

// Splices returns the insertions that put the rendering into the slot.
func (s Slot) Splices(rendering []byte) []Splice {
	if s.Wrap == WrapString {
		return []Splice{{s.At, openList, "wrap"}, {s.At, rendering, "prefix"}, {s.At, openUser, "wrap"}, {s.End, closeUser, "wrap"}}
	}
	return []Splice{{s.At, rendering, "prefix"}, {s.At, comma, "wrap"}}
}

var (
	comma     = []byte(",")
	openList  = []byte("[")
	openUser  = []byte(`,{"role":"user","content":`)
	closeUser = []byte("}]")
)
