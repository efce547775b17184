// SPDX-License-Identifier: Apache-2.0

package module

import (
	"slices"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/source"
)

// CheckLimits returns an *ocm.VerificationError if a Manifest installs something that a config excludes even if it is signed: a
// version of a component below the minimum, or a denied digest. Signatures don't expire, so the signature of an old version
// stays valid. CheckLimits does not verify signatures: call Verifier.Verify first.
func CheckLimits(v *v1alpha1.Verification, p *v1alpha1.ManifestParameters) error {
	if err := checkVersion(v.MinimumVersions, p); err != nil {
		return err
	}
	if p.Component != nil && slices.Contains(v.DeniedDigests, p.Component.Digest) {
		return refused("spec.forProvider.component: digest %s is denied by spec.verification.deniedDigests of the ProviderConfig", p.Component.Digest)
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

// checkVersion compares the version of the component of a Manifest with its minimum.
func checkVersion(minimums []v1alpha1.MinimumVersion, p *v1alpha1.ManifestParameters) error {
	if len(minimums) == 0 {
		return nil
	}
	var name, version string
	switch {
	case p.Component != nil:
		name, version = p.Component.Name, p.Component.Version
	case p.Descriptor != nil:
		d, err := ocm.Decode(p.Descriptor.Raw)
		if err != nil {
			return refused("spec.forProvider.descriptor: %v", err)
		}
		name, version = d.Name(), d.Version()
	}
	for i := range minimums {
		m := &minimums[i]
		if m.Component != name {
			continue
		}
		c, err := CompareVersions(version, m.Version)
		if err != nil {
			return refused("component %s: cannot compare the version with verification.minimumVersions: %v", name, err)
		}
		if c < 0 {
			return refused("component %s has version %s, but verification.minimumVersions of the ProviderConfig requires at least %s", name, version, m.Version)
		}
	}
	return nil
}
