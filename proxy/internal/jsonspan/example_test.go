package jsonspan_test

import (
	"fmt"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// Reading the roles of a request, and finding where its messages begin.
func ExampleDoc_Scan() {
	body := []byte(`{"model":"m","messages":[{"role":"system"},{"role":"user","content":"Hello"}]}`)
	var doc jsonspan.Doc
	err := doc.Scan(body, func(name []byte) int {
		if string(name) == "messages" {
			return 2 // each message, and its members
		}
		return 0
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	messages := doc.Root().Get("messages")
	for m := messages.First(); m.Exists(); m = m.Next() {
		role, _ := m.Get("role").Text()
		fmt.Println(role, "at byte", m.Span().From)
	}
	// Output:
	// system at byte 25
	// user at byte 43
}

func ExampleError() {
	var doc jsonspan.Doc
	fmt.Println(doc.Scan([]byte(`{"model":"a","\u006dodel":"b"}`), nil))
	// Output: duplicate name at byte 13
}
