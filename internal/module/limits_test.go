// SPDX-License-Identifier: Apache-2.0

package module

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

func TestCheckLimits(t *testing.T) {
	chart := []byte("chart")
	d := describe(t, sample, "1.4.0", []fields{local("chart", "helm-chart", chart)})
	inline := v1alpha1.ManifestParameters{Descriptor: &runtime.RawExtension{Raw: d.JSON()}, Installs: []v1alpha1.Install{install("chart", chart)}}
	named := v1alpha1.ManifestParameters{Component: &v1alpha1.ComponentDigest{
		Component: v1alpha1.Component{Repository: "r.example.org", Name: sample, Version: "1.4.0"}, Digest: sum([]byte("manifest")),
	}}
	atLeast := func(component, version string) v1alpha1.Verification {
		return v1alpha1.Verification{MinimumVersions: []v1alpha1.MinimumVersion{{Component: component, Version: version}}}
	}
	denied := func(content string) v1alpha1.Verification {
		return v1alpha1.Verification{DeniedDigests: []string{sum([]byte("other")), sum([]byte(content))}}
	}
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
		"Other":      {reason: "A minimum is for its component.", v: atLeast("example.org/module/other", "9.0.0"), p: inline},
		"NoVersion":  {reason: "A minimum that cannot be compared refuses.", v: atLeast(sample, "latest"), p: inline, want: "cannot compare the version"},
		"Denied":     {reason: "Content that is denied is refused.", v: denied("chart"), p: inline, want: `install "chart": digest ` + sum(chart) + " is denied by spec.verification.deniedDigests"},
		"Component":  {reason: "A denied digest of a component is rejected.", v: denied("manifest"), p: named, want: "spec.forProvider.component: digest"},
		"Allowed":    {reason: "Other digests are allowed.", v: denied("x"), p: inline},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := CheckLimits(&tc.v, &tc.p)
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
