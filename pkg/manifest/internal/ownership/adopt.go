// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// deployers lists the field managers that apply complete objects, as the engine does. An adoption takes over their fields, so
// that a field is removed when a new version of the module no longer contains it. Controllers, autoscalers and users who edit an
// object are not deployers: they keep their fields.
var deployers = []string{ //nolint:gochecknoglobals // Constant.
	"helm", "Helm", "helm-controller", "kustomize-controller", "argocd-controller",
	"kubectl", "kubectl-client-side-apply", "kubectl-last-applied", "kubectl-create", "kubectl-replace", "before-first-apply",
	// The original lifecycle-manager and module-manager.
	"declarative.kyma-project.io/applier", "module-manager", "lifecycle-manager",
}

// deployed lists the annotations that only deployers set. They identify a deployer regardless of its name.
var deployed = []string{object.AnnotationReleaseName, "kubectl.kubernetes.io/last-applied-configuration"} //nolint:gochecknoglobals // Constant.

// Adopt returns managedFields in which manager, the field manager of the engine, owns all fields that deployers set. It returns
// nil if there is nothing to adopt.
func Adopt(manager string, in []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, error) {
	ours := metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1"}
	var rest []metav1.ManagedFieldsEntry
	union, found := &fieldpath.Set{}, false
	for i := range in {
		e := &in[i]
		mine := e.Manager == ours.Manager && e.Operation == ours.Operation && e.Subresource == ""
		fields := fieldset.Of(e.FieldsV1)
		// An entry has a single version. Entries with another version are rare and are not adopted.
		if fields == nil || !mine && !deploys(e, fields) || ours.APIVersion != "" && ours.APIVersion != e.APIVersion {
			rest = append(rest, *e)
			continue
		}
		found = found || !mine
		union = union.Union(fields)
		ours.APIVersion, ours.Time = e.APIVersion, e.Time
	}
	if !found {
		return nil, nil
	}
	b, err := withoutBonds(union).ToJSON()
	if err != nil {
		return nil, err
	}
	ours.FieldsV1 = &metav1.FieldsV1{}
	ours.FieldsV1.SetRawBytes(b)
	return append([]metav1.ManagedFieldsEntry{ours}, rest...), nil
}

// deploys reports whether an entry of managedFields belongs to a deployer.
func deploys(e *metav1.ManagedFieldsEntry, fields *fieldpath.Set) bool {
	if e.Subresource != "" {
		return false
	}
	return slices.Contains(deployers, e.Manager) || appliesMember(e, fields) || slices.ContainsFunc(deployed, func(a string) bool {
		return fields.Has(fieldpath.MakePathOrDie("metadata", "annotations", a))
	})
}

// appliesMember reports whether an entry belongs to an engine with another identity, because it applies both labels of the
// engine's members.
func appliesMember(e *metav1.ManagedFieldsEntry, fields *fieldpath.Set) bool {
	return e.Operation == metav1.ManagedFieldsOperationApply &&
		fields.Has(fieldpath.MakePathOrDie("metadata", "labels", object.LabelPartOf)) &&
		fields.Has(fieldpath.MakePathOrDie("metadata", "labels", object.LabelManagedBy))
}

// withoutBonds returns the fields except those that are never adopted: finalizers, owner references and the status.
func withoutBonds(fields *fieldpath.Set) *fieldpath.Set {
	out := &fieldpath.Set{}
	fields.Iterate(func(p fieldpath.Path) {
		if !fieldset.Below(p, "metadata", "finalizers") && !fieldset.Below(p, "metadata", "ownerReferences") && !fieldset.Below(p, "status") {
			out.Insert(p.Copy())
		}
	})
	return out
}
