package dialecttest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func diff(want, got []byte) string { return cmp.Diff(string(want), string(got)) }

// valid reports what two other parsers have against a document.
func valid(doc []byte) error {
	if !json.Valid(doc) {
		return fmt.Errorf("encoding/json refuses it")
	}
	if !jsontext.Value(doc).IsValid() { // duplicate names too
		return fmt.Errorf("jsontext refuses it")
	}
	return nil
}

// elements returns the elements of a JSON array as written.
func elements(array []byte) (list []json.RawMessage, err error) {
	err = json.Unmarshal(array, &list)
	return list, err
}

// member returns a top-level member as written.
func member(body []byte, name string) json.RawMessage {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return nil
	}
	return members[name]
}

// checkList compares the list of messages in a spliced body with the client's
// and the opener in front of its element index.
func checkList(t rapid.TB, body, spliced []byte, list string, index int, opener []byte) {
	t.Helper()
	var want []json.RawMessage
	ours, err := elements(fmt.Appendf(nil, "[%s]", opener))
	if err != nil {
		t.Fatalf("opener %s is no list inside [ ]: %v", opener, err)
	}
	switch theirs := member(body, list); index {
	case AsString:
		want = append(ours, fmt.Appendf(nil, `{"role":"user","content":%s}`, theirs))
	default:
		all, err := elements(theirs)
		if err != nil || index > len(all) {
			t.Fatalf("%s of %s: want a list with a place %d", list, body, index)
		}
		want = append(append(append(want, all[:index]...), ours...), all[index:]...)
	}
	got, err := elements(member(spliced, list))
	if err != nil {
		t.Fatalf("%s of %s is no list: %v", list, spliced, err)
	}
	if d := cmp.Diff(texts(want), texts(got)); d != "" {
		t.Errorf("%s after splicing differs (-want +got):\n%s", list, d)
	}
}

func texts(list []json.RawMessage) (s []string) {
	for _, raw := range list {
		s = append(s, string(raw))
	}
	return s
}

// place finds where the opener stands in a spliced list: some index, or
// AsString; Never if it stands nowhere.
func place(body, spliced []byte, list string, opener []byte) int {
	ours, _ := elements(fmt.Appendf(nil, "[%s]", opener))
	all, err := elements(member(spliced, list))
	if err != nil {
		return Never
	}
	if bytes.HasPrefix(member(body, list), []byte(`"`)) {
		return AsString
	}
	for i := 0; i+len(ours) <= len(all); i++ {
		if cmp.Equal(texts(all[i:i+len(ours)]), texts(ours)) {
			return i
		}
	}
	return Never
}
