// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/source"
)

// Verify the module as the controller does, with the same code, and every byte
// that it would install, and all other layers that are signed. The error is an
// *ocm.VerificationError if it is not signed by one of the keys, or if a signed
// layer is missing or changed.
func (b *Bundle) Verify(ctx context.Context, keys []ocm.Key) error {
	// What its own descriptor says is checked first: what is missing may have been added to it.
	verified, err := ocm.Verify(b.Components, keys)
	if err != nil {
		return err
	}
	if err := b.complete(); err != nil {
		return &ocm.VerificationError{Reason: err.Error()}
	}
	if err := b.verifyLayers(ctx, verified); err != nil {
		return err
	}
	p, err := b.parameters(ctx)
	if err != nil {
		return errors.Wrap(err, "its signature is valid, but it cannot be installed")
	}
	if err := module.NewVerifier(puller{registry{b}}).Verify(ctx, b.content.regs, p, keys); err != nil {
		return err
	}
	for i := range p.Installs {
		in := &p.Installs[i]
		repository := in.Source.Repo + "/" + in.Source.Name
		if (registry{b}).inStore(repository) && !(registry{b}).beside(repository) {
			continue
		}
		// It has a digest that is signed, and what is pulled by digest has it.
		src, err := source.New(in.Source)
		if err == nil {
			_, err = src.Content().Fetch(ctx, sources{registry{b}})
		}
		if err != nil {
			return errors.Wrapf(err, "install %s", in.Name)
		}
	}
	return nil
}

// verifyLayers that a signature covers, whether or not they are installed.
func (b *Bundle) verifyLayers(ctx context.Context, verified *ocm.Verified) error {
	seen := map[string]bool{}
	for _, d := range b.Components {
		for _, r := range d.Resources() {
			digest := r.Access.Digest
			if !isLocal(r.Access.Type) || seen[digest] || !verified.Covers(digest) {
				continue
			}
			seen[digest] = true
			if err := b.verifyLayer(ctx, d, &r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *Bundle) verifyLayer(ctx context.Context, d *ocm.Descriptor, r *ocm.Resource) error {
	err := b.readLayer(ctx, d, r.Access.Digest)
	what := "component " + d.Name() + ":" + d.Version() + ": resource " + r.Name + ": its layer " + r.Access.Digest
	missing := (*store.NotFoundError)(nil)
	switch {
	case errors.As(err, &missing):
		return &ocm.VerificationError{Reason: what + " is missing"}
	case store.Changed(err):
		return &ocm.VerificationError{Reason: what + " was changed"}
	}
	return errors.Wrap(err, what)
}

// readLayer to its end, where it is found to have the digest.
func (b *Bundle) readLayer(ctx context.Context, d *ocm.Descriptor, digest string) error {
	if !(registry{b}).inStore(b.repositoryOf(d)) {
		_, err := registry{b}.Blob(ctx, b.repositoryOf(d), digest)
		return err
	}
	r, err := b.Store.Blob(ctx, digest, 0)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, &interruptible{ctx: ctx, r: r})
	return err
}

// An interruptible reader ends when its context does.
type interruptible struct {
	ctx context.Context //nolint:containedctx // It is for one copy.
	r   io.Reader
}

func (i *interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.r.Read(p)
}
