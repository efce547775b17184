// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"strings"
	"time"

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

var hpaKind = schema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"} //nolint:gochecknoglobals // Constant.

// targets is the set of objects that the autoscalers of a namespace scale. It is nil if autoscalers must not be listed.
type targets map[cluster.ObjectRef]bool

// Ceding decides which fields of objects are left to other managers. It is safe for concurrent use.
type Ceding struct {
	target Target
	now    func() time.Time
	// repairs is the same map as Applier.Repairs.
	repairs map[cluster.ObjectRef]ownership.Repairs
	// autoscalers caches the targets of autoscalers by namespace.
	autoscalers answers[targets]
}

// autoscaling determines whether a HorizontalPodAutoscaler scales an object.
func (c *Ceding) autoscaling(ctx context.Context, ref cluster.ObjectRef) (ownership.Autoscaling, error) {
	t, err := c.autoscalers.of(ref.Namespace, func() (targets, error) {
		t, err := c.targets(ctx, ref.Namespace)
		if kerrors.IsForbidden(err) || ssa.IsNotServed(err) {
			return nil, nil //nolint:nilnil // As documented.
		}
		return t, err
	})
	switch {
	case err != nil:
		return ownership.Unscaled, errors.Wrapf(err, "cannot list HorizontalPodAutoscalers in namespace %s", ref.Namespace)
	case t == nil:
		return ownership.UnknownAutoscaling, nil
	case t[ref]:
		return ownership.Autoscaled, nil
	}
	return ownership.Unscaled, nil
}

// targets returns the objects that the autoscalers of a namespace scale.
func (c *Ceding) targets(ctx context.Context, namespace string) (targets, error) {
	m, err := c.target.Mapper.Mapping(ctx, hpaKind)
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
	if err := c.target.Client.ListJSON(ctx, hpaKind, m, namespace, nil, &l); err != nil {
		return nil, ssa.Explain(err)
	}
	out := make(targets, len(l.Items))
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

// withoutCeded returns an object without the fields that are ceded to other managers, and the list of these fields.
func (c *Ceding) withoutCeded(
	ctx context.Context, o *object.Desired, en *inventory.Entry, managed []metav1.ManagedFieldsEntry,
) (*object.Desired, []ownership.Ceded, error) {
	if o.Stage == object.StageResource {
		// All fields that users set belong to the users.
		out, err := ownership.WithoutFieldsOfOthers(c.target.Client.FieldManager, o, managed)
		return out, nil, errors.Wrap(err, o.Ref.String())
	}
	ys, err := ownership.CededOf(c.target.Client.FieldManager, o, managed, c.contended(o, en), func() (ownership.Autoscaling, error) {
		return c.autoscaling(ctx, o.Ref)
	})
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

// contended returns the fields of an object that are ceded after contention: new ones, and fields of the entry for which the next
// try is not due yet. It returns none without an entry, or if the desired object changed, because that restarts contention.
func (c *Ceding) contended(o *object.Desired, en *inventory.Entry) []ownership.Ceded {
	if en == nil || (en.Intent != "" && en.Intent != o.Hash) {
		return nil
	}
	now := c.now()
	return append(ownership.Contended(en.Ceded, now), c.repairs[o.Ref].Ceded(now)...)
}
