// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/source"
)

// Verify verifies a module as the controller does, with the same code, including every byte that it would install, and
// all other layers that are signed. The error is an *ocm.VerificationError if it is not signed with one of the keys, or
// if a signed layer is missing or changed.
func Verify(ctx context.Context, b *Bundle, keys []ocm.Key) error {
	// The module's own descriptor is verified first: references to missing components may have been added to it.
	verified, err := ocm.Verify(b.Components, keys)
	if err != nil {
		return err
	}
	if err := b.complete(); err != nil {
		return &ocm.VerificationError{Reason: err.Error()}
	}
	r := b.repositories()
	if err := verifyLayers(ctx, r, verified); err != nil {
		return err
	}
	_, p, err := parameters(ctx, r)
	if err != nil {
		return errors.Wrap(err, "the signature is valid, but the module cannot be installed")
	}
	if _, err := module.NewVerifier(puller{r}).Verify(ctx, r.regs, p, keys); err != nil {
		return err
	}
	return pullOthers(ctx, r, p)
}

// pullOthers pulls the content of installs that is not a layer of the module. Its digests are signed, and pulling by
// digest verifies them.
func pullOthers(ctx context.Context, r *repositories, p *v1alpha1.ManifestParameters) error {
	for i := range p.Installs {
		in := &p.Installs[i]
		repository := in.Source.Repo + "/" + in.Source.Name
		if r.inStore(repository) && !r.besideLayout(repository) {
			continue
		}
		src, err := source.New(in.Source)
		if err == nil {
			_, err = src.Content().Fetch(ctx, puller{r}, puller{r}.allowed)
		}
		if err != nil {
			return errors.Wrapf(err, "install %s", in.Name)
		}
	}
	return nil
}

// verifyLayers verifies all layers that a signature covers, whether or not they are installed.
func verifyLayers(ctx context.Context, r *repositories, verified *ocm.Verified) error {
	seen := map[string]bool{}
	for _, d := range r.components {
		for _, res := range d.Resources() {
			digest := res.Access.Digest
			if !isLocal(res.Access.Type) || seen[digest] || !verified.Covers(digest) {
				continue
			}
			seen[digest] = true
			if err := verifyLayer(ctx, r, d, &res); err != nil {
				return err
			}
		}
	}
	return nil
}

func verifyLayer(ctx context.Context, r *repositories, d *ocm.Descriptor, res *ocm.Resource) error {
	err := readLayer(ctx, r, r.of(d), res.Access.Digest)
	what := "component " + d.Name() + ":" + d.Version() + ": resource " + res.Name + ": layer " + res.Access.Digest
	missing := (*store.NotFoundError)(nil)
	switch {
	case errors.As(err, &missing):
		return &ocm.VerificationError{Reason: what + " is missing"}
	case store.IsDamaged(err):
		return &ocm.VerificationError{Reason: what + " was changed"}
	}
	return errors.Wrap(err, what)
}

// readLayer reads a layer to its end, which verifies its digest.
func readLayer(ctx context.Context, r *repositories, repository, digest string) error {
	if !r.inStore(repository) {
		_, err := r.Blob(ctx, repository, digest)
		return err
	}
	blob, err := r.stored.store.Blob(ctx, digest, 0)
	if err != nil {
		return err
	}
	defer blob.Close()
	_, err = io.Copy(io.Discard, &interruptible{ctx: ctx, r: blob})
	return err
}

// An interruptible is a reader that fails as soon as its context is done.
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
