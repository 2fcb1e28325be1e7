package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
)

// An object is a decoded JSON object. Numbers are json.Number, so that what is
// rendered again keeps its digits. Reading a member that is absent or of
// another type gives the zero value, also on a nil object.
type object map[string]any

var errTrailing = errors.New("unexpected data after the JSON value")

// parseObject decodes a document whose root must be an object.
func parseObject(body []byte) (object, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var o map[string]any
	if err := d.Decode(&o); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errTrailing
	}
	if o == nil {
		return nil, errors.New("unexpected null")
	}
	return o, nil
}

func (o object) str(name string) string {
	s, _ := o[name].(string)
	return s
}

func (o object) list(name string) []any {
	l, _ := o[name].([]any)
	return l
}

func (o object) obj(name string) object { return asObject(o[name]) }

func (o object) flag(name string) bool {
	b, _ := o[name].(bool)
	return b
}

// num returns an integer member and whether it is there.
func (o object) num(name string) (int64, bool) {
	n, ok := o[name].(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return i, err == nil
}

// has reports whether the member is there and not null.
func (o object) has(name string) bool { return o[name] != nil }

// without returns a copy that lacks some members, and all that are null.
func (o object) without(names ...string) object {
	c := maps.Clone(o)
	for _, n := range names {
		delete(c, n)
	}
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

func asObject(v any) object {
	m, _ := v.(map[string]any)
	return m
}

// objects returns the elements of a list that are objects.
func objects(l []any) []object {
	out := make([]object, 0, len(l))
	for _, v := range l {
		if o := asObject(v); o != nil {
			out = append(out, o)
		}
	}
	return out
}

// canonical renders a decoded value with sorted names and no space, so that
// key order and formatting do not show.
func canonical(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("BUG: cannot render decoded JSON: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
