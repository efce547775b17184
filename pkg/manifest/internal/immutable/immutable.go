// SPDX-License-Identifier: Apache-2.0

package immutable

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A Field is an immutable field and the reason that the API server reports for it.
type Field struct {
	Name, Reason string
}

// immutableReason matches the messages of API servers about immutable fields. No error code identifies such a message: the status
// reason is Invalid, the same as for an invalid value.
var immutableReason = regexp.MustCompile(`(?i)\bimmutable\b|\b(may|must) not (be )?chang|\bcan(not| not) (be )?chang|` +
	`\b(may not|can ?not) be (unset|updated|modified)\b|\bupdates to .+ (is|are) forbidden\b|\bupdates may not change\b`)

// Fields returns the immutable fields that an Invalid error names. It returns nil for any other error, and if the error also has
// other causes, because recreating the object would not fix those.
func Fields(err error) []Field {
	s := kerrors.APIStatus(nil)
	if !kerrors.IsInvalid(err) || !errors.As(err, &s) || s.Status().Details == nil {
		return nil
	}
	var out []Field
	for _, c := range s.Status().Details.Causes {
		f := Field{Name: c.Field, Reason: reasonOf(c.Message)}
		if f.Reason == "" {
			return nil
		}
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// reasonOf extracts the reason from a message such as: Invalid value: "x": field is immutable. It strips the value before the
// reason and all lines after the first one, which contain a diff. It returns an empty string if the message is not about an
// immutable field.
func reasonOf(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	all := immutableReason.FindAllStringIndex(message, -1)
	if len(all) == 0 {
		return ""
	}
	at := all[len(all)-1][0]
	if i := strings.LastIndex(message[:at], ": "); i >= 0 {
		message = message[i+len(": "):]
	}
	return strings.Join(strings.Fields(message), " ")
}

// Precise returns the paths of the fields below the spec that differ between the desired and the live object, if the API server
// names only the spec. Otherwise, or if no field differs, it returns the name of the field. It skips fields that the reason
// quotes as mutable. It considers empty values only if no other field differs, because the API server replaces most of them with
// a default.
func (f Field) Precise(want, live map[string]any) []string {
	w, ok := want[f.Name].(map[string]any)
	l, _ := live[f.Name].(map[string]any)
	if !ok || f.Name != "spec" {
		return []string{f.Name}
	}
	for _, c := range []comparison{{unset: true}, {}} {
		names := f.below(slices.Sorted(maps.Keys(w)), func(k string) bool { return c.covered(w[k], l[k]) })
		if len(names) > 0 {
			return names
		}
	}
	return []string{f.Name}
}

// Compared returns the paths of the fields below the spec that differ between the live object and created, the result of a dry
// run that creates the object. It compares only fields that are in the desired object or that the engine owns, as ours reports.
// It is more accurate than Precise, but requires the dry run.
func (f Field) Compared(want, created, live map[string]any, ours func(field string) bool) []string {
	w, _ := want[f.Name].(map[string]any)
	c, ok := created[f.Name].(map[string]any)
	l, _ := live[f.Name].(map[string]any)
	if !ok || f.Name != "spec" {
		return []string{f.Name}
	}
	all := maps.Clone(c)
	maps.Copy(all, l)
	names := f.below(slices.Sorted(maps.Keys(all)), func(k string) bool {
		_, wanted := w[k]
		return !wanted && !ours(k) || reflect.DeepEqual(c[k], l[k])
	})
	if len(names) > 0 {
		return names
	}
	return []string{f.Name}
}

// below returns the paths of the fields for which equal returns false, except those that the reason quotes as mutable.
func (f Field) below(fields []string, equal func(string) bool) []string {
	var names []string
	for _, k := range fields {
		if !strings.Contains(f.Reason, "'"+k+"'") && !equal(k) {
			names = append(names, f.Name+"."+k)
		}
	}
	return names
}

// A comparison compares a desired value with a live one.
type comparison struct {
	// unset treats an empty desired value as unset.
	unset bool
}

// covered reports whether the live value contains the desired one. The live value may contain more, added by other clients and
// the API server.
func (c comparison) covered(want, have any) bool {
	switch w := want.(type) {
	case map[string]any:
		return c.coveredMap(w, have)
	case []any:
		return c.coveredList(w, have)
	}
	if c.unset && (want == nil || reflect.ValueOf(want).IsZero()) {
		return true
	}
	return reflect.DeepEqual(want, have) || sameQuantity(want, have)
}

func (c comparison) coveredMap(want map[string]any, have any) bool {
	h, ok := have.(map[string]any)
	if !ok {
		return len(want) == 0 && have == nil
	}
	for k := range want {
		if !c.covered(want[k], h[k]) {
			return false
		}
	}
	return true
}

func (c comparison) coveredList(want []any, have any) bool {
	h, ok := have.([]any)
	if len(want) == 0 {
		return c.unset || len(h) == 0 && (ok || have == nil)
	}
	if !ok || len(h) != len(want) {
		return false
	}
	for i := range want {
		if !c.covered(want[i], h[i]) {
			return false
		}
	}
	return true
}

// sameQuantity reports whether two values are the same quantity in different notations.
func sameQuantity(a, b any) bool {
	p, err := resource.ParseQuantity(fmt.Sprint(a))
	if err != nil {
		return false
	}
	q, err := resource.ParseQuantity(fmt.Sprint(b))
	return err == nil && p.Cmp(q) == 0
}
