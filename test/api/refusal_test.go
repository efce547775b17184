// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A breach breaks one rule of a full object.
type breach struct {
	// set breaks the rule.
	set fields
	// field is the field that the server names. It defaults to the only path in set.
	field string
	// ok is the limit case that still satisfies the rule, if there is one.
	ok fields
	// elsewhere names the test that breaks the rule instead.
	elsewhere string
}

// tooLong breaks a maxLength with a text that begins with prefix.
func tooLong(path, prefix string, limit int) breach {
	return breach{set: fields{path: pad(prefix, limit+1)}, ok: fields{path: pad(prefix, limit)}}
}

// tooLongEach breaks the maxLength of the texts below a path, in the first item of each list.
func tooLongEach(at string, limits map[string]int) map[string]breach {
	out := map[string]breach{}
	for name, limit := range limits {
		path := at + "." + name
		out[fmt.Sprint(path, " maxLength ", limit)] = tooLong(strings.ReplaceAll(path, "[]", "[0]"), "", limit)
	}
	return out
}

func pad(prefix string, length int) string { return prefix + strings.Repeat("a", length-len(prefix)) }

// empty breaks a minLength of 1.
func empty(path string) breach { return breach{set: fields{path: ""}, ok: fields{path: "a"}} }

// missing removes a required field.
func missing(path string) breach { return breach{set: fields{path: gone{}}} }

// unknown sets a value that is not in an enum.
func unknown(path string) breach { return breach{set: fields{path: "Unknown"}} }

// twice sets the same key in two items of a list.
func twice(list, key, value string) breach {
	return breach{set: fields{list + "[1]." + key: value}, field: list + "[1]"}
}

// tooMany breaks a maxItems.
func tooMany(path string, limit int, item func(i int) any) breach {
	items := func(n int) []any {
		out := make([]any, n)
		for i := range out {
			out[i] = item(i)
		}
		return out
	}
	return breach{set: fields{path: items(limit + 1)}, ok: fields{path: items(limit)}}
}

// says returns the response of the server when a rule is violated.
func says(t *testing.T, rule string) string {
	t.Helper()
	keyword, value := parse(rule)
	switch keyword {
	case "cel":
		return value
	case "pattern":
		return "should match '" + value + "'"
	case "enum":
		return `supported values: "` + strings.ReplaceAll(value, ",", `", "`) + `"`
	case "minLength":
		return "should be at least " + value + " chars long"
	case "maxLength":
		return "may not be more than " + value + " bytes"
	case "minItems":
		return "should have at least " + value + " items"
	case "maxItems":
		return "must have at most " + value + " items"
	case "required":
		return "Required value"
	case "keys":
		return "Duplicate value"
	case "embedded":
		return "must not be empty"
	default:
		t.Fatalf("what does the server say about keyword %q?", keyword)
		return ""
	}
}

// parse extracts the path from a rule.
func parse(rule string) (keyword, value string) {
	words := strings.SplitN(rule, " ", 3)
	if keywords := []string{"cel", "required"}; slices.Contains(keywords, words[0]) {
		keyword, value, _ = strings.Cut(rule, " ")
		return keyword, value
	}
	if len(words) == 3 {
		return words[1], words[2]
	}
	return words[1], ""
}

// testBreaches breaks each rule of a kind, and detects rules without a breach.
func testBreaches(t *testing.T, plural, full, status string, breaches map[string]breach) {
	t.Helper()
	want := rulesOf(t, plural).refuse
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(breaches))); diff != "" {
		t.Errorf("rules of %s and cases for them: -in package/crds, +in this test:\n%s", plural, diff)
	}
	live := create(t, named(object(t, full), "live"))
	if status != "" {
		live.Object["status"] = object(t, status).Object
	}
	for rule, b := range breaches {
		if b.elsewhere != "" {
			continue
		}
		t.Run(rule, func(t *testing.T) {
			base, try := object(t, full), dryRun
			if isStatus(b.set) {
				base, try = live.DeepCopy(), dryRunStatus
			}
			b.refused(t, base, try, says(t, rule))
			if b.ok == nil {
				return
			}
			set(t, base, b.ok)
			if _, err := try(t.Context(), base); err != nil {
				t.Errorf("the nearest value that keeps the rule is refused: %v", err)
			}
		})
	}
}

func (b breach) refused(
	t *testing.T, base *unstructured.Unstructured,
	try func(context.Context, *unstructured.Unstructured) (*unstructured.Unstructured, error), text string,
) {
	t.Helper()
	o := base.DeepCopy()
	set(t, o, b.set)
	_, err := try(t.Context(), o)
	checkRefusal(t, err, b.place(), text)
}

// checkRefusal expects exactly one error. Any other error would mean that the case breaks additional rules, or that its rule is
// not evaluated.
func checkRefusal(t *testing.T, err error, field, text string) {
	t.Helper()
	if !kerrors.IsInvalid(err) {
		t.Fatalf("the server must refuse the object as invalid, it says: %v", err)
	}
	var causes []metav1.StatusCause
	if s, ok := err.(kerrors.APIStatus); ok {
		// If the schema is violated, the server does not evaluate CEL rules, and reports this.
		causes = slices.DeleteFunc(s.Status().Details.Causes, func(c metav1.StatusCause) bool {
			return strings.Contains(c.Message, "some validation rules were not checked")
		})
	}
	if len(causes) != 1 || causes[0].Field != field || !strings.Contains(causes[0].Message, text) {
		t.Errorf("want one complaint about %q with %q, the server has %d: %+v", field, text, len(causes), causes)
	}
	if !strings.Contains(err.Error(), field) || !strings.Contains(err.Error(), text) {
		t.Errorf("want an error with %q and %q, got: %v", field, text, err)
	}
}

func (b breach) place() string {
	if b.field != "" {
		return b.field
	}
	for path := range b.set {
		return path
	}
	return ""
}

func isStatus(f fields) bool {
	for path := range f {
		return strings.HasPrefix(path, "status.")
	}
	return false
}

// named returns an object with a different name.
func named(o *unstructured.Unstructured, name string) *unstructured.Unstructured {
	o.SetName(name)
	return o
}
