// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
)

// newPlanner returns a planner with everything that it reads: templates, Manifests and configs.
func (c *connector) newPlanner(ctx context.Context, k *v1alpha1.Kyma, manifests []*v1alpha1.Manifest) (*planner, error) {
	p := &planner{
		kyma: k, intent: intentOf(k, c.policyOf(k)), manifests: manifests,
		foreign: map[string]*v1alpha1.Manifest{}, controlPlane: c.controlPlane,
	}
	known := make(map[string]bool, len(manifests))
	for _, m := range manifests {
		known[m.Name] = true
	}
	templates := map[string][]v1alpha1.ModuleTemplate{}
	for i := range k.Spec.ForProvider.Modules {
		module := k.Spec.ForProvider.Modules[i].Name
		found, err := c.lister.templates(ctx, module)
		if err != nil {
			return nil, err
		}
		templates[module] = found
		name := manifestName(k.Name, module)
		if known[name] {
			continue
		}
		other, err := getManifest(ctx, c.lister.cache, k.Namespace, name)
		if err != nil {
			return nil, err
		}
		if other != nil && ownerUID(other) != k.UID {
			p.foreign[name] = other
		}
	}
	p.templates = func(module string) []v1alpha1.ModuleTemplate { return templates[module] }
	remote, err := c.verifies(ctx, k, k.Spec.ProviderConfigReference)
	if err != nil {
		return nil, err
	}
	central, err := c.verifies(ctx, k, &xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: c.controlPlane})
	if err != nil {
		return nil, err
	}
	p.verified = func(ref *xpv2.ProviderConfigReference) bool {
		if ref.Kind == v1alpha1.ClusterProviderConfigKind && ref.Name == c.controlPlane {
			return central
		}
		return remote
	}
	return p, nil
}

// verifies reports whether a config asks for signatures. A config that does not exist yet does not ask for any; the Manifests
// report that it is missing.
func (c *connector) verifies(ctx context.Context, k *v1alpha1.Kyma, ref *xpv2.ProviderConfigReference) (bool, error) {
	cfg, err := config.Load(ctx, c.client, k.Namespace, ref)
	if missing := (*config.MissingError)(nil); errors.As(err, &missing) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	v := cfg.Spec.Verification
	return v != nil && v.Mode != v1alpha1.VerificationOff && v.Mode != "", nil
}
