// SPDX-License-Identifier: Apache-2.0

package module

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm/artifact"
)

// A Puller fetches the manifests and blobs of components.
type Puller interface {
	// Manifest returns the manifest of a tag or digest, and its digest.
	Manifest(ctx context.Context, regs oci.Registries, repo, reference string) (data []byte, digest string, err error)
	// Blob returns the blob of a digest.
	Blob(ctx context.Context, regs oci.Registries, repo, digest string) ([]byte, error)
}

// An origin is a component with all components that it references.
type origin struct {
	// components holds the component itself first, and then those that it references.
	components []*ocm.Descriptor
	// location is where the components are stored; nil if the descriptor is in a spec and has no repository context.
	location *ocm.Location
	digest   string
}

// inline returns the origin of a descriptor that a spec contains.
func inline(ctx context.Context, r artifact.Registry, raw *runtime.RawExtension) (*origin, error) {
	d, err := ocm.Decode(raw.Raw)
	if err != nil {
		return nil, &InvalidError{err: err}
	}
	o := &origin{components: []*ocm.Descriptor{d}, digest: descriptorDigest(d)}
	if l, ok := d.Location(); ok {
		o.location = &l
	}
	if len(d.References()) == 0 {
		return o, nil
	}
	if o.location == nil {
		return nil, invalidf("component %s references other components, but has no repository context of type ociRegistry to fetch them from", d.Name())
	}
	o.components, err = artifact.Collect(ctx, r, *o.location, d)
	return o, err
}

// descriptorDigest returns the digest of a descriptor as JSON, sha256:….
func descriptorDigest(d *ocm.Descriptor) string {
	sum := sha256.Sum256(d.JSON())
	return "sha256:" + hex.EncodeToString(sum[:])
}

// fetched returns the origin of a component in a registry. The reference is its version or the digest of its manifest.
func fetched(ctx context.Context, r artifact.Registry, c *v1alpha1.Component, reference string) (*origin, error) {
	l := ocm.Location{BaseURL: c.Repository, Mapping: ocm.Mapping(c.NameMapping)}
	d, digest, err := artifact.Fetch(ctx, r, l, c.Name, reference)
	if err != nil {
		return nil, err
	}
	if d.Version() != c.Version {
		return nil, invalidf("component %s has version %q instead of the requested version %q", c.Name, d.Version(), c.Version)
	}
	o := &origin{location: &l, digest: digest}
	o.components, err = artifact.Collect(ctx, r, l, d)
	return o, err
}

// A part is a component of a module.
type part struct {
	*ocm.Descriptor

	// reference is the name of the reference that led to the component; empty for the module's own component.
	reference string
	// excluded reports whether a reference that leads here is excluded from signatures, so that they cover nothing of
	// it.
	excluded bool
}

// parts returns the parts of a module in the order in which they are installed: a referenced component comes before
// those that reference it.
func (o *origin) parts() []part {
	known := make(map[string]*ocm.Descriptor, len(o.components))
	for _, d := range o.components {
		known[d.Name()+":"+d.Version()] = d
	}
	var out []part
	seen := map[*ocm.Descriptor]bool{}
	var visit func(p part)
	visit = func(p part) {
		if seen[p.Descriptor] {
			return
		}
		seen[p.Descriptor] = true
		for _, r := range p.References() {
			if d := known[r.Component+":"+r.Version]; d != nil {
				visit(part{Descriptor: d, reference: r.Name, excluded: p.excluded || r.Digest != nil && *r.Digest == ocm.Excluded()})
			}
		}
		out = append(out, p)
	}
	visit(part{Descriptor: o.components[0]})
	return out
}

// A fetchError is a failure to fetch something, which may succeed on another attempt.
type fetchError struct {
	err error
}

func (e *fetchError) Error() string { return e.err.Error() }
func (e *fetchError) Unwrap() error { return e.err }

func fetching(err error) error {
	if err == nil {
		return nil
	}
	return &fetchError{err: err}
}

// A registry is a Puller with the registries that it may use.
type registry struct {
	puller Puller
	regs   oci.Registries
}

// Manifest returns the manifest of a tag or digest, and its digest.
func (r *registry) Manifest(ctx context.Context, repository, reference string) (data []byte, digest string, err error) {
	data, digest, err = r.puller.Manifest(ctx, r.regs, repository, reference)
	return data, digest, fetching(err)
}

// Blob returns the blob of a digest.
func (r *registry) Blob(ctx context.Context, repository, digest string) ([]byte, error) {
	data, err := r.puller.Blob(ctx, r.regs, repository, digest)
	return data, fetching(err)
}

// origin returns the origin of a template. It fetches a component by the digest if there is one, and otherwise by its
// version.
func (r *Resolver) origin(ctx context.Context, reg artifact.Registry, t *v1alpha1.ModuleTemplate, digest string) (*origin, error) {
	switch {
	case t.Spec.Descriptor != nil:
		o, err := inline(ctx, reg, t.Spec.Descriptor)
		return o, classify(err, "spec.descriptor")
	case t.Spec.Component != nil:
		c := t.Spec.Component
		if _, err := parseVersion(c.Version); err != nil {
			return nil, classify(err, "spec.component.version")
		}
		reference := digest
		if reference == "" {
			reference = c.Version
		}
		o, err := fetched(ctx, reg, c, reference)
		return o, classify(err, "spec.component")
	}
	return nil, &InvalidError{err: errors.New("one of spec.descriptor and spec.component is required")}
}
