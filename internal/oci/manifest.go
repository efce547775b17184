// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"context"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Manifest returns a manifest of repo and its digest, sha256:…. Reference is a
// tag or a digest. A tag is looked up at the registry each time, a digest as
// with Blob, and what is returned has the digest that is returned with it. The
// caller must not change the bytes.
func (p *Puller) Manifest(ctx context.Context, regs Registries, repo, reference string) (data []byte, digest string, err error) {
	data, digest, err = p.manifest(ctx, regs, repo, reference)
	if err != nil {
		return nil, "", errors.Wrapf(err, "cannot pull manifest %q of %q", oneLine(reference), redacted(repo))
	}
	return data, digest, nil
}

func (p *Puller) manifest(ctx context.Context, regs Registries, repo, reference string) (data []byte, digest string, err error) {
	if strings.Contains(reference, ":") {
		r, err := p.byDigest(regs, repo, reference)
		if err != nil {
			return nil, "", err
		}
		data, err := p.content(ctx, r, manifests, reference, maxManifest)
		return data, reference, explainContent(err, r, reference)
	}
	if !isTag.MatchString(reference) {
		return nil, "", errors.Errorf("%q is neither a tag nor a digest (sha256:…)", oneLine(reference))
	}
	r, err := p.repository(regs, repo)
	if err != nil {
		return nil, "", err
	}
	data, err = p.manifestByTag(ctx, r, reference)
	if err != nil {
		return nil, "", err
	}
	return data, digestOf(data), nil
}
