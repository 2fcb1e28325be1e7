package jsonspan_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
)

// corpusFile is JSONTestSuite (github.com/nst/JSONTestSuite at 1ef36fa, MIT), kept
// beside the module.
const corpusFile = "../../../../shared/data/json_test_suite.tar.gz"

// corpus gives the name and the content of each parsing case.
func corpus(t *testing.T, f func(name, body string)) {
	t.Helper()
	file, err := os.Open(corpusFile)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no JSONTestSuite at %s", corpusFile)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for cases := tar.NewReader(unzipped); ; {
		h, err := cases.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(cases)
		if err != nil {
			t.Fatal(err)
		}
		if dir, name := path.Split(h.Name); dir == "test_parsing/" {
			f(name, string(body))
			n++
		}
	}
	if n < 300 {
		t.Errorf("JSONTestSuite has %d parsing cases, want over 300", n)
	}
}

// stricter are the cases that the suite accepts and Scan refuses by design.
var stricter = map[string]string{
	"y_object_duplicated_key.json":           jsonspan.DuplicateName,
	"y_object_duplicated_key_and_value.json": jsonspan.DuplicateName,
	"y_number_double_close_to_zero.json":     jsonspan.LongNumber,
}

// tolerated are the cases that the suite leaves open and Scan accepts inside an
// object: numbers beyond float64, and lone surrogate escapes in values.
var tolerated = map[string]bool{
	"i_number_double_huge_neg_exp.json":                   true,
	"i_number_neg_int_huge_exp.json":                      true,
	"i_number_pos_double_huge_exp.json":                   true,
	"i_number_real_neg_overflow.json":                     true,
	"i_number_real_pos_overflow.json":                     true,
	"i_number_real_underflow.json":                        true,
	"i_number_too_big_neg_int.json":                       true,
	"i_number_too_big_pos_int.json":                       true,
	"i_number_very_big_negative_int.json":                 true,
	"i_string_1st_surrogate_but_2nd_missing.json":         true,
	"i_string_1st_valid_surrogate_2nd_invalid.json":       true,
	"i_string_incomplete_surrogate_and_escape_valid.json": true,
	"i_string_incomplete_surrogate_pair.json":             true,
	"i_string_incomplete_surrogates_escape_valid.json":    true,
	"i_string_invalid_lonely_surrogate.json":              true,
	"i_string_invalid_surrogate.json":                     true,
	"i_string_inverted_surrogates_U+1D11E.json":           true,
	"i_string_lone_second_surrogate.json":                 true,
}

// TestInvariant1_JSONTestSuite scans each case as it is, and as the value of a
// member, since most cases are arrays.
func TestInvariant1_JSONTestSuite(t *testing.T) {
	corpus(t, func(name, body string) {
		whole, _ := reason(t, body, 200)
		inner, _ := reason(t, `{"a":`+body+`}`, 200)
		var want string // of the inner scan
		switch {
		case name[0] == 'y':
			want = stricter[name]
		case name[0] == 'n' || !tolerated[name]:
			if whole == "" || inner == "" {
				t.Errorf("Scan(%s) = %q, and %q inside an object; want refusals", name, whole, inner)
			}
			return
		}
		if inner != want {
			t.Errorf("Scan(%s) inside an object = %q, want %q", name, inner, want)
		}
		if want == "" && !strings.HasPrefix(strings.TrimSpace(body), "{") {
			want = jsonspan.NotObject
		}
		if whole != want {
			t.Errorf("Scan(%s) = %q, want %q", name, whole, want)
		}
	})
}
