// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"path/filepath"

	"github.com/crossplane-contrib/provider-kyma/cluster/release/registry"
	"github.com/crossplane-contrib/provider-kyma/cluster/release/signing"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// publish pushes the artifacts if there is a registry, and signs them if there is a key.
func (r *release) publish(ctx context.Context) error {
	pushed, err := r.push(ctx)
	if err != nil {
		return err
	}
	if r.order.key == "" {
		r.sayf("nothing is signed, because there is no key")
		return nil
	}
	cosign, err := tools.Path(ctx, tools.Cosign)
	if err != nil {
		return err
	}
	signer := signing.Signer{Cosign: cosign, Key: r.order.key}
	for _, reference := range pushed {
		if err := signer.Image(ctx, reference); err != nil {
			return err
		}
		r.sayf("signed %s", reference)
	}
	sums := filepath.Join(r.order.dir, sumsFile)
	if err := signer.File(ctx, sums, sums+".sigstore.json"); err != nil {
		return err
	}
	r.sayf("signed %s", sumsFile)
	return nil
}

// push pushes the artifacts, and returns their references.
func (r *release) push(ctx context.Context) ([]string, error) {
	if r.order.registry == "" {
		r.sayf("nothing is pushed, because there is no registry")
		return nil, nil
	}
	out := make([]string, 0, len(r.artifacts))
	for _, a := range r.artifacts {
		reference, err := registry.Push(ctx, r.order.registry, r.order.source.Version, a)
		if err != nil {
			return nil, err
		}
		r.sayf("pushed %s", reference)
		out = append(out, reference.String())
	}
	return out, nil
}
