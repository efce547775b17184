// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// holders lists the managers of an object other than the engine, with the fields that they own.
type holders struct {
	names  []string
	fields []*fieldpath.Set
	// last is the manager that wrote last. It is used for removed fields, because a manager that removed a field no longer owns it.
	last string
}

// holdersOf returns the managers of an object other than the engine.
func holdersOf(manager string, managed []metav1.ManagedFieldsEntry) holders {
	var out holders
	var at time.Time
	for i := range managed {
		m := &managed[i]
		if IsAppliedBy(manager, m) || m.Subresource == "status" {
			continue
		}
		if s := fieldset.Of(m.FieldsV1); s != nil {
			out.names, out.fields = append(out.names, m.Manager), append(out.fields, s)
		}
		if m.Time != nil && !m.Time.Time.Before(at) {
			out.last, at = m.Manager, m.Time.Time
		}
	}
	return out
}

// of returns the manager of a field, or the manager that wrote last if no manager owns the field.
func (h *holders) of(p fieldpath.Path) string {
	for i, s := range h.fields {
		if s.Has(p) {
			return h.names[i]
		}
	}
	return h.last
}

// fieldsOfOthers returns the leaf fields that other managers own and manager, the field manager of the engine, does not own.
func fieldsOfOthers(manager string, managed []metav1.ManagedFieldsEntry) *fieldpath.Set {
	theirs := &fieldpath.Set{}
	for i := range managed {
		e := &managed[i]
		if e.Subresource != "" || e.FieldsV1 == nil || IsAppliedBy(manager, e) {
			continue
		}
		if s := fieldset.Of(e.FieldsV1); s != nil {
			theirs = theirs.Union(s)
		}
	}
	if ours := fieldset.Of(fieldset.AppliedBy(manager, managed)); ours != nil {
		theirs = theirs.Difference(ours)
	}
	return theirs.Leaves()
}

// WithoutFieldsOfOthers returns a custom resource without the fields that its users have set since it was created, so that
// applying it does not change them.
func WithoutFieldsOfOthers(manager string, o *object.Desired, managed []metav1.ManagedFieldsEntry) (*object.Desired, error) {
	return o.Without(fieldsOfOthers(manager, managed))
}

// IsAppliedBy reports whether an entry of managedFields holds the fields that a manager applied.
func IsAppliedBy(manager string, m *metav1.ManagedFieldsEntry) bool {
	return m.Manager == manager && m.Operation == metav1.ManagedFieldsOperationApply && m.Subresource == ""
}
