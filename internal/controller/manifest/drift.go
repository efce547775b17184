// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// changes maps the kinds of drift to their names in the status.
var changes = map[engine.DriftKind]v1alpha1.DriftChange{ //nolint:gochecknoglobals // Constant.
	engine.DriftChanged:   v1alpha1.DriftChangeChanged,
	engine.DriftDeleted:   v1alpha1.DriftChangeDeleted,
	engine.DriftReplaced:  v1alpha1.DriftChangeReplaced,
	engine.DriftForeign:   v1alpha1.DriftChangeReplacedByOther,
	engine.DriftTakenOver: v1alpha1.DriftChangeTakenOver,
}

// driftStatus returns the status of drift that was detected now. Its order does not depend on the order of the argument.
func (r *reporter) driftStatus(drift []engine.Drift) *v1alpha1.DriftStatus {
	drift = slices.Clone(drift)
	slices.SortFunc(drift, func(a, b engine.Drift) int {
		return cmp.Or(strings.Compare(a.Key.String(), b.Key.String()), strings.Compare(a.Key.Group, b.Key.Group), cmp.Compare(a.Kind, b.Kind))
	})
	out := &v1alpha1.DriftStatus{ObservedTime: metav1.Now().Rfc3339Copy(), Objects: []v1alpha1.DriftedObject{}}
	for _, d := range drift[:min(len(drift), mostDrifted)] {
		fields, omitted := r.paths(slices.Sorted(slices.Values(d.Fields)))
		out.Objects = append(out.Objects, v1alpha1.DriftedObject{
			ObjectReference: r.reference(d.Key), Change: changes[d.Kind], Fields: fields, OmittedFields: omitted,
		})
	}
	out.OmittedObjects = count(len(drift) - len(out.Objects))
	return out
}

// sameDrift reports whether two drifts are equal, except for the time of detection. If one of them is nil, they are not.
func sameDrift(a, b *v1alpha1.DriftStatus) bool {
	return a != nil && b != nil && a.OmittedObjects == b.OmittedObjects && equality.Semantic.DeepEqual(a.Objects, b.Objects)
}
