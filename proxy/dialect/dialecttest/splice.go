package dialecttest

import (
	"bytes"
	"slices"

	"github.com/seed-9236c7ca/preface/proxy/dialect"
)

// An Inserted is a range of a spliced body that is not the client's.
type Inserted struct{ From, To int }

// Splice returns the body with the splices in it, and where they are then.
// Splices at one offset keep their order.
func Splice(body []byte, splices []dialect.Splice) (out []byte, inserted []Inserted) {
	splices = slices.Clone(splices)
	slices.SortStableFunc(splices, func(a, b dialect.Splice) int { return a.At - b.At })
	done := 0
	for _, s := range splices {
		out = append(out, body[done:s.At]...)
		inserted = append(inserted, Inserted{len(out), len(out) + len(s.Bytes)})
		out = append(out, s.Bytes...)
		done = s.At
	}
	return append(out, body[done:]...), inserted
}

// Remove takes the inserted ranges out of a spliced body.
func Remove(spliced []byte, inserted []Inserted) []byte {
	out := bytes.Clone(spliced)
	for _, r := range slices.Backward(inserted) {
		out = slices.Delete(out, r.From, r.To)
	}
	return out
}

// splices returns all that is inserted into a request.
func splices(r *dialect.Request, opener []byte) []dialect.Splice {
	all := slices.Clone(r.UsageSplices)
	if r.Never == "" {
		all = append(all, r.Slot.Splices(opener)...)
	}
	return all
}

// asked returns all that is inserted into a request that asks for a verdict too,
// about the answer with an id.
func asked(r *dialect.Request, opener []byte, id string) []dialect.Splice {
	all := splices(r, opener)
	if s, ok := r.Question.Ask(id); ok {
		all = append(all, s)
	}
	return all
}

// rendered returns the rendering that a request asks for.
func rendered(all []dialect.Rendering, name string) []byte {
	for _, r := range all {
		if r.Name == name {
			return r.Bytes
		}
	}
	return nil
}
