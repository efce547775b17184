// SPDX-License-Identifier: Apache-2.0

package module

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// A Resolver says what ModuleTemplates mean. It is safe for concurrent use.
type Resolver struct {
	puller Puller
	limits archive.Limits
}

// NewResolver returns a Resolver that fetches with p. The limits are those of the layers that are read.
func NewResolver(p Puller, l archive.Limits) *Resolver {
	return &Resolver{puller: p, limits: l}
}

// A Resolution is what a ModuleTemplate means.
type Resolution struct {
	// ModuleName by which a Kyma asks for the module.
	ModuleName string
	// Version of the component, as it is written.
	Version string
	// Digest of the manifest of a component that was fetched, or else of the descriptor: sha256:….
	Digest string
	// Resources in the order in which they are installed, those of referenced components first.
	Resources []v1alpha1.ModuleResource
	// Data is the default custom resource that the component holds. It is not fetched where the spec has one, which comes
	// before it.
	Data *runtime.RawExtension
	// Components that this was read from, the module's own first.
	Components []*ocm.Descriptor
}

// Resolve a template. The error is an *InvalidError where the template or its component is at fault, and another one
// where something cannot be fetched. Equal faults give equal messages.
func (r *Resolver) Resolve(ctx context.Context, regs oci.Registries, t *v1alpha1.ModuleTemplate) (*Resolution, error) {
	name := NameOf(t)
	reg := &registry{puller: r.puller, regs: regs}
	o, err := r.origin(ctx, reg, t, "")
	if err != nil {
		return nil, err
	}
	if err := checkName(t, name); err != nil {
		return nil, err
	}
	out := &Resolution{ModuleName: name, Version: o.components[0].Version(), Digest: o.digest, Components: o.components}
	if _, err := parseVersion(out.Version); err != nil {
		return nil, classify(err, "component.version of the descriptor")
	}
	m := &mapper{location: o.location}
	for _, p := range o.parts() {
		if err := m.component(p); err != nil {
			return nil, err
		}
	}
	out.Resources = m.resources
	if m.data != nil && t.Spec.Data == nil {
		// It is not asked for again when signatures are verified, where it may as well be the user's own.
		if m.uncovered != "" {
			return nil, invalidf("resource %s: %s, so that anything could be delivered in its place: set spec.data instead", resourceDefaultCR, m.uncovered)
		}
		if out.Data, err = r.customResource(ctx, reg, m.data); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Components that the status of a template stands for, the module's own first. They are fetched by the digest in the
// status, so that a version that was pushed again since changes nothing.
func (r *Resolver) Components(ctx context.Context, regs oci.Registries, t *v1alpha1.ModuleTemplate) ([]*ocm.Descriptor, error) {
	o, err := r.origin(ctx, &registry{puller: r.puller, regs: regs}, t, t.Status.Digest)
	if err != nil {
		return nil, err
	}
	return o.components, nil
}
