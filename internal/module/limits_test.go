// SPDX-License-Identifier: Apache-2.0

package module

import (
	"bytes"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

func TestCheckLimits(t *testing.T) {
	private, key := keyPair(t)
	chart := []byte("chart")
	d := signed(t, describe(t, sample, "1.4.0", []fields{local("chart", "helm-chart", chart)}), private)
	registry := newPuller()
	digest := registry.push(t, d, chart)
	inline := v1alpha1.ManifestParameters{Descriptor: &runtime.RawExtension{Raw: d.JSON()}, Installs: []v1alpha1.Install{install("chart", chart)}}
	// No signature covers repository contexts.
	moved := inline
	moved.Descriptor = &runtime.RawExtension{Raw: bytes.ReplaceAll(d.JSON(), []byte("reg.example.org"), []byte("mirror.example.org"))}
	named := v1alpha1.ManifestParameters{Component: &v1alpha1.ComponentDigest{
		Component: v1alpha1.Component{Repository: "reg.example.org/modules", Name: sample, Version: "1.4.0"}, Digest: digest,
	}}
	both := v1alpha1.ManifestParameters{Descriptor: inline.Descriptor, Component: named.Component.DeepCopy()}
	both.Component.Version = "2.0.0"
	hash, err := d.Hash()
	if err != nil {
		t.Fatal(err)
	}
	atLeast := func(component, version string) v1alpha1.Verification {
		return v1alpha1.Verification{MinimumVersions: []v1alpha1.MinimumVersion{{Component: component, Version: version}}}
	}
	denied := func(digest string) v1alpha1.Verification {
		return v1alpha1.Verification{DeniedDigests: []string{sum([]byte("other")), digest}}
	}
	const byConfig = " is denied by spec.verification.deniedDigests of the ProviderConfig"
	cases := map[string]struct {
		reason string
		v      v1alpha1.Verification
		p      v1alpha1.ManifestParameters
		want   string
	}{
		"None":       {reason: "Without limits, everything signed is allowed.", p: inline},
		"Minimum":    {reason: "The minimum itself is allowed.", v: atLeast(sample, "1.4.0"), p: inline},
		"Below":      {reason: "An old version is refused.", v: atLeast(sample, "1.4.1"), p: inline, want: "component " + sample + " has version 1.4.0, but verification.minimumVersions of the ProviderConfig requires at least 1.4.1"},
		"BelowNamed": {reason: "The version of a component in a registry is too low.", v: atLeast(sample, "v2"), p: named, want: "requires at least v2"},
		"BelowBoth":  {reason: "A component that is not verified does not replace the version of the descriptor.", v: atLeast(sample, "2.0.0"), p: both, want: "spec.forProvider has both descriptor and component"},
		"Other":      {reason: "A minimum is for its component.", v: atLeast("example.org/module/other", "9.0.0"), p: inline},
		"NoVersion":  {reason: "A minimum that cannot be compared refuses.", v: atLeast(sample, "latest"), p: inline, want: "cannot compare the version"},
		"Denied":     {reason: "Content that is denied is refused.", v: denied(sum(chart)), p: inline, want: `install "chart": digest ` + sum(chart) + byConfig},
		"Component":  {reason: "A denied digest of a component is rejected.", v: denied(digest), p: named, want: "component " + sample + ": digest " + digest + byConfig},
		"Descriptor": {reason: "The digest in the status of a ModuleTemplate with a descriptor is rejected.", v: denied(sum(d.JSON())), p: inline, want: "component " + sample + ": digest " + sum(d.JSON()) + byConfig},
		"Fetched":    {reason: "A denied descriptor is rejected in a registry, too.", v: denied(sum(d.JSON())), p: named, want: "digest " + sum(d.JSON()) + byConfig},
		"Hash":       {reason: "The signed hash identifies a component in a registry.", v: denied("sha256:" + hash), p: named, want: "digest sha256:" + hash + byConfig},
		"HashMoved":  {reason: "The signed hash identifies a descriptor with other parts that no signature covers.", v: denied("sha256:" + hash), p: moved, want: "digest sha256:" + hash + byConfig},
		"Allowed":    {reason: "Other digests are allowed.", v: denied(sum([]byte("x"))), p: inline},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			root, err := NewVerifier(registry).Verify(t.Context(), nil, &tc.p, []ocm.Key{key})
			if err == nil {
				err = CheckLimits(&tc.v, root, &tc.p)
			}
			if tc.want == "" {
				if err != nil {
					t.Errorf("\n%s\nCheckLimits(...): %v", tc.reason, err)
				}
				return
			}
			var v *ocm.VerificationError
			if !errors.As(err, &v) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("\n%s\nCheckLimits(...): want %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}
