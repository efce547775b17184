// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
)

// A FieldChange is a difference in one field.
type FieldChange struct {
	// Path has the notation of kubectl explain: spec.template.spec.containers[web].image. Items of a list are
	// identified by their names if these are unique, and otherwise by their index from 0. A key that is not an
	// identifier is quoted in brackets.
	Path string `json:"path"`
	// From and To are nil if the field does not exist, or is hidden.
	From *any `json:"from,omitempty"`
	To   *any `json:"to,omitempty"`
	// Hidden reports whether the values are not shown.
	Hidden bool `json:"hidden,omitempty"`
}

// Fields returns the differences between two JSON objects, sorted by path. Nil is the same as an empty object.
func Fields(from, to map[string]any) []FieldChange {
	return fields(from, to, func(string) bool { return false })
}

func fields(from, to map[string]any, hidden func(path string) bool) []FieldChange {
	w := &walker{hidden: hidden}
	w.maps("", from, to)
	return w.found
}

// A walker compares two values recursively.
type walker struct {
	hidden func(path string) bool
	found  []FieldChange
}

func (w *walker) add(path string, from, to *any) {
	c := FieldChange{Path: path, From: from, To: to}
	if w.hidden(path) {
		c = FieldChange{Path: path, Hidden: true}
	}
	w.found = append(w.found, c)
}

func (w *walker) values(path string, from, to any) {
	if equal(from, to) {
		return
	}
	a, aMap := from.(map[string]any)
	b, bMap := to.(map[string]any)
	if aMap && bMap && len(a) > 0 && len(b) > 0 {
		w.maps(path, a, b)
		return
	}
	x, xList := from.([]any)
	y, yList := to.([]any)
	if xList && yList && len(x) > 0 && len(y) > 0 {
		w.lists(path, x, y)
		return
	}
	w.add(path, &from, &to)
}

func (w *walker) maps(path string, from, to map[string]any) {
	w.members(from, to, func(key string) string { return join(path, key) })
}

// members compares the values of each key of two maps. pathOf returns the path of a key.
func (w *walker) members(from, to map[string]any, pathOf func(key string) string) {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(from)), maps.Keys(to))
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		a, had := from[k]
		b, has := to[k]
		w.both(pathOf(k), a, b, had, has)
	}
}

func (w *walker) both(path string, from, to any, had, has bool) {
	switch {
	case had && has:
		w.values(path, from, to)
	case had:
		w.add(path, &from, nil)
	case has:
		w.add(path, nil, &to)
	}
}

func (w *walker) lists(path string, from, to []any) {
	a, aNamed := named(from)
	b, bNamed := named(to)
	if !aNamed || !bNamed {
		for i := range max(len(from), len(to)) {
			w.both(path+"["+strconv.Itoa(i)+"]", at(from, i), at(to, i), i < len(from), i < len(to))
		}
		return
	}
	before := len(w.found)
	w.members(a, b, func(name string) string { return path + "[" + name + "]" })
	if len(w.found) == before {
		// Only the order differs, which may be significant.
		var f, t any = namesOf(from), namesOf(to)
		w.add(path, &f, &t)
	}
}

func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// named returns the items of a list by their field name. It returns false unless each has a unique name.
func named(list []any) (map[string]any, bool) {
	out := make(map[string]any, len(list))
	for _, item := range list {
		m, ok := item.(map[string]any)
		if !ok {
			return nil, false
		}
		name, _ := m["name"].(string)
		if _, taken := out[name]; name == "" || taken {
			return nil, false
		}
		out[name] = m
	}
	return out, true
}

func namesOf(list []any) []any {
	out := make([]any, 0, len(list))
	for _, item := range list {
		m, _ := item.(map[string]any)
		out = append(out, m["name"])
	}
	return out
}

// equal reports whether two JSON values are equal, where 1 and 1.0 are the same number.
func equal(a, b any) bool {
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && x == y
	}
	return reflect.DeepEqual(a, b)
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case int:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

var isIdentifier = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func join(path, key string) string {
	switch {
	case !isIdentifier.MatchString(key):
		return path + fmt.Sprintf("[%q]", key)
	case path == "":
		return key
	}
	return path + "." + key
}
