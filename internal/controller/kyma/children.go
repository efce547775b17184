// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// Names of indexes.
const (
	// indexKyma is of Manifests by the UID of their Kyma.
	indexKyma = "kyma"
	// indexModules is of Kymas by the names of their modules.
	indexModules = "modules"
	// indexModule is of ModuleTemplates by the name of their module.
	indexModule = "module"
	// indexConfig is of Manifests by their config; it is that of the controller of Manifests.
	indexConfig = "config"
)

// index what is looked up by something else than its name.
func index(ctx context.Context, i client.FieldIndexer) error {
	for _, f := range []struct {
		object client.Object
		name   string
		values client.IndexerFunc
	}{
		{&v1alpha1.Manifest{}, indexKyma, func(o client.Object) []string {
			if uid := kymaOf(o); uid != "" {
				return []string{string(uid)}
			}
			return nil
		}},
		{&v1alpha1.Kyma{}, indexModules, func(o client.Object) []string {
			k, _ := o.(*v1alpha1.Kyma)
			out := make([]string, 0, len(k.Spec.ForProvider.Modules))
			for i := range k.Spec.ForProvider.Modules {
				out = append(out, k.Spec.ForProvider.Modules[i].Name)
			}
			return out
		}},
		{&v1alpha1.ModuleTemplate{}, indexModule, func(o client.Object) []string {
			t, _ := o.(*v1alpha1.ModuleTemplate)
			return []string{module.NameOf(t)}
		}},
	} {
		if err := i.IndexField(ctx, f.object, f.name, f.values); err != nil {
			return errors.Wrapf(err, "cannot index by %s", f.name)
		}
	}
	return nil
}

// kymaOf a Manifest: the UID of the Kyma that controls it, or that has released it to the garbage collector.
func kymaOf(o client.Object) types.UID {
	if uid := o.GetAnnotations()[v1alpha1.AnnotationReleasedBy]; uid != "" {
		return types.UID(uid)
	}
	if c := metav1.GetControllerOf(o); c != nil && c.Kind == v1alpha1.KymaKind {
		return c.UID
	}
	return ""
}

// family finds what belongs to a Kyma. What it returns is shared with the cache and must not be changed.
type family struct {
	cache client.Reader
	// server is the API server itself.
	server client.Reader
}

// children of a Kyma.
func (f *family) children(ctx context.Context, k *v1alpha1.Kyma) ([]*v1alpha1.Manifest, error) {
	l := &v1alpha1.ManifestList{}
	err := f.cache.List(ctx, l, client.InNamespace(k.Namespace), client.MatchingFields{indexKyma: string(k.UID)}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, errors.Wrap(err, "cannot list the Manifests of the Kyma")
	}
	out := make([]*v1alpha1.Manifest, 0, len(l.Items))
	for i := range l.Items {
		out = append(out, &l.Items[i])
	}
	return out, nil
}

// unseen says whether the API server has a child besides those that are known: the cache may not show it yet.
func (f *family) unseen(ctx context.Context, k *v1alpha1.Kyma, known []*v1alpha1.Manifest) (bool, error) {
	l := &metav1.PartialObjectMetadataList{}
	l.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind(v1alpha1.ManifestKind + "List"))
	err := f.server.List(ctx, l, client.InNamespace(k.Namespace), client.MatchingLabels{v1alpha1.LabelKymaName: shorten(k.Name, maxLabel)})
	if err != nil {
		return false, errors.Wrap(err, "cannot list the Manifests of the Kyma")
	}
	for i := range l.Items {
		m := &l.Items[i]
		if kymaOf(m) == k.UID && !slices.ContainsFunc(known, func(c *v1alpha1.Manifest) bool { return c.UID == m.UID }) {
			return true, nil
		}
	}
	return false, nil
}

// templates of a module, in any channel.
func (f *family) templates(ctx context.Context, name string) ([]v1alpha1.ModuleTemplate, error) {
	l := &v1alpha1.ModuleTemplateList{}
	err := f.cache.List(ctx, l, client.MatchingFields{indexModule: name}, client.UnsafeDisableDeepCopy)
	return l.Items, errors.Wrapf(err, "cannot list the ModuleTemplates of module %q", name)
}

// stranger is a Manifest by name that does not belong to the Kyma, or nil, as the cache or the API server has it.
func stranger(ctx context.Context, c client.Reader, k *v1alpha1.Kyma, name string) (*v1alpha1.Manifest, error) {
	m := &v1alpha1.Manifest{}
	switch err := c.Get(ctx, types.NamespacedName{Namespace: k.Namespace, Name: name}, m); {
	case notfound.Is(err):
		return nil, nil //nolint:nilnil // Nobody is there.
	case err != nil:
		return nil, errors.Wrapf(notfound.Explain(err), "cannot get Manifest %s", name)
	case kymaOf(m) == k.UID:
		return nil, nil //nolint:nilnil // It is no stranger.
	}
	return m, nil
}
