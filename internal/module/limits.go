// SPDX-License-Identifier: Apache-2.0

package module

import (
	"slices"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/source"
)

// A Root is the component whose signature covers the sources of a Manifest.
type Root struct {
	Name    string
	Version string
	// Digests contains the digests that identify the component, sha256:…. The first one is the digest that the status of a ModuleTemplate
	// shows. It is different for a component in a registry and for its descriptor in a spec. Parts that no signature covers can change it.
	// The others are the digest of the descriptor and the hash that signatures cover.
	Digests []string
}

// root returns the component itself, after its signature was verified.
func (o *origin) root() (Root, error) {
	d := o.components[0]
	hash, err := d.Hash()
	return Root{Name: d.Name(), Version: d.Version(), Digests: []string{o.digest, descriptorDigest(d), "sha256:" + hash}}, err
}

// CheckLimits returns an *ocm.VerificationError if a Manifest installs something that a config excludes even if it is signed: a
// version of a component below the minimum, or a denied digest. Signatures don't expire, so the signature of an old version
// stays valid. The root is the result of Verifier.Verify for the same parameters.
func CheckLimits(v *v1alpha1.Verification, root Root, p *v1alpha1.ManifestParameters) error {
	if err := checkVersion(v.MinimumVersions, root); err != nil {
		return err
	}
	for _, digest := range root.Digests {
		if slices.Contains(v.DeniedDigests, digest) {
			return refused("component %s: digest %s is denied by spec.verification.deniedDigests of the ProviderConfig", root.Name, digest)
		}
	}
	for _, s := range sourcesOf(p) {
		src, err := source.New(s.Source)
		if err != nil {
			return refused("%s: %v", s.what, err)
		}
		if digest, err := src.SignedDigest(); err == nil && slices.Contains(v.DeniedDigests, digest) {
			return refused("%s: digest %s is denied by spec.verification.deniedDigests of the ProviderConfig", s.what, digest)
		}
	}
	return nil
}

// checkVersion compares the version of a component with its minimum.
func checkVersion(minimums []v1alpha1.MinimumVersion, root Root) error {
	for _, m := range minimums {
		if m.Component != root.Name {
			continue
		}
		c, err := CompareVersions(root.Version, m.Version)
		if err != nil {
			return refused("component %s: cannot compare the version with verification.minimumVersions: %v", root.Name, err)
		}
		if c < 0 {
			return refused("component %s has version %s, but verification.minimumVersions of the ProviderConfig requires at least %s",
				root.Name, root.Version, m.Version)
		}
	}
	return nil
}
