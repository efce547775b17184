// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// fieldManager owns all fields that Kymas set on Manifests. The API server removes a field that it owns alone, and that a
// desired Manifest does not have any more.
const fieldManager = "kyma.m.crossplane.io/kyma"

// createOnly is a resource version that no object has. An API server creates an object with it, and refuses to update one as
// Invalid, because it counts as no version, which custom resources do not accept in an update. Without it, server-side apply
// would take over a Manifest that belongs to another owner.
const createOnly = "0"

// An applier applies desired Manifests.
type applier struct {
	client client.Client
	// server reads from the API server itself.
	server client.Reader
}

// apply a desired Manifest. It returns false where a Manifest was created or deleted in the meantime: an event about that
// starts another reconcile. A desired Manifest with a resource version is applied to this version only, and causes a conflict
// otherwise.
func (a *applier) apply(ctx context.Context, k *v1alpha1.Kyma, desired *v1alpha1.Manifest) (bool, error) {
	got, err := a.send(ctx, desired)
	if err != nil {
		return false, a.explain(ctx, k, desired, err)
	}
	if desired.UID == "" {
		return true, nil
	}
	takeover := withSurplus(desired, got)
	if takeover == nil {
		return true, nil
	}
	for _, m := range []*v1alpha1.Manifest{takeover, desired} {
		m = m.DeepCopy()
		m.ResourceVersion = ""
		if _, err := a.send(ctx, m); err != nil {
			return false, a.explain(ctx, k, m, err)
		}
	}
	return true, nil
}

// withSurplus returns a desired Manifest that takes over labels and annotations that must go and are still there, because
// another field manager owns them, too: an earlier version of the provider, or a user. A new value, which means the same as
// none, makes fieldManager the only owner. The API server then removes the field when the desired Manifest is applied again.
// withSurplus returns nil where there are none.
func withSurplus(desired *v1alpha1.Manifest, got *unstructured.Unstructured) *v1alpha1.Manifest {
	keys := surplus(got, desired)
	_, has := got.GetLabels()[v1alpha1.LabelControllerName]
	_, wants := desired.Labels[v1alpha1.LabelControllerName]
	if len(keys) == 0 && (!has || wants) {
		return nil
	}
	out := desired.DeepCopy()
	for _, key := range keys {
		meta.AddAnnotations(out, map[string]string{key: ""})
	}
	if has && !wants {
		meta.AddLabels(out, map[string]string{v1alpha1.LabelControllerName: ""})
	}
	return out
}

// send a desired Manifest, and return the Manifest that the API server has then.
func (a *applier) send(ctx context.Context, desired *v1alpha1.Manifest) (*unstructured.Unstructured, error) {
	o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(desired)
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode the Manifest")
	}
	u := &unstructured.Unstructured{Object: o}
	u.SetGroupVersionKind(v1alpha1.ManifestGroupVersionKind)
	unstructured.RemoveNestedField(o, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(o, "status")
	if desired.UID == "" {
		u.SetResourceVersion(createOnly)
	}
	err = a.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(fieldManager), client.ForceOwnership)
	return u, err
}

// explain why the API server refused a desired Manifest. It returns nil where the cache did not have the Manifest as it is.
func (a *applier) explain(ctx context.Context, k *v1alpha1.Kyma, desired *v1alpha1.Manifest, err error) error {
	if desired.UID == "" {
		return a.explainCreate(ctx, k, desired, err)
	}
	locked := desired.ResourceVersion != ""
	if kerrors.IsInvalid(err) || kerrors.IsConflict(err) && !locked {
		live, failed := getManifest(ctx, a.server, desired.Namespace, desired.Name)
		if failed != nil {
			return failed
		}
		if live == nil || live.UID != desired.UID {
			return nil
		}
	}
	return errors.Wrapf(notfound.Ignore(err), "cannot change Manifest %s", desired.Name)
}

// explainCreate explains why the API server did not create a Manifest. Invalid means that one of this name exists, or that
// the API server does not accept the desired one.
func (a *applier) explainCreate(ctx context.Context, k *v1alpha1.Kyma, desired *v1alpha1.Manifest, err error) error {
	if kerrors.IsInvalid(err) {
		live, failed := getManifest(ctx, a.server, desired.Namespace, desired.Name)
		switch {
		case failed != nil:
			return failed
		case live != nil && ownerUID(live) == k.UID:
			return nil
		case live != nil:
			return errors.New(collision(live))
		}
	}
	return errors.Wrapf(notfound.Explain(err), "cannot create Manifest %s", desired.Name)
}
