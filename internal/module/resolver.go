// SPDX-License-Identifier: Apache-2.0

package module

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// A Resolver resolves ModuleTemplates. It is safe for concurrent use.
type Resolver struct {
	puller Puller
	limits archive.Limits
}

// NewResolver returns a Resolver that fetches with p and reads layers within the limits l.
func NewResolver(p Puller, l archive.Limits) *Resolver {
	return &Resolver{puller: p, limits: l}
}

// A Resolution is the result of resolving a ModuleTemplate.
type Resolution struct {
	// ModuleName is the name by which a Kyma refers to the module.
	ModuleName string
	// Version is the version of the component, as written in the descriptor.
	Version string
	// Digest is the digest of the manifest of a fetched component, or otherwise of the descriptor: sha256:….
	Digest string
	// Resources are in the order in which they are installed: resources of referenced components come first.
	Resources []v1alpha1.ModuleResource
	// Data is the default custom resource of the component. It is not fetched if the spec has one, which takes
	// precedence.
	Data *runtime.RawExtension
	// Components are those that were read, the module's own first.
	Components []*ocm.Descriptor
}

// Resolve resolves a template. The error is an *InvalidError if the template or its component is at fault, and another
// one if something cannot be fetched. Equal faults give equal messages.
func (r *Resolver) Resolve(ctx context.Context, regs oci.Registries, t *v1alpha1.ModuleTemplate) (*Resolution, error) {
	ctx, done := decoding.HoldArchive(ctx)
	defer done()
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
	if n := installsOf(out.Resources); n > maxInstalls {
		return nil, invalidf("the module has %d installs, but a Manifest can have at most %d: split it into several modules", n, maxInstalls)
	}
	if m.data != nil && t.Spec.Data == nil {
		// Signature verification does not fetch the default custom resource, as by then it may as well be the user's
		// own.
		if m.uncovered != "" {
			return nil, invalidf("resource %s: %s, so the signature does not protect its content: set spec.data instead", resourceDefaultCR, m.uncovered)
		}
		if out.Data, err = r.customResource(ctx, reg, m.data); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// maxInstalls is the maximum number of installs of a Manifest.
const maxInstalls = 32

// installsOf returns the number of resources that are installs.
func installsOf(all []v1alpha1.ModuleResource) int {
	n := 0
	for i := range all {
		if all[i].Use == v1alpha1.UseInstall {
			n++
		}
	}
	return n
}

// Components returns the components that the status of a template refers to, the module's own first. It fetches them by
// the digest in the status, so that a version that has been pushed again since changes nothing.
func (r *Resolver) Components(ctx context.Context, regs oci.Registries, t *v1alpha1.ModuleTemplate) ([]*ocm.Descriptor, error) {
	ctx, done := decoding.HoldArchive(ctx)
	defer done()
	o, err := r.origin(ctx, &registry{puller: r.puller, regs: regs}, t, t.Status.Digest)
	if err != nil {
		return nil, err
	}
	return o.components, nil
}
