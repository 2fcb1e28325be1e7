package logtest

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/logsink"
)

// Invariant 4.
func blobsComeWithRecords(t testing.TB, b Backend) {
	l := b.Open(t)
	r := b.Reader(t)
	h, blob := Header(alice, "main", "h1", strings.Repeat("system text ", 10_000))
	if err := l.Append(t.Context(), []logsink.Record{Request(alice, "main", "r0", "", 0), h}, nil); !isErr(err, logsink.ErrNoBlob) || errors.Is(err, logsink.ErrUnavailable) {
		t.Errorf("Append of a header without its blob: %v, want ErrNoBlob", err)
	}
	if got := recordIDs(t, r, alice); len(got) != 0 {
		t.Errorf("Records after that = %v, want none", got)
	}
	// What was refused with it can be offered again, of the same session and of
	// another.
	if err := l.Append(t.Context(), []logsink.Record{Request(bob, "main", "b0", "", 0), h}, nil); err == nil {
		t.Errorf("Append of a header without its blob beside another session succeeds")
	}
	for range 2 {
		appendAll(t, l, Request(alice, "main", "r0", "", 0), Request(bob, "main", "b0", "", 0))
	}
	if got := append(recordIDs(t, r, alice), recordIDs(t, r, bob)...); !cmp.Equal(got, []string{"request r0", "request b0"}) {
		t.Errorf("Records after the others were offered again = %v, want r0 and b0", got)
	}
	if _, err := r.ReadBlob(t.Context(), blob.Digest); !isErr(err, logsink.ErrNoBlob) {
		t.Errorf("ReadBlob of an unknown one: %v, want ErrNoBlob", err)
	}
	wrong := logsink.Blob{Digest: blob.Digest, Bytes: []byte("other")}
	if err := l.Append(t.Context(), nil, []logsink.Blob{wrong}); err == nil {
		t.Errorf("Append of a blob with another's digest succeeds")
	}
	appendBlobs(t, l, nil, []logsink.Blob{blob}) // ahead of its record
	appendAll(t, l, h)
	h2, _ := Header(bob, "main", "h2", string(blob.Bytes))
	appendBlobs(t, l, []logsink.Record{h2}, []logsink.Blob{blob, blob})
	nothing := logsink.Blob{Digest: logsink.Sum(nil)}
	appendBlobs(t, l, nil, []logsink.Blob{nothing})
	for _, want := range []logsink.Blob{blob, nothing} {
		got, err := r.ReadBlob(t.Context(), want.Digest)
		if err != nil || string(got) != string(want.Bytes) {
			t.Errorf("ReadBlob(%s) = %.20q, %v; want %.20q", want.Digest, got, err, want.Bytes)
		}
	}
	// A part whose bytes were not captured needs no blob.
	h3, _ := Header(alice, "main", "h3", "not captured")
	h3.Header.Parts[0].Stored = false
	appendAll(t, l, h3)
}
