// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// references returns references to the Manifests of the modules that the Kyma has. Tools follow them to show a tree.
func references(steps []step) []v1alpha1.ManifestReference {
	var out []v1alpha1.ManifestReference
	for i := range steps {
		s := &steps[i]
		m := s.live
		if s.action == actionCreate {
			m = s.desired
		}
		if s.enabled && m != nil {
			out = append(out, v1alpha1.ManifestReference{
				APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.ManifestKind, Name: m.Name,
			})
		}
	}
	return out
}

// updateReferences writes the references into the spec of a Kyma where they differ. The Kyma in memory stays as it was planned.
// It gets the version and generation of the write only where nothing else in the spec has changed: otherwise its status would
// count for a spec that was not planned. The update of the status then causes a conflict.
func (e *external) updateReferences(ctx context.Context, k *v1alpha1.Kyma) error {
	refs := references(e.steps)
	if slices.Equal(k.Spec.ResourceRefs, refs) {
		return nil
	}
	out := k.DeepCopy()
	out.Spec.ResourceRefs = refs
	if err := e.client.Patch(ctx, out, client.MergeFrom(k.DeepCopy())); err != nil {
		return errors.Wrap(err, "cannot set spec.resourceRefs")
	}
	k.Spec.ResourceRefs = refs
	if !equality.Semantic.DeepEqual(k.Spec, out.Spec) {
		return nil
	}
	k.ResourceVersion, k.Generation = out.ResourceVersion, out.Generation
	return nil
}
