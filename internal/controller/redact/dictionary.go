// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// A dictionary finds the form that a text begins with. Its functions compare a text with a logarithmic number of forms, because the authors
// of modules and tenants choose both.
type dictionary struct {
	sorted []string
	// begins contains, for each form, the place of the longest other form of less than beginning bytes that it begins with, or -1.
	begins []int32
}

// newDictionary returns a dictionary of forms of at least shortest bytes.
func newDictionary(forms map[string]struct{}) *dictionary {
	d := &dictionary{sorted: slices.Sorted(maps.Keys(forms)), begins: make([]int32, len(forms))}
	last := int32(-1)
	for i, form := range d.sorted {
		for last >= 0 && !strings.HasPrefix(form, d.sorted[last]) {
			last = d.begins[last]
		}
		d.begins[i] = last
		if len(form) < beginning {
			last = int32(i)
		}
	}
	return d
}

// match returns the number of bytes at the beginning of a text that must be replaced: those of the longest form, or of the beginning of a form.
func (d *dictionary) match(s string) int {
	next, _ := slices.BinarySearch(d.sorted, s)
	best := 0
	if next < len(d.sorted) {
		best = d.matchAt(next, s)
	}
	if next > 0 {
		best = max(best, d.matchAt(next-1, s))
	}
	// If only the beginning of a character matched, the rest of the character would not be valid text.
	for best > 0 && best < len(s) && !utf8.RuneStart(s[best]) {
		best++
	}
	return best
}

// matchAt returns how many bytes of a text match a form, or one that it begins with. Each form that the text begins with is the last one
// before the text in the order of the dictionary, or one that this form begins with.
func (d *dictionary) matchAt(place int, s string) int {
	n := common(d.sorted[place], s)
	if n >= beginning {
		return n
	}
	for p := int32(place); p >= 0; p = d.begins[p] { //nolint:gosec // maxForms limits the number of forms.
		if form := d.sorted[p]; len(form) <= n {
			return len(form)
		}
	}
	return 0
}

// common returns the length of the common beginning of two texts.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
