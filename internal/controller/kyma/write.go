// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"maps"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/removal"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// fieldManager owns all fields that Kymas set on Manifests. The API server removes a field that only fieldManager owns if the
// desired Manifest no longer contains it. It also owns spec.resourceRefs of Kymas.
const fieldManager = "kyma.m.crossplane.io/kyma"

// createOnly is a resource version that no object has. An API server creates an object with it, and refuses to update one as
// Invalid, because 0 counts as no version, which custom resources do not accept in an update. Without it, server-side apply
// would take over a Manifest that belongs to another owner.
const createOnly = "0"

// apply applies a desired Manifest. It returns false if a Manifest was created or deleted in the meantime, because an event about this starts another
// reconcile. A desired Manifest with a resource version is applied to this version only, and causes a conflict otherwise.
func (s *store) apply(ctx context.Context, k *v1alpha1.Kyma, desired *v1alpha1.Manifest) (bool, error) {
	o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(desired)
	if err != nil {
		return false, errors.Wrap(err, "cannot encode the Manifest")
	}
	u := &unstructured.Unstructured{Object: o}
	u.SetGroupVersionKind(v1alpha1.ManifestGroupVersionKind)
	unstructured.RemoveNestedField(o, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(o, "status")
	if desired.UID == "" {
		u.SetResourceVersion(createOnly)
	}
	err = s.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(fieldManager), client.ForceOwnership)
	if err == nil && desired.UID != "" {
		err = s.removeSurplus(ctx, u, desired)
	}
	if err != nil {
		return false, s.explain(ctx, k, desired, err)
	}
	return true, nil
}

// removeSurplus removes the labels and annotations that a desired Manifest no longer has, but that server-side apply kept because another field
// manager owns them too: a user, or an earlier version of the provider. Like the patch of a removal, its patch contains the UID.
func (s *store) removeSurplus(ctx context.Context, got client.Object, desired *v1alpha1.Manifest) error {
	surplusLabels, surplusAnnotations := surplus(got, desired)
	if len(surplusLabels)+len(surplusAnnotations) == 0 {
		return nil
	}
	out := &v1alpha1.Manifest{}
	out.Namespace, out.Name = got.GetNamespace(), got.GetName()
	out.Labels, out.Annotations = maps.Clone(got.GetLabels()), maps.Clone(got.GetAnnotations())
	base := out.DeepCopy()
	out.UID = desired.UID
	meta.RemoveLabels(out, surplusLabels...)
	meta.RemoveAnnotations(out, surplusAnnotations...)
	return s.client.Patch(ctx, out, client.MergeFrom(base), client.FieldOwner(fieldManager))
}

// surplus returns the keys of the labels and annotations of a live Manifest that a Kyma set and no longer wants.
func surplus(live, desired metav1.Object) (labels, annotations []string) {
	for _, key := range []string{v1alpha1.LabelControllerName, v1alpha1.LabelChannel} {
		_, has := live.GetLabels()[key]
		if _, wants := desired.GetLabels()[key]; has && !wants {
			labels = append(labels, key)
		}
	}
	if live.GetAnnotations()[v1alpha1.AnnotationPausedBy] != "" && desired.GetAnnotations()[v1alpha1.AnnotationPausedBy] == "" {
		annotations = append(annotations, v1alpha1.AnnotationPausedBy, meta.AnnotationKeyReconciliationPaused)
	}
	if live.GetAnnotations()[v1alpha1.AnnotationDetach] != "" && desired.GetAnnotations()[v1alpha1.AnnotationDetach] == "" {
		annotations = append(annotations, v1alpha1.AnnotationDetach)
	}
	return labels, annotations
}

// explain returns an error that explains why the API server refused a desired Manifest. It returns nil if the cached Manifest was out of date.
func (s *store) explain(ctx context.Context, k *v1alpha1.Kyma, desired *v1alpha1.Manifest, err error) error {
	creates, locked := desired.UID == "", desired.ResourceVersion != ""
	if kerrors.IsInvalid(err) || kerrors.IsConflict(err) && !creates && !locked {
		if outdated, failed := s.isOutdated(ctx, k, desired); outdated || failed != nil {
			return failed
		}
	}
	if creates {
		return errors.Wrapf(notfound.Explain(err), "cannot create Manifest %s", desired.Name)
	}
	return errors.Wrapf(notfound.Ignore(err), "cannot change Manifest %s", desired.Name)
}

// isOutdated reports whether a Manifest to create exists, or a Manifest to change does not. It returns an error if the
// existing Manifest belongs to another owner.
func (s *store) isOutdated(ctx context.Context, k *v1alpha1.Kyma, desired *v1alpha1.Manifest) (bool, error) {
	live, err := getManifest(ctx, s.server, desired.Namespace, desired.Name)
	switch {
	case err != nil:
		return false, err
	case desired.UID != "":
		return live == nil || live.UID != desired.UID, nil
	case live != nil && ownerUID(live) != k.UID:
		return false, errors.New(collision(live))
	}
	return live != nil, nil
}

// remove deletes a Manifest, or releases it if the provider is not allowed to delete it. The finalizer of the Manifest uninstalls the module.
func (s *store) remove(ctx context.Context, k *v1alpha1.Kyma, m *v1alpha1.Manifest) error {
	return s.ignoreOutdated(ctx, k, m, s.removals.Remove(ctx, m, ownerOf(k)))
}

// ownerOf returns a Kyma as the owner of a Manifest that is removed.
func ownerOf(k *v1alpha1.Kyma) removal.Owner {
	return removal.Owner{Kind: v1alpha1.KymaKind, Name: k.Name, UID: k.UID}
}

// ignoreOutdated returns nil for an error whose cause is that another Manifest has the name. An event about that one starts another reconcile.
func (s *store) ignoreOutdated(ctx context.Context, k *v1alpha1.Kyma, m *v1alpha1.Manifest, err error) error {
	if removal.IsOutdated(err) {
		if outdated, failed := s.isOutdated(ctx, k, m); outdated || failed != nil {
			return failed
		}
	}
	return err
}
