// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/remote"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// An Artifact is a component of a module in a store.
type Artifact struct {
	Descriptor *ocm.Descriptor
	Digest     string // Digest of the manifest, sha256:….
	Store      store.Store
}

// Artifacts returns the components of the module: each comes after those that it references, so that the module's own
// is the last one. They are pinned by digest, so that tags that move later do not change them.
func (b *Bundle) Artifacts(ctx context.Context) ([]Artifact, error) {
	out := make([]Artifact, 0, len(b.Components))
	for _, d := range inOrder(b.Components) {
		a, err := b.artifact(ctx, d)
		if err != nil {
			return nil, errors.Wrapf(err, "component %s:%s", d.Name(), d.Version())
		}
		out = append(out, a)
	}
	return out, nil
}

func (b *Bundle) artifact(ctx context.Context, d *ocm.Descriptor) (Artifact, error) {
	if d == b.Descriptor() {
		return Artifact{Descriptor: d, Digest: b.Digest, Store: b.Store}, nil
	}
	tag, err := ocm.Tag(d.Version())
	if err != nil {
		return Artifact{}, err
	}
	r := b.repositories()
	repository := r.of(d)
	_, digest, err := r.Manifest(ctx, repository, tag)
	if err != nil || b.layout != nil {
		return Artifact{Descriptor: d, Digest: digest, Store: b.Store}, err
	}
	s, err := remote.New(repository, b.regs)
	return Artifact{Descriptor: d, Digest: digest, Store: s}, err
}

// inOrder returns components, each after those that it references. They must have no cycles, and all be referenced,
// directly or not, from the first one.
func inOrder(components []*ocm.Descriptor) []*ocm.Descriptor {
	known, done := map[string]*ocm.Descriptor{}, map[string]bool{}
	for _, d := range components {
		known[d.Name()+":"+d.Version()] = d
	}
	var out []*ocm.Descriptor
	var visit func(d *ocm.Descriptor)
	visit = func(d *ocm.Descriptor) {
		id := d.Name() + ":" + d.Version()
		if done[id] {
			return
		}
		done[id] = true
		for _, r := range d.References() {
			if child, ok := known[r.Component+":"+r.Version]; ok {
				visit(child)
			}
		}
		out = append(out, d)
	}
	visit(components[0])
	return out
}

// LayoutTag returns the tag of a component in the layout of another one. It sorts after the tags of all versions, as
// the first tag belongs to the layout's own component.
func LayoutTag(d *ocm.Descriptor) (string, error) {
	tag, err := ocm.Tag(d.Version())
	if err != nil {
		return "", err
	}
	out := "with-" + strings.ReplaceAll(d.Name(), "/", "_") + "-" + tag
	if oci.ValidTag(out) && !strings.Contains(d.Name(), "_") {
		return out, nil
	}
	sum := sha256.Sum256([]byte(d.Name() + ":" + d.Version()))
	return "with-" + hex.EncodeToString(sum[:]), nil
}
