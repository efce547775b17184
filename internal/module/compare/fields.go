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

// A FieldChange is a field that differs.
type FieldChange struct {
	// Path as kubectl explain writes it: spec.template.spec.containers[web].image. Items of a list are named where all of
	// them have different names, and else numbered from 0. A key that is not an identifier is in brackets and quotes.
	Path string `json:"path"`
	// From and To are nil where there is none, and where the field is hidden.
	From *any `json:"from,omitempty"`
	To   *any `json:"to,omitempty"`
	// Hidden says that the values are not shown.
	Hidden bool `json:"hidden,omitempty"`
}

// Fields that differ between two values of JSON, sorted by path. Nil is the same
// as an empty object.
func Fields(from, to map[string]any) []FieldChange {
	return fields(from, to, func(string) bool { return false })
}

func fields(from, to map[string]any, hidden func(path string) bool) []FieldChange {
	w := &walker{hidden: hidden}
	w.maps("", from, to)
	return w.found
}

// A walker goes through two values at the same time.
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
	keys := slices.Collect(maps.Keys(from))
	for k := range to {
		if _, ok := from[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		a, had := from[k]
		b, has := to[k]
		w.both(join(path, k), a, b, had, has)
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
	names := slices.Collect(maps.Keys(a))
	for n := range b {
		if _, ok := a[n]; !ok {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	for _, n := range names {
		x, had := a[n]
		y, has := b[n]
		w.both(path+"["+n+"]", x, y, had, has)
	}
	if len(w.found) == before {
		// Only the order differs, which may matter.
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

// named are the items of a list by their field name, if all have one of their own.
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

// equal compares values of JSON, where 1 and 1.0 are the same number.
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
