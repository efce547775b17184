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

// A Field is an immutable field, with the reason given by the API server.
type Field struct {
	Name, Reason string
}

// immutableReason matches the wordings of API servers for an immutable field. No error code identifies them: the reason of such an
// error is Invalid, as for a wrong value.
var immutableReason = regexp.MustCompile(`(?i)\bimmutable\b|\b(may|must) not (be )?chang|\bcan(not| not) (be )?chang|` +
	`\b(may not|can ?not) be (unset|updated|modified)\b|\bupdates to .+ (is|are) forbidden\b|\bupdates may not change\b`)

// Fields returns the immutable fields named by an error. It returns nil if the error also has other causes, because recreating the
// object would not help then.
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

// reasonOf extracts the reason from a message such as: Invalid value: "x": field is immutable. It removes the value before the
// reason and the lines after it, which show a difference. It returns an empty string if the message is not about an immutable
// field.
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

// Precise returns the paths of the differing fields below the spec, if the API server names only the spec. It skips fields that the
// reason quotes as mutable. Empty values count only if nothing else differs, because the API server replaces most of them with a
// default.
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

// Compared returns the paths of the fields below the spec that differ between the live object and a newly created one. It considers
// only fields that are in the desired object or that the engine owns. It is more exact than Precise, but requires a dry run that
// creates the object.
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

// below returns the paths of the fields that differ, except those that the reason quotes as mutable.
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
	// unset treats an empty value as not set.
	unset bool
}

// covered reports whether the live value contains the desired one. It may contain more, added by other clients and the API server.
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
