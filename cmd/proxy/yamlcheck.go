package main

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// check compares the file with the type that it will be decoded into, and says
// where it does not fit. The decoder would find less: it cuts 1.5 to 1 where a
// whole number is wanted, makes 1.1 of the text 1.10, and tells no place of a
// bad time. Messages quote the file as written, never what was put in.
func (s *source) check(t reflect.Type) error {
	return s.checkNode(s.root, t)
}

var durationType = reflect.TypeFor[time.Duration]()

func (s *source) checkNode(n ast.Node, t reflect.Type) error {
	switch n := n.(type) {
	case *ast.NullNode, *ast.AliasNode, *ast.TagNode:
		return nil // nothing, or what the decoder knows better
	case *ast.AnchorNode:
		return s.checkNode(n.Value, t)
	case *ast.LiteralNode:
		return s.checkNode(n.Value, t)
	}
	switch {
	case t == durationType:
		return s.checkDuration(n)
	case t.Kind() == reflect.Struct, t.Kind() == reflect.Map:
		return s.checkMapping(n, t)
	case t.Kind() == reflect.Slice:
		return s.checkSequence(n, t)
	}
	return s.checkScalar(n, t)
}

func (s *source) checkMapping(n ast.Node, t reflect.Type) error {
	m, ok := n.(ast.MapNode)
	if !ok {
		return s.wrong(firstToken(n), "want keys with values here")
	}
	for each := m.MapRange(); each.Next(); {
		if each.Key().IsMergeKey() {
			continue
		}
		key := each.Key().GetToken()
		below := t
		if t.Kind() == reflect.Map {
			below = t.Elem()
		} else if below, ok = keysOf(t)[key.Value]; !ok {
			return s.wrong(key, "unknown key %q%s", key.Value, suggestion(key.Value, t))
		}
		if err := s.checkNode(each.Value(), below); err != nil {
			return err
		}
	}
	return nil
}

func (s *source) checkSequence(n ast.Node, t reflect.Type) error {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		return s.wrong(firstToken(n), "want a list here, each item behind a dash")
	}
	for _, item := range list.Values {
		if err := s.checkNode(item, t.Elem()); err != nil {
			return err
		}
	}
	return nil
}

func (s *source) checkDuration(n ast.Node) error {
	if text, ok := n.(*ast.StringNode); ok {
		if _, err := time.ParseDuration(text.Value); err == nil {
			return nil
		}
	}
	return s.wrong(firstToken(n), "want a time with its unit, such as 500ms, 10m or 720h")
}

func (s *source) checkScalar(n ast.Node, t reflect.Type) error {
	text, isText := n.(*ast.StringNode)
	switch t.Kind() {
	case reflect.String:
		if !isText {
			return s.wrong(firstToken(n), "want text; put it in quotes")
		}
	case reflect.Bool:
		if _, ok := n.(*ast.BoolNode); !ok {
			return s.wrong(firstToken(n), "want true or false")
		}
	case reflect.Int, reflect.Int64:
		_, ok := n.(*ast.IntegerNode)
		if isText {
			_, err := strconv.ParseInt(text.Value, 10, 32)
			ok = err == nil // from ${NAME}
		}
		if !ok {
			return s.wrong(firstToken(n), "want a whole number")
		}
	default:
		panic("BUG: no check for configuration values of type " + t.String())
	}
	return nil
}

// firstToken returns the token that a node begins with; that of a mapping is its
// colon.
func firstToken(n ast.Node) *token.Token {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return m.Values[0].Key.GetToken()
	}
	return n.GetToken()
}

// keysOf returns the keys that a struct has in YAML and their types; those of
// inline structs are its own.
func keysOf(t reflect.Type) map[string]reflect.Type {
	keys := map[string]reflect.Type{}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case options == "inline":
			maps.Copy(keys, keysOf(f.Type))
		case name != "" && name != "-":
			keys[name] = f.Type
		}
	}
	return keys
}

// suggestion names the key that was surely meant, or those that there are.
func suggestion(key string, t reflect.Type) string {
	names := slices.Sorted(maps.Keys(keysOf(t)))
	for _, n := range names {
		if len(n) > 3 && distance(key, n) <= 2 {
			return ": did you mean " + n + "?"
		}
	}
	return ": want one of " + strings.Join(names, ", ")
}

// distance is the number of characters to insert, delete or replace that make
// b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := corner
			if a[i] != b[j] {
				cost = min(corner, row[j], row[j+1]) + 1
			}
			corner, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
