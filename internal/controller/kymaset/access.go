// SPDX-License-Identifier: Apache-2.0

package kymaset

import (
	"context"
	"slices"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/kymaset"
)

// The kinds that the provider only watches if a KymaSet needs them, because Crossplane does not grant the permission.
var (
	namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace").GroupKind()  //nolint:gochecknoglobals // Constant.
	clusterKind   = schema.GroupKind{Group: "cluster.x-k8s.io", Kind: "Cluster"} //nolint:gochecknoglobals // Constant.
)

// supported returns the versions of a kind that the provider can read, the preferred one first.
func supported(kind schema.GroupKind) []string {
	if kind == clusterKind {
		return []string{"v1beta2", "v1beta1"}
	}
	return []string{"v1"}
}

// errSyncing means that a watch has begun, and its cache is not complete yet.
var errSyncing = errors.New("the cache is not complete yet")

// A blockedError means that a KymaSet has to wait until someone grants a permission or installs a CRD.
type blockedError struct{ message string }

func (e *blockedError) Error() string { return e.message }

// access watches the metadata of kinds that KymaSets need. It is safe for concurrent use.
type access struct {
	client client.Client
	cache  cache.Cache
	mapper meta.RESTMapper
	// watch adds a source to the controller.
	watch func(source.Source) error
	// handlers contains the handlers for events of the kinds.
	handlers map[schema.GroupKind]handler.EventHandler

	mu      sync.Mutex
	watched map[schema.GroupKind]watched
}

type watched struct {
	kind     schema.GroupVersionKind
	informer cache.Informer
}

// kindsOf returns the kinds that a selection needs.
func kindsOf(s kymaset.Selection) []schema.GroupKind {
	var out []schema.GroupKind
	if s.Namespaces != nil {
		out = append(out, namespaceKind)
	}
	if s.ClusterAPI {
		out = append(out, clusterKind)
	}
	return out
}

// ensure watches the kinds that a selection needs. It returns a *blockedError if that is not possible, and errSyncing until the
// caches are complete.
func (a *access) ensure(ctx context.Context, s kymaset.Selection) error {
	for _, k := range kindsOf(s) {
		if err := a.start(ctx, k); err != nil {
			return err
		}
		if !a.isReady(k) {
			return errSyncing
		}
	}
	return nil
}

// isComplete reports whether the caches for a selection are complete.
func (a *access) isComplete(s kymaset.Selection) bool {
	return !slices.ContainsFunc(kindsOf(s), func(k schema.GroupKind) bool { return !a.isReady(k) })
}

func (a *access) isReady(k schema.GroupKind) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	w, ok := a.watched[k]
	return ok && w.informer.HasSynced()
}

// object returns an empty object for the metadata of a watched kind.
func (a *access) object(k schema.GroupKind) *metav1.PartialObjectMetadata {
	a.mu.Lock()
	defer a.mu.Unlock()
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(a.watched[k].kind)
	return o
}

// list returns the metadata of all objects of a watched kind, which the caller must not change.
func (a *access) list(ctx context.Context, k schema.GroupKind, o ...client.ListOption) ([]metav1.PartialObjectMetadata, error) {
	gvk := a.object(k).GroupVersionKind()
	l := &metav1.PartialObjectMetadataList{}
	l.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	err := a.client.List(ctx, l, append(o, client.UnsafeDisableDeepCopy)...)
	return l.Items, errors.Wrapf(err, "cannot list objects of kind %s", k.Kind)
}

// start starts the watch of a kind, unless it was started before.
func (a *access) start(ctx context.Context, k schema.GroupKind) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.watched[k]; ok {
		return nil
	}
	m, err := a.mapping(k)
	if err != nil {
		return err
	}
	if err := a.allowed(ctx, m.Resource); err != nil {
		return err
	}
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(m.GroupVersionKind)
	i, err := a.cache.GetInformer(ctx, o, cache.BlockUntilSynced(false))
	if err != nil {
		return errors.Wrapf(err, "cannot watch objects of kind %s", k.Kind)
	}
	if err := a.watch(source.Kind[client.Object](a.cache, o, a.handlers[k])); err != nil {
		return errors.Wrapf(err, "cannot watch objects of kind %s", k.Kind)
	}
	a.watched[k] = watched{kind: m.GroupVersionKind, informer: i}
	return nil
}

// mapping returns the newest version of a kind that both the API server and the provider have.
func (a *access) mapping(k schema.GroupKind) (*meta.RESTMapping, error) {
	for _, v := range supported(k) {
		m, err := a.mapper.RESTMapping(k, v)
		if err == nil {
			return m, nil
		}
		if !meta.IsNoMatchError(err) {
			return nil, errors.Wrapf(err, "cannot find kind %s", k)
		}
	}
	return nil, &blockedError{message: "the control plane does not serve clusters.cluster.x-k8s.io in version v1beta2 or v1beta1: install Cluster API, " +
		"or use spec.providerConfigs"}
}

// allowed returns a *blockedError if the provider is not allowed to watch a resource.
func (a *access) allowed(ctx context.Context, r schema.GroupVersionResource) error {
	for _, verb := range []string{"get", "list", "watch"} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Group: r.Group, Resource: r.Resource, Verb: verb},
		}}
		if err := a.client.Create(ctx, review); err != nil {
			return errors.Wrapf(err, "cannot check whether the provider has permission to %s %s", verb, r.Resource)
		}
		if !review.Status.Allowed {
			return &blockedError{message: "the provider has no permission to " + verb + " " + r.GroupResource().String() + ": grant it as in " +
				"examples/rbac/kymaset.yaml"}
		}
	}
	return nil
}
