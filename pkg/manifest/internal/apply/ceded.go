// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"slices"
	"strings"
	"sync"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// cededFields returns the fields of an object that are left to the managers that own them. The entry, nil for none, has those
// that were ceded after a contention.
func (a *Applier) cededFields(ctx context.Context, o *object.Desired, en *inventory.Entry, managed []metav1.ManagedFieldsEntry) ([]ownership.Ceded, error) {
	ours := fieldset.Of(fieldset.AppliedBy(a.Client.FieldManager, managed))
	if ours == nil {
		ours = &fieldpath.Set{}
	}
	out, err := a.cededLegitimately(ctx, o, ours, managed)
	if err != nil {
		return nil, err
	}
	for _, y := range a.cededInContention(o, en) {
		p := fieldset.Parse(y.Path)
		known := slices.ContainsFunc(out, func(x ownership.Ceded) bool { return x.Path == y.Path })
		if len(p) > 0 && !known && !ours.Has(p) {
			out = append(out, y)
		}
	}
	return out, nil
}

// cededLegitimately returns the fields that other managers took and own by the way Kubernetes works.
func (a *Applier) cededLegitimately(
	ctx context.Context, o *object.Desired, ours *fieldpath.Set, managed []metav1.ManagedFieldsEntry,
) ([]ownership.Ceded, error) {
	var out []ownership.Ceded
	var want map[string]any
	for i := range managed {
		m := &managed[i]
		if ownership.IsAppliedBy(a.Client.FieldManager, m) || (m.Subresource != "" && m.Subresource != ownership.Scale) {
			continue
		}
		theirs := fieldset.Of(m.FieldsV1)
		if theirs == nil {
			continue
		}
		for _, p := range fieldset.All(theirs.Difference(ours).Leaves()) {
			if !ownership.MayCede(o, m, p) {
				continue
			}
			if want == nil {
				want = o.Content()
			}
			v, wanted := fieldset.At(want, p)
			if !wanted {
				continue
			}
			ok, err := a.isTheirs(ctx, o, m, p, v)
			if err != nil {
				return nil, err
			}
			if ok {
				out = append(out, ownership.Ceded{Path: fieldset.Encode(p), Manager: m.Manager})
			}
		}
	}
	return out, nil
}

// isTheirs reports whether a field belongs to the manager that took it: the number of replicas where an autoscaler is for the
// object, and the certificate of an authority where the module sets none.
func (a *Applier) isTheirs(ctx context.Context, o *object.Desired, m *metav1.ManagedFieldsEntry, p fieldpath.Path, want any) (bool, error) {
	if ownership.IsCABundle(p) {
		s, ok := want.(string)
		return !ok || ownership.IsPlaceholder(s), nil
	}
	return a.autoscaled(ctx, o, m)
}

var hpaKind = schema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"} //nolint:gochecknoglobals // Constant.

// autoscalerManager is the field manager of the autoscaler of Kubernetes.
const autoscalerManager = "kube-controller-manager"

// autoscalers caches the targets of the autoscalers of namespaces for one call.
type autoscalers struct {
	mu sync.Mutex
	by map[string]map[cluster.ObjectRef]bool
}

// autoscaled reports whether a HorizontalPodAutoscaler is for an object. Without permission to list them, the field manager
// decides.
func (a *Applier) autoscaled(ctx context.Context, o *object.Desired, m *metav1.ManagedFieldsEntry) (bool, error) {
	a.hpas.mu.Lock()
	defer a.hpas.mu.Unlock()
	targets, ok := a.hpas.by[o.Ref.Namespace]
	if !ok {
		var err error
		if targets, err = a.targets(ctx, o.Ref.Namespace); err != nil {
			if !kerrors.IsForbidden(err) && !ssa.IsNotServed(err) {
				return false, errors.Wrapf(err, "cannot look for HorizontalPodAutoscalers in namespace %s", o.Ref.Namespace)
			}
			return m.Subresource == ownership.Scale && m.Manager == autoscalerManager, nil
		}
		if a.hpas.by == nil {
			a.hpas.by = map[string]map[cluster.ObjectRef]bool{}
		}
		a.hpas.by[o.Ref.Namespace] = targets
	}
	return targets[o.Ref], nil
}

// targets returns the targets of the autoscalers of a namespace.
func (a *Applier) targets(ctx context.Context, namespace string) (map[cluster.ObjectRef]bool, error) {
	m, err := a.Cluster.Mapping(ctx, hpaKind)
	if err != nil {
		return nil, err
	}
	l := struct {
		Items []struct {
			Spec struct {
				ScaleTargetRef struct {
					APIVersion string `json:"apiVersion"`
					Kind       string `json:"kind"`
					Name       string `json:"name"`
				} `json:"scaleTargetRef"`
			} `json:"spec"`
		} `json:"items"`
	}{}
	if err := a.Client.ListJSON(ctx, hpaKind, m, namespace, nil, &l); err != nil {
		return nil, ssa.Explain(err)
	}
	out := make(map[cluster.ObjectRef]bool, len(l.Items))
	for i := range l.Items {
		ref := &l.Items[i].Spec.ScaleTargetRef
		group, _, found := strings.Cut(ref.APIVersion, "/")
		if !found {
			group = ""
		}
		out[cluster.ObjectRef{Group: group, Kind: ref.Kind, Namespace: namespace, Name: ref.Name}] = true
	}
	return out, nil
}

// WithoutCeded returns an object without the fields that are left to other managers, and these fields.
func (a *Applier) WithoutCeded(
	ctx context.Context, o *object.Desired, en *inventory.Entry, managed []metav1.ManagedFieldsEntry,
) (*object.Desired, []ownership.Ceded, error) {
	if o.Stage == object.StageResource {
		// Users own all fields that they set.
		out, err := ownership.WithoutFieldsOfOthers(a.Client.FieldManager, o, managed)
		return out, nil, errors.Wrap(err, o.Ref.String())
	}
	ys, err := a.cededFields(ctx, o, en, managed)
	if err != nil || len(ys) == 0 {
		return o, nil, errors.Wrap(err, o.Ref.String())
	}
	cut := &fieldpath.Set{}
	for i := range ys {
		cut.Insert(fieldset.Parse(ys[i].Path))
	}
	out, err := o.Without(cut)
	return out, ys, errors.Wrap(err, o.Ref.String())
}

// cededInContention returns the fields of an object that are ceded after a contention: those of before that are not due yet,
// and new ones. A new object of the module starts again.
func (a *Applier) cededInContention(o *object.Desired, en *inventory.Entry) []ownership.Ceded {
	if en == nil || (en.Intent != "" && en.Intent != o.Hash) {
		return nil
	}
	now := a.Now()
	var out []ownership.Ceded
	for _, y := range en.Yields {
		if y.Contended() && !y.IsDue(now) {
			out = append(out, y)
		}
	}
	return append(out, a.Contention.Ceded(o.Ref, now)...)
}
