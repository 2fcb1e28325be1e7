package jsonspan

import (
	"bytes"
	"slices"
)

// Same reports whether two Docs hold the same document and index.
func Same(a, b *Doc) bool { return bytes.Equal(a.body, b.body) && slices.Equal(a.nodes, b.nodes) }
