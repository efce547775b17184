// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// A UsageTracker tracks which Manifests use which ProviderConfigs, except for a Manifest of a Kyma that uses the same one. The usage
// of a Kyma exists as long as the Kyma, which waits for the removal of its Manifests.
type UsageTracker struct {
	resource.ModernTracker

	// Client reads Kymas from the cache.
	Client client.Reader
}

// Track creates or updates the usage of a Manifest.
func (t *UsageTracker) Track(ctx context.Context, mr resource.ModernManaged) error {
	if t.isCovered(ctx, mr) {
		return nil
	}
	return t.ModernTracker.Track(ctx, mr) //nolint:wrapcheck // The caller wraps it.
}

// isCovered reports whether the Kyma of a Manifest uses the same ProviderConfig.
func (t *UsageTracker) isCovered(ctx context.Context, mr resource.ModernManaged) bool {
	owner, ref := metav1.GetControllerOf(mr), mr.GetProviderConfigReference()
	if owner == nil || owner.Kind != v1alpha1.KymaKind || ref == nil {
		return false
	}
	k := &v1alpha1.Kyma{}
	err := t.Client.Get(ctx, client.ObjectKey{Namespace: mr.GetNamespace(), Name: owner.Name}, k)
	return err == nil && k.UID == owner.UID && k.Spec.ProviderConfigReference != nil && *k.Spec.ProviderConfigReference == *ref
}

// usageManager is a manager whose client finds the usages of a config by an index.
type usageManager struct {
	ctrl.Manager
}

// GetClient returns the client.
func (m usageManager) GetClient() client.Client { return usageClient{m.Manager.GetClient()} }

// usageClient finds the usages of a config by an index. The reconciler of crossplane-runtime selects them by their labels, for which the
// cache would compare the usages of all configs each time.
type usageClient struct {
	client.Client
}

// List lists objects.
func (c usageClient) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	if _, ok := l.(*v1alpha1.ProviderConfigUsageList); ok {
		o := (&client.ListOptions{}).ApplyOptions(opts)
		if o.LabelSelector != nil && o.FieldSelector == nil {
			if name, ok := o.LabelSelector.RequiresExactMatch(xpv2.LabelKeyProviderName); ok {
				opts = append(slices.Clip(opts), client.MatchingFields{indexUsages: name})
			}
		}
	}
	return c.Client.List(ctx, l, opts...) //nolint:wrapcheck // It replaces the client.
}
