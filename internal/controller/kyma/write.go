// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"maps"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// fieldManager owns all fields that Kymas set on Manifests. The API server removes a field that only fieldManager owns if the
// desired Manifest no longer contains it. It also owns spec.resourceRefs of Kymas.
const fieldManager = "kyma.m.crossplane.io/kyma"

// createOnly is a resource version that no object has. An API server creates an object with it, and refuses to update one as
// Invalid, because 0 counts as no version, which custom resources do not accept in an update. Without it, server-side apply
// would take over a Manifest that belongs to another owner.
const createOnly = "0"

// apply applies a desired Manifest. It returns false if a Manifest was created or deleted in the meantime, because an event
// about this starts another reconcile. A desired Manifest with a resource version is applied to this version only, and causes
// a conflict otherwise.
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

// removeSurplus removes the labels and annotations that a desired Manifest no longer has, but that server-side apply kept
// because another field manager owns them too: a user, or an earlier version of the provider. Like the patch of release, its
// patch contains the UID.
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

// explain returns an error that explains why the API server refused a desired Manifest. It returns nil if the cached Manifest
// was out of date.
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

// rightsTTL is how long an answer of the API server about permissions is cached.
const rightsTTL = 5 * time.Minute

// remove deletes a Manifest, or releases it if the provider is not allowed to delete it. The RBAC manager of Crossplane does
// not grant providers this permission: see docs/decisions/0011-kyma-over-manifests.md. The finalizer of the Manifest
// uninstalls the module.
func (s *store) remove(ctx context.Context, k *v1alpha1.Kyma, m *v1alpha1.Manifest) error {
	if isBeingDeleted(m) {
		return nil
	}
	allowed, err := s.mayDelete(ctx, m.Namespace)
	if err != nil {
		return err
	}
	if allowed {
		err := s.client.Delete(ctx, m.DeepCopy(), client.Preconditions{UID: &m.UID}, client.PropagationPolicy(metav1.DeletePropagationBackground))
		if !kerrors.IsForbidden(err) {
			return errors.Wrapf(notfound.Ignore(err), "cannot delete Manifest %s", m.Name)
		}
	}
	return s.release(ctx, k, m)
}

// release releases a Manifest to the garbage collector of Kubernetes, which deletes objects whose owner does not exist. The
// garbage collector gets the owner by name and compares the UID, so a Kyma of this name may exist. A merge patch replaces the
// owner, whichever field manager set it; server-side apply would add a second one if an earlier version of the provider set
// the first. The patch contains the UID, so that the API server refuses it for another Manifest of the same name; an event
// about that one starts another reconcile.
func (s *store) release(ctx context.Context, k *v1alpha1.Kyma, m *v1alpha1.Manifest) error {
	out := m.DeepCopy()
	out.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.KymaKind, Name: k.Name, UID: uuid.NewUUID(),
	}}
	meta.AddAnnotations(out, map[string]string{v1alpha1.AnnotationReleasedBy: string(k.UID)})
	base := m.DeepCopy()
	base.UID = ""
	err := s.client.Patch(ctx, out, client.MergeFrom(base))
	if kerrors.IsInvalid(err) || kerrors.IsConflict(err) {
		if outdated, failed := s.isOutdated(ctx, k, m); outdated || failed != nil {
			return failed
		}
	}
	return errors.Wrapf(notfound.Ignore(err), "cannot release Manifest %s to the garbage collector", m.Name)
}

// mayDelete reports whether the provider is allowed to delete the Manifests of a namespace.
func (s *store) mayDelete(ctx context.Context, namespace string) (bool, error) {
	if known, ok := s.deletable.Get(namespace); ok {
		return known == true, nil
	}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "delete", Group: v1alpha1.Group, Resource: "manifests"},
	}}
	if err := s.client.Create(ctx, review); err != nil {
		return false, errors.Wrap(err, "cannot check whether the provider has permission to delete Manifests")
	}
	s.deletable.Set(namespace, review.Status.Allowed, rightsTTL)
	return review.Status.Allowed, nil
}
