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

// A Field is an immutable field, and the reason that the API server gives.
type Field struct {
	Name, Reason string
}

// immutableReason is how API servers say that a field cannot be changed. There is no code for it: the reason of such an error
// is Invalid, like that of a wrong value.
var immutableReason = regexp.MustCompile(`(?i)\bimmutable\b|\b(may|must) not (be )?chang|\bcan(not| not) (be )?chang|` +
	`\b(may not|can ?not) be (unset|updated|modified)\b|\bupdates to .+ (is|are) forbidden\b|\bupdates may not change\b`)

// Fields returns the immutable fields that an error names. It returns none if the error has other causes, too, because recreating
// the object would not help then.
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

// reasonOf returns the reason in a message such as: Invalid value: "x": field is immutable. It leaves out the value in front of the
// reason, and the lines after it, which show a difference. It returns an empty reason if the message is about something else.
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

// Precise returns the names of the fields below the spec that differ, where the API server names no more than the spec: those that the
// reason does not quote as fields that may change. Empty values differ only where nothing else does, because the API server
// replaces most of them with a default.
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

// Compared returns the names of the fields below the spec that differ between the live object and what it would be if it was created, as
// far as they are ours: in what is wanted, or applied before. It is more exact than Precise, and needs a dry run that creates the
// object.
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

// below returns the paths of fields that are not equal, and that the reason does not quote as fields that may change.
func (f Field) below(fields []string, equal func(string) bool) []string {
	var names []string
	for _, k := range fields {
		if !strings.Contains(f.Reason, "'"+k+"'") && !equal(k) {
			names = append(names, f.Name+"."+k)
		}
	}
	return names
}

// A comparison of what is wanted with what is there.
type comparison struct {
	// unset says that an empty value means that nothing is wanted.
	unset bool
}

// covered reports whether a value has everything that is wanted. Other clients and the API server may have added to it.
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
