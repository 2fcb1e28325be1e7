package dialecttest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/proxy/dialect"
	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

var (
	roleNames = [...]string{"other", "user", "assistant", "developer", "tool"}
	holdNames = [...]string{"image", "thinking", "compaction", "tool result"}
	partNames = [...]string{"tools", "system", "messages", "top level"}
)

func writeOutline(b *bytes.Buffer, o *dialect.Outline) {
	for _, m := range o.Messages {
		fmt.Fprintf(b, "message: %s, %d bytes, %d blocks", roleNames[m.Role], m.Size, m.Blocks)
		for i, name := range holdNames {
			if m.Holds>>i&1 == 1 {
				fmt.Fprintf(b, ", %s", name)
			}
		}
		if (m.Images != 0) != (m.Holds&dialect.HoldsImage != 0) {
			b.WriteString(", images without a digest")
		}
		b.WriteString("\n")
	}
	for _, m := range o.Marks {
		ttl := m.TTL
		if ttl == "" {
			ttl = "default"
		}
		fmt.Fprintf(b, "mark: %s %d.%d, lifetime %s\n", partNames[m.Part], m.Index, m.Block, ttl)
	}
	if o.CacheKey != nil {
		fmt.Fprintf(b, "cache key: %s\n", o.CacheKey)
	}
}

// checkOutline: an outline changes nothing else, has every message of the
// history and every mark, and says where each message stands.
func checkOutline(t *testing.T, d dialect.Dialect, cases []Case) {
	for _, c := range cases {
		ep := c.endpoint(t, d)
		with := Read(t, d, ep, c.Body)
		without := readAs(t, d, ep, c.Body, false)
		if len(without.Outline.Messages)+len(without.Outline.Marks) > 0 {
			t.Errorf("%s: an outline came that was not asked for: %v", c.Name, without.Outline)
		}
		if o := with.Outline; len(o.Messages) != len(with.History) || len(o.Marks) != with.Marks {
			t.Errorf("%s: outline of %d messages and %d marks, want %d and %d", c.Name, len(o.Messages), len(o.Marks), len(with.History), with.Marks)
		}
		checkPlaces(t, c, with)
		with.Outlined, with.Outline = without.Outlined, without.Outline
		if diff := cmp.Diff(without, with, equalRequests); diff != "" {
			t.Errorf("%s reads differently with an outline (-without +with):\n%s", c.Name, diff)
		}
	}
}

// checkPlaces: each message is JSON where the outline says it stands, and they
// follow each other.
func checkPlaces(t *testing.T, c Case, r *dialect.Request) {
	end := int32(0)
	for i, m := range r.Outline.Messages {
		raw := c.Body[m.At : m.At+m.Size]
		if m.At < end || valid(raw) != nil {
			t.Errorf("%s: message %d is said to be %s", c.Name, i, raw)
		}
		end = m.At + m.Size
	}
	if n := len(r.Outline.Messages); n > 0 && c.Index != AsString && int(r.Outline.Messages[n-1].At) != r.Last && r.Last != 0 {
		t.Errorf("%s: the last message stands at %d, want %d", c.Name, r.Outline.Messages[n-1].At, r.Last)
	}
}

func readAs(t *testing.T, d dialect.Dialect, ep dialect.Endpoint, body []byte, outlined bool) *dialect.Request {
	t.Helper()
	var doc jsonspan.Doc
	if err := doc.Scan(body, d.Depth); err != nil {
		t.Fatal(err)
	}
	r := &dialect.Request{Outlined: outlined}
	if err := d.Read(&doc, ep, r); err != nil {
		t.Fatal(err)
	}
	return r
}
