// SPDX-License-Identifier: Apache-2.0

package fieldset

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"
)

// serverFields contains the fields of the metadata that only the server writes.
var serverFields = map[string]bool{ //nolint:gochecknoglobals // A constant table.
	"managedFields": true, "resourceVersion": true, "uid": true, "creationTimestamp": true, "generation": true, "selfLink": true,
}

// Differences returns the paths at which two states of an object differ, sorted and without values. It ignores fields that only
// the server writes.
func Differences(before, after map[string]any) []string {
	var out []string
	for _, k := range keysOf(before, after) {
		switch k {
		case "apiVersion", "kind", "status":
		case "metadata":
			b, _ := before[k].(map[string]any)
			a, _ := after[k].(map[string]any)
			for _, f := range keysOf(b, a) {
				if !serverFields[f] {
					out = differ(out, "metadata."+f, b[f], a[f])
				}
			}
		default:
			out = differ(out, k, before[k], after[k])
		}
	}
	sort.Strings(out)
	return out
}

// keysOf returns the sorted union of the keys of two maps.
func keysOf(a, b map[string]any) []string {
	all := make(map[string]struct{}, len(a)+len(b))
	for k := range a {
		all[k] = struct{}{}
	}
	for k := range b {
		all[k] = struct{}{}
	}
	return slices.Sorted(maps.Keys(all))
}

// differ appends to out the paths at which two values differ. These paths are equal to path or below it.
func differ(out []string, path string, before, after any) []string {
	if reflect.DeepEqual(before, after) {
		return out
	}
	switch b := before.(type) {
	case map[string]any:
		a, ok := after.(map[string]any)
		if !ok {
			break
		}
		for _, k := range keysOf(b, a) {
			out = differ(out, path+"."+k, b[k], a[k])
		}
		return out
	case []any:
		a, ok := after.([]any)
		if !ok {
			break
		}
		bi, ai := itemsOf(b), itemsOf(a)
		if bi == nil || ai == nil {
			break
		}
		for _, k := range keysOf(bi, ai) {
			out = differ(out, path+k, bi[k], ai[k])
		}
		return out
	}
	return append(out, strings.TrimPrefix(path, "."))
}

// itemsOf returns the items of a list by path element, such as [name="web"]. It returns nil if the items have no unique names.
func itemsOf(list []any) map[string]any {
	out := make(map[string]any, len(list))
	for _, item := range list {
		m, ok := item.(map[string]any)
		if !ok {
			return nil
		}
		name, ok := m["name"].(string)
		if !ok {
			return nil
		}
		out[fmt.Sprintf("[name=%q]", name)] = m
	}
	if len(out) < len(list) {
		return nil
	}
	return out
}
