// SPDX-License-Identifier: Apache-2.0

package module

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/bytelru"
	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm/artifact"
	"github.com/crossplane-contrib/provider-kyma/internal/source"
)

// results is the maximum size of the results that a Verifier caches, in bytes. This is enough for about 10,000 results.
const results = 8 << 20

// A Verifier verifies that what a Manifest installs is signed. It is safe for concurrent use.
type Verifier struct {
	puller Puller
	// results holds the results by the fingerprint of everything that they depend on.
	results *bytelru.Cache[string, result]
}

// A result is the verified component, or the reason why there is none.
type result struct {
	root Root
	err  error
}

// NewVerifier returns a Verifier that fetches with p.
func NewVerifier(p Puller) *Verifier {
	return &Verifier{puller: p, results: bytelru.New[string, result]("verifications", results)}
}

// Verify verifies that a signature with one of the keys covers each source of p, according to the component descriptor
// that p contains or names, and returns the component. The error is an *ocm.VerificationError if none does; other
// errors are failures to fetch. The custom resource and values are the user's own, and no signature covers them.
//
// A result is remembered under the keys, the descriptor or digest of the component, and the sources together, so that
// it is never used for another policy or other content. A failure is remembered only if it does not depend on
// referenced components, which a registry may deliver differently the next time.
func (v *Verifier) Verify(ctx context.Context, regs oci.Registries, p *v1alpha1.ManifestParameters, keys []ocm.Key) (Root, error) {
	id, err := fingerprint(p, keys)
	if err != nil {
		return Root{}, err
	}
	if known, ok := v.results.Get(id); ok {
		return known.root, known.err
	}
	ctx, done := decoding.HoldArchive(ctx)
	defer done()
	o, err := originOf(ctx, &registry{puller: v.puller, regs: regs}, p)
	if err != nil {
		return Root{}, untrusted(err)
	}
	out := result{err: verify(o.components, p, keys)}
	if out.err == nil {
		out.root, out.err = o.root()
	}
	if out.err == nil || len(o.components) == 1 {
		v.results.Add(id, out)
	}
	return out.root, out.err
}

// originOf returns the origin of a Manifest. The CEL rule that a Manifest has only one does not apply to snapshots.
func originOf(ctx context.Context, reg artifact.Registry, p *v1alpha1.ManifestParameters) (*origin, error) {
	switch {
	case p.Descriptor != nil && p.Component != nil:
		return nil, invalidf("spec.forProvider has both descriptor and component: remove one of them")
	case p.Descriptor != nil:
		o, err := inline(ctx, reg, p.Descriptor)
		return o, classify(err, "spec.forProvider.descriptor")
	case p.Component != nil:
		o, err := fetched(ctx, reg, &p.Component.Component, p.Component.Digest)
		return o, classify(err, "spec.forProvider.component")
	}
	return nil, invalidf("spec.forProvider has neither descriptor nor component, so there is no signature to verify: " +
		"set one of them, or set verification.mode of the ProviderConfig to Off")
}

// untrusted turns the error of a component that cannot be read into an *ocm.VerificationError. It returns a failure to
// fetch unchanged.
func untrusted(err error) error {
	var v *ocm.VerificationError
	var i *InvalidError
	switch {
	case errors.As(err, &v):
		return v
	case errors.As(err, &i):
		return &ocm.VerificationError{Reason: err.Error()}
	}
	return err
}

func verify(components []*ocm.Descriptor, p *v1alpha1.ManifestParameters, keys []ocm.Key) error {
	verified, err := ocm.Verify(components, keys)
	if err != nil {
		return untrusted(&InvalidError{err: err})
	}
	for _, s := range sourcesOf(p) {
		if err := verifySource(verified, &s.Source); err != nil {
			return refused("%s: %v", s.what, err)
		}
	}
	return nil
}

// verifySource returns an error if the signature does not cover what the source installs.
func verifySource(verified *ocm.Verified, s *v1alpha1.Source) error {
	src, err := source.New(*s)
	if err != nil {
		return err
	}
	digest, err := src.SignedDigest()
	if err == nil && !verified.Covers(digest) {
		err = errors.Errorf("signature %q does not cover %s", verified.Signature(), digest)
	}
	return err
}

func refused(format string, args ...any) error {
	return &ocm.VerificationError{Reason: fmt.Sprintf(format, args...)}
}

// A namedSource is a source of a Manifest with its name in messages.
type namedSource struct {
	v1alpha1.Source

	what string
}

// sourcesOf returns the sources of a Manifest, all of which must be signed.
func sourcesOf(p *v1alpha1.ManifestParameters) []namedSource {
	out := make([]namedSource, 0, len(p.Installs)+2)
	for i := range p.Installs {
		out = append(out, namedSource{Source: p.Installs[i].Source, what: fmt.Sprintf("install %q", p.Installs[i].Name)})
	}
	for _, l := range []struct {
		source *v1alpha1.LayerSource
		what   string
	}{{p.CRDs, "crds"}, {p.Config, "config"}} {
		if l.source != nil {
			out = append(out, namedSource{Source: *source.FromLayer(l.source), what: l.what})
		}
	}
	return out
}

// fingerprint returns a hash of everything that a result depends on.
func fingerprint(p *v1alpha1.ManifestParameters, keys []ocm.Key) (string, error) {
	all := struct {
		Keys       []string                  `json:"keys"`
		Descriptor []byte                    `json:"descriptor"`
		Component  *v1alpha1.ComponentDigest `json:"component"`
		Sources    []string                  `json:"sources"`
	}{Keys: Fingerprints(keys), Component: p.Component}
	if p.Descriptor != nil {
		all.Descriptor = p.Descriptor.Raw
	}
	for _, s := range sourcesOf(p) {
		b, err := json.Marshal(s.Source)
		if err != nil {
			return "", errors.Wrap(err, "cannot encode a source")
		}
		all.Sources = append(all.Sources, s.what, string(b))
	}
	b, err := json.Marshal(all)
	if err != nil {
		return "", errors.Wrap(err, "cannot encode the verified sources")
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// Fingerprints returns the fingerprints of keys, in the order of the keys.
func Fingerprints(keys []ocm.Key) []string {
	out := make([]string, 0, len(keys))
	for _, k := range keys {
		out = append(out, k.Fingerprint())
	}
	return out
}
