// SPDX-License-Identifier: Apache-2.0

package unmanaged

import (
	"context"

	kmeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/settings"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

type connector struct {
	inner        managed.TypedExternalConnector[*v1alpha1.Manifest]
	cached, live client.Reader
}

// Connector returns a connector that detaches the objects of a Manifest that is being deleted if IsLeft is true for it. The controller of Kymas marks
// such Manifests too, but if a Kyma is deleted in the foreground, the garbage collector deletes them at the same time. Likewise, it waits if the Kyma
// does not let objects be removed. Kymas are read from the cache, and from the API server if the cache can be out of date.
func Connector(inner managed.TypedExternalConnector[*v1alpha1.Manifest], cached, live client.Reader) managed.TypedExternalConnector[*v1alpha1.Manifest] {
	return &connector{inner: inner, cached: cached, live: live}
}

// Connect marks the Manifest in memory, and connects it.
func (c *connector) Connect(ctx context.Context, m *v1alpha1.Manifest) (managed.TypedExternalClient[*v1alpha1.Manifest], error) {
	left, err := c.isLeft(ctx, m)
	if err != nil {
		return nil, err
	}
	if left {
		meta.AddAnnotations(m, map[string]string{v1alpha1.AnnotationDetach: "true"})
	}
	return c.inner.Connect(ctx, m) //nolint:wrapcheck // It is only forwarded.
}

// await returns an error if a Kyma that is being deleted is paused, or its policies forbid the removal of objects, and its controller has not written
// that to the Manifest yet.
func await(k *v1alpha1.Kyma, m *v1alpha1.Manifest) error {
	if !meta.WasDeleted(k) || IsLeft(k, m) || m.Annotations[v1alpha1.AnnotationDetach] == "true" {
		return nil // The policies of a Manifest that is detached differ from those of the Kyma.
	}
	if meta.IsPaused(k) {
		return errors.Errorf("waiting until the Manifest is paused, because Kyma %s is", k.Name)
	}
	p := k.Spec.ManagementPolicies
	if p == nil {
		return nil
	}
	r := settings.CheckerOf(true, p)
	if r.IsPaused() || r.Validate() == nil && !r.ShouldDelete() {
		return errors.Errorf("waiting until the Manifest has the managementPolicies of Kyma %s, which do not contain Delete", k.Name)
	}
	return nil
}

// isLeft reports whether IsLeft is true for a Manifest that is being deleted and its Kyma.
func (c *connector) isLeft(ctx context.Context, m *v1alpha1.Manifest) (bool, error) {
	owner := metav1.GetControllerOf(m)
	if !meta.WasDeleted(m) || owner == nil || owner.Kind != v1alpha1.KymaKind {
		return false, nil
	}
	for _, kymas := range []client.Reader{c.cached, c.live} {
		k := &v1alpha1.Kyma{}
		err := kymas.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: owner.Name}, k)
		if notfound.Is(err) || kmeta.IsNoMatchError(err) || err == nil && k.UID != owner.UID {
			return false, nil
		}
		if err != nil {
			return false, errors.Wrapf(notfound.Explain(err), "cannot get Kyma %s", owner.Name)
		}
		if meta.WasDeleted(k) || moduleOf(k, m) == nil {
			return IsLeft(k, m), await(k, m)
		}
		// Something else than the controller of Kymas has deleted the Manifest, perhaps because the Kyma is being deleted.
	}
	return false, nil
}
