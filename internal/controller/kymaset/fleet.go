// SPDX-License-Identifier: Apache-2.0

package kymaset

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/kymaset"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// indexSet is the name of the indexes of Kymas and ProviderConfigs by the KymaSet that manages them.
const indexSet = "kyma-set"

// addIndexes registers the indexes that this controller reads.
func addIndexes(ctx context.Context, i client.FieldIndexer) error {
	for _, o := range []client.Object{&v1alpha1.Kyma{}, &v1alpha1.ProviderConfig{}} {
		if err := i.IndexField(ctx, o, indexSet, func(o client.Object) []string {
			if name := kymaset.SetOf(o); name != "" {
				return []string{name}
			}
			return nil
		}); err != nil {
			return errors.Wrapf(err, "cannot index by %s", indexSet)
		}
	}
	return nil
}

// A fleet reads clusters and what KymaSets manage from the cache. Callers must not change what it returns.
type fleet struct {
	client client.Client
	access *access
}

// members returns the clusters that a selection contains.
func (f *fleet) members(ctx context.Context, s kymaset.Selection) ([]types.NamespacedName, error) {
	in := map[string]bool{}
	if s.Namespaces != nil {
		all, err := f.access.list(ctx, namespaceKind, client.MatchingLabelsSelector{Selector: s.Namespaces})
		if err != nil {
			return nil, err
		}
		for i := range all {
			in[all[i].Name] = true
		}
	}
	var out []types.NamespacedName
	add := func(o metav1.Object) {
		if !meta.WasDeleted(o) && (s.Namespaces == nil || in[o.GetNamespace()]) {
			out = append(out, types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()})
		}
	}
	if s.ClusterAPI {
		all, err := f.access.list(ctx, clusterKind, client.MatchingLabelsSelector{Selector: s.Clusters})
		for i := range all {
			add(&all[i])
		}
		return out, err
	}
	l := &v1alpha1.ProviderConfigList{}
	err := f.client.List(ctx, l, client.MatchingLabelsSelector{Selector: s.Clusters}, client.UnsafeDisableDeepCopy)
	for i := range l.Items {
		add(&l.Items[i])
	}
	return out, errors.Wrap(err, "cannot list ProviderConfigs")
}

// owned returns the clusters whose Kyma or ProviderConfig has the label of a KymaSet. If mine is true, this KymaSet must have applied
// them, and not an earlier one with its name.
func (f *fleet) owned(ctx context.Context, set *v1alpha1.KymaSet, mine bool) ([]types.NamespacedName, error) {
	var out []types.NamespacedName
	add := func(o client.Object) {
		if !mine || kymaset.IsOf(o, set) {
			out = append(out, client.ObjectKeyFromObject(o))
		}
	}
	kymas, configs := &v1alpha1.KymaList{}, &v1alpha1.ProviderConfigList{}
	for _, l := range []client.ObjectList{kymas, configs} {
		if err := f.client.List(ctx, l, client.MatchingFields{indexSet: set.Name}, client.UnsafeDisableDeepCopy); err != nil {
			return nil, errors.Wrapf(err, "cannot list the objects of KymaSet %s", set.Name)
		}
	}
	for i := range kymas.Items {
		add(&kymas.Items[i])
	}
	for i := range configs.Items {
		add(&configs.Items[i])
	}
	return out, nil
}

// inNamespace returns the clusters of a namespace.
func (f *fleet) inNamespace(ctx context.Context, namespace string) []types.NamespacedName {
	var out []types.NamespacedName
	l := &v1alpha1.ProviderConfigList{}
	if err := f.client.List(ctx, l, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err == nil {
		for i := range l.Items {
			out = append(out, client.ObjectKeyFromObject(&l.Items[i]))
		}
	}
	if !f.access.isReady(clusterKind) {
		return out
	}
	if all, err := f.access.list(ctx, clusterKind, client.InNamespace(namespace)); err == nil {
		for i := range all {
			out = append(out, client.ObjectKeyFromObject(&all[i]))
		}
	}
	return out
}

// namespace returns the labels of a namespace.
func (f *fleet) namespace(ctx context.Context, s kymaset.Selection, name string) (labels.Set, error) {
	if s.Namespaces == nil {
		return labels.Set{}, nil
	}
	o := f.access.object(namespaceKind)
	err := f.client.Get(ctx, types.NamespacedName{Name: name}, o)
	return o.Labels, errors.Wrapf(notfound.Ignore(err), "cannot get namespace %s", name)
}

// cluster returns the object that a selection would select by the name of a cluster, or nil.
func (f *fleet) cluster(ctx context.Context, s kymaset.Selection, key types.NamespacedName, config *v1alpha1.ProviderConfig) (metav1.Object, error) {
	if !s.ClusterAPI {
		if config == nil {
			return nil, nil //nolint:nilnil // The cluster does not exist.
		}
		return config, nil
	}
	o := f.access.object(clusterKind)
	err := f.client.Get(ctx, key, o)
	if notfound.Is(err) {
		return nil, nil //nolint:nilnil // The cluster does not exist.
	}
	return o, errors.Wrapf(err, "cannot get Cluster %s", key)
}
