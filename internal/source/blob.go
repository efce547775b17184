// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"regexp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/pull"
)

// These are patterns of the API.
var (
	isRepo     = regexp.MustCompile(`^[^@\s]{1,512}$`)
	isRepoName = regexp.MustCompile(`^[^@:\s]{1,255}$`)
)

// A blob is the part of a source that identifies a blob in a repository by its digest.
type blob struct{ repo, name, ref string }

func blobOf(s v1alpha1.Source) blob {
	return blob{repo: s.Repo, name: s.Name, ref: s.Ref}
}

func (b blob) repository() string {
	if b.repo == "" {
		return b.name
	}
	return b.repo + "/" + b.name
}

// String returns repo/name@digest.
func (b blob) String() string {
	return b.repository() + "@" + b.ref
}

// Validate returns an error if the repository is malformed.
func (b blob) Validate() error {
	if !isRepo.MatchString(b.repo) || !isRepoName.MatchString(b.name) {
		return errors.Errorf("repository %.100q with name %.100q is malformed or too long", b.repo, b.name)
	}
	return nil
}

// SignedDigest returns the digest by which the blob is pulled.
func (b blob) SignedDigest() (string, error) {
	if b.ref == "" {
		return "", errNoDigest()
	}
	return b.ref, nil
}

func errNoDigest() error {
	return errors.New("content without a digest cannot be verified; use type oci-ref or raw with repo, name and ref")
}

// fetch returns a function that pulls the blob with a method of the Puller.
func (b blob) fetch(
	method func(p Puller, ctx context.Context, regs oci.Registries, repo, digest string) ([]byte, error),
) func(ctx context.Context, p Puller, allowed RegistriesFunc) (pull.Artifact, error) {
	return func(ctx context.Context, p Puller, allowed RegistriesFunc) (pull.Artifact, error) {
		regs, err := allowed(ctx)
		if err != nil {
			return pull.Artifact{}, err
		}
		data, err := method(p, ctx, regs, b.repository(), b.ref)
		return pull.Artifact{Data: data, Digest: b.ref}, err
	}
}
