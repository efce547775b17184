// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
)

// maxNames is the maximum number of fields that Names returns for one object.
const maxNames = 8

// Lost returns the leaf fields that the engine owns after a repair but did not own before it. These are the fields that other
// managers changed or removed.
func Lost(before, after *metav1.FieldsV1) *fieldpath.Set {
	b, a := fieldset.Of(before), fieldset.Of(after)
	if a == nil {
		return &fieldpath.Set{}
	}
	if b != nil {
		a = a.Difference(b)
	}
	return a.Leaves()
}

// IsDrift reports whether an object that differs from its applied state has drifted. It has drifted if fields were changed, or if
// it has no ceded fields that explain the difference. Ceded is the number of its ceded fields.
func IsDrift(changed bool, ceded int) bool { return changed || ceded == 0 }

// Names returns the paths of the first maxNames fields, followed by an ellipsis if there are more. The paths do not contain
// values.
func Names(s *fieldpath.Set) []string {
	var out []string
	for _, p := range fieldset.All(s) {
		if len(out) == maxNames {
			return append(out, "…")
		}
		out = append(out, fieldset.Text(p))
	}
	return out
}
