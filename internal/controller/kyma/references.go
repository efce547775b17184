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

// references to the Manifests of the modules that are wanted, for tools that show what belongs together.
func references(steps []step) []v1alpha1.ManifestReference {
	var out []v1alpha1.ManifestReference
	for i := range steps {
		s := &steps[i]
		m := s.live
		if s.action == create {
			m = s.wanted
		}
		if s.enabled && m != nil {
			out = append(out, v1alpha1.ManifestReference{
				APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: v1alpha1.ManifestKind, Name: m.Name,
			})
		}
	}
	return out
}

// refer to the Manifests in the spec of the Kyma, unless it does already. What the Kyma has in memory stays, the version
// and generation of what was written apart: these only where nothing else has changed. What is said in the status is of the
// spec that was planned, and is not written where that is another one by now.
func (e *external) refer(ctx context.Context, k *v1alpha1.Kyma) error {
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
