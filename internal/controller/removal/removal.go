// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"context"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// RightsTTL is how long an answer of the API server about permissions is cached.
const RightsTTL = 5 * time.Minute

// An Owner is the owner of an object that is removed.
type Owner struct {
	Kind, Name string
	UID        types.UID
}

// A Remover deletes the objects of a resource, or releases them to the garbage collector. It is safe for concurrent use.
type Remover struct {
	client   client.Client
	resource string
	kind     string
	// rights caches for each namespace whether the provider is allowed to delete the objects there.
	rights *cache.Expiring
}

// New returns a Remover for a kind, with the plural name of its resource.
func New(c client.Client, kind schema.GroupVersionKind, resource string) *Remover {
	return &Remover{client: c, kind: kind.Kind, resource: resource, rights: cache.NewExpiring()}
}

// Remove deletes an object, or releases it if the provider is not allowed to delete it. It does nothing for an object that is being
// deleted, or was released. An error for which IsOutdated is true can mean that another object has the name.
func (r *Remover) Remove(ctx context.Context, o client.Object, owner Owner) error {
	if meta.WasDeleted(o) || o.GetAnnotations()[v1alpha1.AnnotationReleasedBy] != "" {
		return nil
	}
	allowed, err := r.Allowed(ctx, o.GetNamespace())
	if err != nil {
		return err
	}
	if allowed {
		uid := o.GetUID()
		err := r.client.Delete(ctx, copyOf(o), client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
		if !kerrors.IsForbidden(err) {
			return errors.Wrapf(notfound.Ignore(err), "cannot delete %s %s", r.kind, o.GetName())
		}
	}
	return r.Release(ctx, o, owner)
}

// Release releases an object to the garbage collector of Kubernetes, which deletes objects whose owner does not exist. The garbage
// collector gets the owner by name and compares the UID, so an owner of this name may exist. A merge patch replaces the owner,
// whichever field manager set it; server-side apply would add a second one if an earlier version of the provider set the first. The
// patch contains the UID, so that the API server refuses it for another object of the same name.
func (r *Remover) Release(ctx context.Context, o client.Object, owner Owner) error {
	out, base := copyOf(o), copyOf(o)
	out.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: owner.Kind, Name: owner.Name, UID: uuid.NewUUID(),
	}})
	meta.AddAnnotations(out, map[string]string{v1alpha1.AnnotationReleasedBy: string(owner.UID)})
	base.SetUID("")
	err := r.client.Patch(ctx, out, client.MergeFrom(base))
	return errors.Wrapf(notfound.Ignore(err), "cannot release %s %s to the garbage collector", r.kind, o.GetName())
}

// IsOutdated reports whether an error can mean that the object on which it is based is out of date.
func IsOutdated(err error) bool { return kerrors.IsInvalid(err) || kerrors.IsConflict(err) }

// Allowed reports whether the provider is allowed to delete the objects of a namespace.
func (r *Remover) Allowed(ctx context.Context, namespace string) (bool, error) {
	if known, ok := r.rights.Get(namespace); ok {
		return known == true, nil
	}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "delete", Group: v1alpha1.Group, Resource: r.resource},
	}}
	if err := r.client.Create(ctx, review); err != nil {
		return false, errors.Wrapf(err, "cannot check whether the provider has permission to delete %ss", r.kind)
	}
	r.rights.Set(namespace, review.Status.Allowed, RightsTTL)
	return review.Status.Allowed, nil
}

func copyOf(o client.Object) client.Object {
	out, _ := o.DeepCopyObject().(client.Object)
	return out
}
