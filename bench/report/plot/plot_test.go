package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// charts are one of each kind, with names of a kind.
func charts(name string) map[string][]byte {
	series := []Series{{name, 0, []float64{0.1, math.NaN(), 0.9}}, {name + " b", 1, []float64{0.1, 0.5, 2}}, {name + " c", 2, []float64{0.1, 0.5, 2.0001}}}
	places := []Place{{name, "1"}, {"each request", "0.001"}, {"never", ""}}
	bars := []Bar{{name, 0, 1, "$1.00 (" + name + ")"}, {"b", 1, 12.5, "$12.50"}, {"c", 2, 0, "$0"}}
	cells := []Cell{{name, "A", 0}, {"b", "B", 8}, {name, "A", 0}}
	return map[string][]byte{
		"bars":  (&Bars{Title: name, About: name, Unit: name, Groups: []Group{{name, bars}, {"two", bars}}}).SVG(),
		"lines": (&Lines{Title: name, About: name, XName: name, YName: name, X: places, Series: series, Line: 1}).SVG(),
		"dots":  (&Dots{Title: name, About: name, XName: name, Series: series, Rows: []Row{{name, name}, {"b", "c"}, {"d", "e"}}, Line: 1}).SVG(),
		"grid":  (&Grid{Title: name, About: name, XName: name, YName: name, X: []string{name, "1", "150"}, Y: []string{name, "b"}, Cells: [][]Cell{cells, cells}}).SVG(),
	}
}

var names = []string{"", "frozen", "decorator_before_system", strings.Repeat("word ", 40), strings.Repeat("W", 200), `<script>&"'</script>`, "\x00\x1b[31m\u202e\xff", "]]>", "名前の名前"}

func TestInvariant2_WellFormed(t *testing.T) {
	for _, name := range names {
		for kind, svg := range charts(name) {
			checkWellFormed(t, kind, name, svg)
		}
	}
	for kind, svg := range map[string][]byte{"bars": (&Bars{}).SVG(), "lines": (&Lines{}).SVG(), "dots": (&Dots{Line: 1}).SVG(), "grid": (&Grid{}).SVG()} {
		checkWellFormed(t, kind, "empty", svg)
	}
}

func checkWellFormed(t *testing.T, kind, name string, svg []byte) {
	t.Helper()
	known := []string{"svg", "title", "desc", "style", "rect", "text", "line", "path", "g", "circle"}
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s of %q is no XML: %v", kind, name, err)
		}
		e, ok := tok.(xml.StartElement)
		if ok && !slices.Contains(known, e.Name.Local) {
			t.Errorf("%s of %q has an element %s", kind, name, e.Name.Local)
		}
	}
	if bytes.Contains(svg, []byte("NaN")) || bytes.Contains(svg, []byte("Inf")) {
		t.Errorf("%s of %q has a place that is no number", kind, name)
	}
}

// A box is the room that a line of text takes.
type box struct {
	text                     string
	left, right, top, bottom float64
}

var textLine = regexp.MustCompile(`(?m)^<text class="(\w)" x="([-\d.]+)" y="([-\d.]+)" text-anchor="(\w+)">(.*)</text>$`)

// boxes are those of all horizontal texts, as wide as the drawing took them for.
func boxes(svg []byte) (list []box) {
	for _, m := range textLine.FindAllStringSubmatch(string(svg), -1) {
		size := map[string]float64{"h": (fontSize + 2) * bold, "w": fontSize, "n": fontSize, "q": 12, "p": 11, "c": 11}[m[1]]
		x, _ := strconv.ParseFloat(m[2], 64)
		y, _ := strconv.ParseFloat(m[3], 64)
		n := lengthOf(unescape.Replace(m[5]), size)
		b := box{m[5], x, x + n, y - 0.75*size, y + 0.2*size}
		switch m[4] {
		case "middle":
			b.left, b.right = x-n/2, x+n/2
		case "end":
			b.left, b.right = x-n, x
		}
		list = append(list, b)
	}
	return list
}

var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#39;", "'", "&amp;", "&")

func TestInvariant4_NoTextOverAnother(t *testing.T) {
	for _, name := range names {
		for kind, svg := range charts(name) {
			for _, e := range overlaps(svg) {
				t.Errorf("%s of %q: %s", kind, name, e)
			}
		}
	}
}

// overlaps tells which texts stand over others, or beyond the paper.
func overlaps(svg []byte) (faults []string) {
	list := boxes(svg)
	for i, a := range list {
		if a.left < 0 || a.right > width+1 {
			faults = append(faults, fmt.Sprintf("%q reaches from %.0f to %.0f of %d", a.text, a.left, a.right, width))
		}
		for _, b := range list[:i] {
			if a.left < b.right-1 && b.left < a.right-1 && a.top < b.bottom && b.top < a.bottom {
				faults = append(faults, fmt.Sprintf("%q and %q overlap", b.text, a.text))
			}
		}
	}
	return faults
}

// TestInvariant3_Contrast wants letters and marks that can be told from what they
// stand on: 3 to 1 for marks, 4.5 to 1 for letters (WCAG).
func TestInvariant3_Contrast(t *testing.T) {
	for i, ink := range inks {
		for j, paper := range [2]string{"#ffffff", "#0d1117"} {
			// Letters in cells have the paper's colour.
			if c := contrast(t, ink[j], paper); c < 4.5 {
				t.Errorf("colour %d: %s on %s has a contrast of %.1f, want 4.5", i, ink[j], paper, c)
			}
		}
	}
	if len(slices.Compact(slices.Sorted(slices.Values(forms[:])))) != Colours {
		t.Errorf("two colours have the same form")
	}
}

func contrast(t *testing.T, a, b string) float64 {
	light := func(c string) float64 {
		var sum float64
		for i, weight := range [3]float64{0.2126, 0.7152, 0.0722} {
			n, err := strconv.ParseUint(c[1+2*i:3+2*i], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			v := float64(n) / 255
			if v <= 0.03928 {
				sum += weight * v / 12.92
			} else {
				sum += weight * math.Pow((v+0.055)/1.055, 2.4)
			}
		}
		return sum + 0.05
	}
	x, y := light(a), light(b)
	return max(x, y) / min(x, y)
}

func TestTicks(t *testing.T) {
	f := func(s scale, want ...float64) {
		t.Helper()
		if got := s.ticks(); !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
			t.Errorf("ticks from %v to %v = %v, want %v", s.low, s.high, got, want)
		}
	}
	f(scale{low: 0, high: 1}, 0, 0.25, 0.5, 0.75, 1)
	f(scale{low: 0, high: 80}, 0, 20, 40, 60, 80)
	f(scale{low: 0, high: 1.8}, 0, 0.5, 1, 1.5)
	f(scale{low: 0.4, high: 12, log: true}, 0.5, 1, 2, 5, 10)
	f(scale{low: 0.4, high: 120, log: true}, 1, 10, 100)
}

func TestWrap(t *testing.T) {
	f := func(in string, room float64, want ...string) {
		t.Helper()
		if got := wrap(in, room, 10); !slices.Equal(got, want) {
			t.Errorf("wrap(%q) = %q, want %q", in, got, want)
		}
	}
	f("", 100, "")
	f("aaa bbb", 100, "aaa bbb")
	f("aaa bbb", 20, "aaa", "bbb")
	f("aaaaaaa b", 20, "aaa", "aaa", "a b")
	f("b aaaaaaa", 20, "b", "aaa", "aaa", "a")
	f("名前", 5, "名", "前")
}

// TestCoinciding draws curves once that nobody could tell apart.
func TestCoinciding(t *testing.T) {
	l := Lines{X: []Place{{"a", ""}, {"b", ""}}, Series: []Series{{"x", 1, []float64{1, 2}}, {"y", 2, []float64{1, 2.001}}, {"z", 3, []float64{1, math.NaN()}}}}
	got := l.merged()
	if len(got) != 2 || got[0].Name != "x, y" || got[1].Name != "z" {
		t.Errorf("merged() = %v", got)
	}
}

// TestInvariant4_Reports looks at charts of real numbers.
func TestInvariant4_Reports(t *testing.T) {
	files, err := filepath.Glob("../testdata/sample/*.svg")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d charts (%v), want one of each kind for two providers", len(files), err)
	}
	for _, name := range files {
		svg, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range overlaps(svg) {
			t.Errorf("%s: %s", filepath.Base(name), e)
		}
	}
}
