// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/lane"
)

// connector makes an external client for each pass. What it connects to is the control plane itself.
type connector struct {
	client       client.Client
	family       *family
	usage        resource.ModernTracker
	remover      *remover
	record       event.Recorder
	lanes        *lane.Lanes
	controlPlane string
}

// Connect plans what has to be done.
func (c *connector) Connect(ctx context.Context, k *v1alpha1.Kyma) (managed.TypedExternalClient[*v1alpha1.Kyma], error) {
	children, err := c.family.children(ctx, k)
	if err != nil {
		return nil, err
	}
	e := &external{client: c.client, family: c.family, remover: c.remover, record: c.record, lanes: c.lanes, children: children}
	if meta.WasDeleted(k) {
		return e, nil
	}
	if err := c.usage.Track(ctx, k); err != nil {
		return nil, errors.Wrap(err, "cannot track usage of the ProviderConfig")
	}
	p, err := c.planner(ctx, k, children)
	if err != nil {
		return nil, err
	}
	e.steps = p.plan()
	return e, nil
}

// planner with all that it needs to know.
func (c *connector) planner(ctx context.Context, k *v1alpha1.Kyma, children []*v1alpha1.Manifest) (*planner, error) {
	p := &planner{kyma: k, children: children, strangers: map[string]*v1alpha1.Manifest{}, controlPlane: c.controlPlane}
	known := make(map[string]bool, len(children))
	for _, m := range children {
		known[m.Name] = true
	}
	templates := map[string][]v1alpha1.ModuleTemplate{}
	for i := range k.Spec.ForProvider.Modules {
		module := k.Spec.ForProvider.Modules[i].Name
		found, err := c.family.templates(ctx, module)
		if err != nil {
			return nil, err
		}
		templates[module] = found
		name := manifestName(k.Name, module)
		if known[name] {
			continue
		}
		other, err := stranger(ctx, c.family.cache, k, name)
		if err != nil {
			return nil, err
		}
		if other != nil {
			p.strangers[name] = other
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

// verifies says whether a config asks for signatures. One that is missing asks for nothing yet; the Manifests say that it
// is missing.
func (c *connector) verifies(ctx context.Context, k *v1alpha1.Kyma, ref *xpv2.ProviderConfigReference) (bool, error) {
	if ref == nil {
		return false, errors.New("spec.providerConfigRef is missing")
	}
	user := &v1alpha1.Manifest{}
	user.Namespace = k.Namespace
	user.Spec.ProviderConfigReference = ref
	cfg, err := config.Load(ctx, c.client, user)
	if missing := (*config.MissingError)(nil); errors.As(err, &missing) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	v := cfg.Spec.Verification
	return v != nil && v.Mode != v1alpha1.VerificationOff && v.Mode != "", nil
}
