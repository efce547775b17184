// SPDX-License-Identifier: Apache-2.0

package rebuild

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// A Client lists objects. *ssa.Client implements it.
type Client interface {
	List(ctx context.Context, gvk schema.GroupVersionKind, namespace, selector string, limit int) (*metav1.PartialObjectMetadataList, error)
	Absent(ctx context.Context, gvk schema.GroupVersionKind, m cluster.Mapping, name string, err error) (bool, error)
}

// A Cluster tells which kinds there are.
type Cluster interface {
	Cache() cluster.Cache
	APIVersions(ctx context.Context) ([]string, error)
}

// An Input describes the bundle to find.
type Input struct {
	Client  Client
	Cluster Cluster
	// Set is the ID of the ApplySet, and FieldManager the field manager of the engine.
	Set, FieldManager string
	// Resource refers to the custom resource of the bundle. It is the zero value if there is none.
	Resource cluster.ObjectRef
	// Releases returns the releases of the bundle. Installs contains the installs of the bundle, or nothing if it is being removed.
	Releases Releases
	Installs []Install
	// Concurrency limits the number of concurrent requests.
	Concurrency int
}

// A Result is what was found.
type Result struct {
	// Inventory contains the objects and releases of the bundle. It is nil if there are none.
	Inventory *inventory.Inventory
	// Unsearched lists the kinds that the credentials may not list, in order. Objects of these kinds can be missing. Denied is the error
	// for the first one, or nil.
	Unsearched []string
	Denied     error
}

// Find finds the objects and releases of a bundle in the cluster. It lists the metadata of each kind that the cluster serves, with the
// label of the ApplySet.
func Find(ctx context.Context, in Input) (Result, error) {
	kinds, err := candidates(ctx, in.Cluster, in.Set)
	if err != nil {
		return Result{}, err
	}
	found, refused := make([][]inventory.Entry, len(kinds)), make([]error, len(kinds))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(in.Concurrency)
	for i, gvk := range kinds {
		g.Go(func() (err error) {
			defer panics.Into(&err, "the objects of kind "+gvk.Kind)
			found[i], err = in.entriesOf(gctx, gvk)
			if kerrors.IsForbidden(err) {
				refused[i], err = err, nil
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return Result{}, err
	}
	out, inv := Result{}, &inventory.Inventory{Parts: map[object.PartID]inventory.Part{}}
	for i, gvk := range kinds {
		inv.Objects = append(inv.Objects, found[i]...)
		out.deny(gvk, refused[i])
	}
	err = in.addReleases(ctx, inv)
	if kerrors.IsForbidden(err) {
		out.deny(ssa.SecretKind, err)
	} else if err != nil {
		return Result{}, err
	}
	if len(inv.Objects) > 0 || len(inv.Parts) > 0 {
		inv.Sort()
		out.Inventory = inv
	}
	return out, nil
}

// deny adds a kind that the credentials may not list. The error is nil for other kinds.
func (r *Result) deny(gvk schema.GroupVersionKind, err error) {
	if err == nil || slices.Contains(r.Unsearched, gvk.GroupKind().String()) {
		return
	}
	r.Unsearched = append(r.Unsearched, gvk.GroupKind().String())
	r.Denied = cmp.Or(r.Denied, err)
}

// entriesOf returns the entries of the objects of a kind.
func (in *Input) entriesOf(ctx context.Context, gvk schema.GroupVersionKind) ([]inventory.Entry, error) {
	l, err := in.Client.List(ctx, gvk, "", object.LabelPartOf+"="+in.Set, 0)
	if ssa.IsNoKind(err) || kerrors.IsMethodNotSupported(err) || kerrors.IsNotAcceptable(err) {
		// A kind without objects, such as TokenReview, or without metadata.
		return nil, nil
	}
	if err != nil {
		gone, err := in.Client.Absent(ctx, gvk, cluster.Mapping{}, "", err)
		if gone {
			return nil, nil
		}
		return nil, errors.Wrapf(err, "cannot list %s", gvk.Kind)
	}
	var out []inventory.Entry
	for i := range l.Items {
		if m := &l.Items[i]; isMember(m, in.FieldManager) {
			out = append(out, in.entryOf(gvk, m))
		}
	}
	return out, nil
}

// isMember reports whether an object with the label of the ApplySet was applied by the engine, and not as a hook. Other clients copy
// labels: Endpoints have those of their Service, and users copy whole objects.
func isMember(m *metav1.PartialObjectMetadata, manager string) bool {
	return health.MetadataStateOf(manager, m).Owned != "" && m.Annotations[object.AnnotationHookRun] == ""
}

// entryOf returns the entry of an object, as far as the object shows what the lost entry contained.
//
// It is unknown whether the object existed before the bundle, and whether it is a custom resource that the bundle released to its
// users. Objects that cannot be replaced, and custom resources that no chart installed, therefore count as adopted. plan.Intend
// corrects that for those that the bundle contains.
func (in *Input) entryOf(gvk schema.GroupVersionKind, m *metav1.PartialObjectMetadata) inventory.Entry {
	e := inventory.Entry{
		Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Namespace: m.Namespace, Name: m.Name,
		Part: object.PartLost, Stage: object.StageOf(gvk.GroupKind()), UID: string(m.UID),
		Owned: health.MetadataStateOf(in.FieldManager, m).Owned, Keep: object.Keeps(m.Annotations),
	}
	_, builtin := object.BuiltinScope(gvk.GroupKind())
	switch {
	case in.isResource(e.Ref()):
		e.Part, e.Stage = object.PartResource, object.StageResource
	case !object.IsReplaceable(gvk.GroupKind()):
		e.Adopted = true
	case !builtin:
		// Custom resources go before the workloads that remove their finalizers.
		e.Stage, e.Adopted = object.StageResource, m.Annotations[object.AnnotationReleaseName] == ""
	}
	return e
}

// isResource reports whether an object is the custom resource of the bundle. Its namespace is default if the bundle sets none.
func (in *Input) isResource(r cluster.ObjectRef) bool {
	want := in.Resource
	want.Namespace = ""
	if r.Namespace != "" {
		want.Namespace = cmp.Or(in.Resource.Namespace, "default")
	}
	return r == want
}
