// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/naming"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/removal"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// IndexModules is the name of the index of Kymas by the names of their modules, for package cached.
const IndexModules = "modules"

// These are the names of indexes for clients: of Manifests by the UID of their Kyma, of ModuleTemplates and ModuleReleaseMetas by the name of
// their module, and of ModuleReleaseMetas that make it mandatory.
const (
	indexKyma      = "kyma"
	indexModule    = "module"
	indexMandatory = "mandatory"
)

// addIndexes registers the indexes that this controller reads.
func addIndexes(ctx context.Context, i client.FieldIndexer) error {
	for _, f := range []struct {
		object client.Object
		name   string
		values client.IndexerFunc
	}{
		{&v1alpha1.Manifest{}, indexKyma, func(o client.Object) []string {
			if uid := ownerUID(o); uid != "" {
				return []string{string(uid)}
			}
			return nil
		}},
		{&v1alpha1.ModuleReleaseMeta{}, indexModule, func(o client.Object) []string {
			r, _ := o.(*v1alpha1.ModuleReleaseMeta)
			return []string{r.Spec.ModuleName}
		}},
		{&v1alpha1.ModuleReleaseMeta{}, indexMandatory, func(o client.Object) []string {
			r, _ := o.(*v1alpha1.ModuleReleaseMeta)
			return []string{strconv.FormatBool(r.Spec.Mandatory != nil)}
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

// moduleNames returns the names of the modules that a Kyma enables or has.
func moduleNames(k *v1alpha1.Kyma) []string {
	out := make([]string, 0, len(k.Spec.ForProvider.Modules))
	for i := range k.Spec.ForProvider.Modules {
		out = append(out, k.Spec.ForProvider.Modules[i].Name)
	}
	for i := range k.Status.AtProvider.Modules {
		if m := &k.Status.AtProvider.Modules[i]; m.Origin == v1alpha1.ModuleOriginMandatory && !slices.Contains(out, m.Name) {
			out = append(out, m.Name)
		}
	}
	return out
}

// ownerUID returns the UID of the Kyma that controls a Manifest, or that released it to the garbage collector.
func ownerUID(o client.Object) types.UID {
	if uid := o.GetAnnotations()[v1alpha1.AnnotationReleasedBy]; uid != "" {
		return types.UID(uid)
	}
	if c := metav1.GetControllerOf(o); c != nil && c.Kind == v1alpha1.KymaKind {
		return c.UID
	}
	return ""
}

// A store reads and writes the control plane: the Manifests of a Kyma, and the ModuleTemplates of a module. Callers must not
// change what it returns, because it is shared with the cache.
type store struct {
	// client reads from the cache, and writes to the API server.
	client client.Client
	// server reads from the API server.
	server client.Reader
	// removals deletes Manifests.
	removals *removal.Remover
}

// newStore returns a store that writes through c, and reads through c or from the API server.
func newStore(c client.Client, server client.Reader) *store {
	return &store{client: c, server: server, removals: removal.New(c, v1alpha1.ManifestGroupVersionKind, "manifests")}
}

// manifests returns the Manifests of a Kyma in the cache, sorted by name.
func (s *store) manifests(ctx context.Context, k *v1alpha1.Kyma) ([]*v1alpha1.Manifest, error) {
	list := &v1alpha1.ManifestList{}
	err := s.client.List(ctx, list, client.InNamespace(k.Namespace), client.MatchingFields{indexKyma: string(k.UID)}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, errors.Wrap(err, "cannot list the Manifests of the Kyma")
	}
	out := make([]*v1alpha1.Manifest, 0, len(list.Items))
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	slices.SortFunc(out, func(a, b *v1alpha1.Manifest) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// hasUnknown reports whether the API server has a Manifest of the Kyma other than the known ones. The cache may not have it yet.
func (s *store) hasUnknown(ctx context.Context, k *v1alpha1.Kyma, known []*v1alpha1.Manifest) (bool, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind(v1alpha1.ManifestKind + "List"))
	err := s.server.List(ctx, list, client.InNamespace(k.Namespace), client.MatchingLabels{v1alpha1.LabelKymaName: naming.Shorten(k.Name, maxLabel)})
	return slices.ContainsFunc(list.Items, func(m metav1.PartialObjectMetadata) bool {
		return ownerUID(&m) == k.UID && !slices.ContainsFunc(known, func(c *v1alpha1.Manifest) bool { return c.UID == m.UID })
	}), errors.Wrap(err, "cannot list the Manifests of the Kyma")
}

// getManifest returns a Manifest by name, regardless of its owner. It returns nil if the Manifest does not exist.
func getManifest(ctx context.Context, c client.Reader, namespace, name string) (*v1alpha1.Manifest, error) {
	m := &v1alpha1.Manifest{}
	err := c.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, m)
	if notfound.Is(err) {
		return nil, nil //nolint:nilnil // The Manifest does not exist.
	}
	if err != nil {
		return nil, errors.Wrapf(notfound.Explain(err), "cannot get Manifest %s", name)
	}
	return m, nil
}
