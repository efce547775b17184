// SPDX-License-Identifier: Apache-2.0

package kymaset

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/kymaset"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// A departure says why a KymaSet no longer manages a cluster.
type departure int

const (
	// stays means that the API server does not confirm what the cache says.
	stays departure = iota
	// left means that the KymaSet is being deleted, or no longer selects the cluster.
	left
	// gone means that the cluster does not exist any more, or is being deleted.
	gone
)

// confirm asks the API server whether a KymaSet no longer manages a cluster, and returns the KymaSet that the API server has. Nothing is
// removed because of the cache alone, which can be incomplete. Only the form in which an API server reports a missing object counts as
// an answer.
func (c *clusters) confirm(ctx context.Context, cached *v1alpha1.KymaSet, key types.NamespacedName) (*v1alpha1.KymaSet, departure, error) {
	set := &v1alpha1.KymaSet{}
	err := c.writer.server.Get(ctx, types.NamespacedName{Name: cached.Name}, set)
	if notfound.Is(err) || err == nil && set.UID != cached.UID {
		return set, stays, nil
	}
	if err != nil {
		return set, stays, errors.Wrapf(notfound.Explain(err), "cannot get KymaSet %s", cached.Name)
	}
	s, err := kymaset.SelectionOf(set)
	switch known := err == nil && c.fleet.access.isComplete(s); {
	case !known && meta.WasDeleted(set):
		return set, left, nil // What it selected does not matter any more.
	case !known:
		return set, stays, err
	}
	why, err := c.confirmCluster(ctx, set, s, key)
	return set, why, err
}

// confirmCluster asks the API server whether a KymaSet no longer selects a cluster that exists.
func (c *clusters) confirmCluster(ctx context.Context, set *v1alpha1.KymaSet, s kymaset.Selection, key types.NamespacedName) (departure, error) {
	o, resource := &metav1.PartialObjectMetadata{}, "providerconfigs"
	o.SetGroupVersionKind(v1alpha1.ProviderConfigGroupVersionKind)
	if s.ClusterAPI {
		o, resource = c.fleet.access.object(clusterKind), "clusters"
	}
	err := c.writer.server.Get(ctx, key, o)
	if notfound.IsObject(err, resource, key.Name) || err == nil && meta.WasDeleted(o) {
		return gone, nil
	}
	if err != nil {
		return stays, errors.Wrapf(notfound.Explain(err), "cannot get %s %s", o.Kind, key)
	}
	if meta.WasDeleted(set) {
		return left, nil
	}
	n := &metav1.PartialObjectMetadata{}
	if s.Namespaces != nil {
		n = c.fleet.access.object(namespaceKind)
		if err := c.writer.server.Get(ctx, client.ObjectKey{Name: key.Namespace}, n); err != nil {
			return stays, errors.Wrapf(notfound.Explain(err), "cannot get namespace %s", key.Namespace)
		}
	}
	if s.Matches(n.Labels, o.Labels) {
		return stays, nil
	}
	return left, nil
}
