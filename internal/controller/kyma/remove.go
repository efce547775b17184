// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// rightsTTL is how long an answer of the API server about rights counts.
const rightsTTL = 5 * time.Minute

// remove a Manifest, with or without the right to delete it, which the RBAC manager of Crossplane does not grant to providers: see
// docs/decisions/0011-kyma-over-manifests.md. Its finalizer uninstalls the module.
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

// release a Manifest to the garbage collector of Kubernetes, which deletes objects whose owner does not exist. It gets the owner
// by name and compares the UID, so that a Kyma of this name may exist. A merge patch replaces the owner, whichever field manager
// set it; server-side apply would add a second one where an earlier version of the provider set the first.
func (s *store) release(ctx context.Context, k *v1alpha1.Kyma, m *v1alpha1.Manifest) error {
	out := m.DeepCopy()
	out.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.KymaKind, Name: k.Name, UID: uuid.NewUUID(),
	}}
	meta.AddAnnotations(out, map[string]string{v1alpha1.AnnotationReleasedBy: string(k.UID)})
	err := s.client.Patch(ctx, out, client.MergeFrom(m))
	return errors.Wrapf(notfound.Ignore(err), "cannot release Manifest %s to the garbage collector", m.Name)
}

// mayDelete reports whether the provider may delete Manifests of a namespace.
func (s *store) mayDelete(ctx context.Context, namespace string) (bool, error) {
	if known, ok := s.deletable.Get(namespace); ok {
		return known == true, nil
	}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: "delete", Group: v1alpha1.Group, Resource: "manifests",
		},
	}}
	if err := s.client.Create(ctx, review); err != nil {
		return false, errors.Wrap(err, "cannot ask whether Manifests may be deleted")
	}
	s.deletable.Set(namespace, review.Status.Allowed, rightsTTL)
	return review.Status.Allowed, nil
}
