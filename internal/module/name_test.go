// SPDX-License-Identifier: Apache-2.0

package module

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func TestNameOf(t *testing.T) {
	cases := map[string]struct {
		reason   string
		template func(t *testing.T) *v1alpha1.ModuleTemplate
		want     string
	}{
		"Spec": {
			reason: "The name in the spec takes precedence.",
			template: func(t *testing.T) *v1alpha1.ModuleTemplate {
				t.Helper()
				m := inlineTemplate(describe(t, sample, "1.0.0", nil))
				m.Spec.ModuleName, m.Labels = "mine", map[string]string{v1alpha1.LabelModuleName: "label"}
				return m
			},
			want: "mine",
		},
		"Label": {
			reason: "Without a name in the spec, the label is used.",
			template: func(t *testing.T) *v1alpha1.ModuleTemplate {
				t.Helper()
				m := inlineTemplate(describe(t, sample, "1.0.0", nil))
				m.ObjectMeta = metav1.ObjectMeta{Labels: map[string]string{v1alpha1.LabelModuleName: "label"}}
				return m
			},
			want: "label",
		},
		"Descriptor": {
			reason: "Without a label, the component in the descriptor is used, even if another name was resolved before.",
			template: func(t *testing.T) *v1alpha1.ModuleTemplate {
				t.Helper()
				m := inlineTemplate(describe(t, sample, "1.0.0", nil))
				m.Status.ModuleName = "before"
				return m
			},
			want: "sample",
		},
		"Component": {
			reason: "Without a descriptor, the component in the registry is used.",
			template: func(*testing.T) *v1alpha1.ModuleTemplate {
				return componentTemplate("example.org/module/other", "1.0.0")
			},
			want: "other",
		},
		"Status": {
			reason: "Without a descriptor or a component, the name that was resolved before is used.",
			template: func(*testing.T) *v1alpha1.ModuleTemplate {
				return &v1alpha1.ModuleTemplate{Status: v1alpha1.ModuleTemplateStatus{ModuleName: "before"}}
			},
			want: "before",
		},
		"None": {
			reason:   "A template may not have a name.",
			template: func(*testing.T) *v1alpha1.ModuleTemplate { return &v1alpha1.ModuleTemplate{} },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := NameOf(tc.template(t)); got != tc.want {
				t.Errorf("\n%s\nNameOf(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

func TestInstallName(t *testing.T) {
	cases := map[string]struct {
		reason              string
		reference, resource string
		want                string
	}{
		"Plain":      {reason: "A name that is short enough does not change.", resource: "sample-operator", want: "sample-operator"},
		"Reference":  {reason: "A referenced component is named.", reference: "low", resource: "chart", want: "low-chart"},
		"Characters": {reason: "Characters that do not fit become dashes.", resource: "a_b+c.d", want: "a-b-c-d"},
		"Ends":       {reason: "There is no dash at the ends.", resource: "ab_", want: "ab"},
		"Longest":    {reason: "As long as possible is not too long.", resource: strings.Repeat("a", 53), want: strings.Repeat("a", 53)},
		"Long":       {reason: "A name that is too long ends in a hash.", resource: strings.Repeat("a", 54), want: strings.Repeat("a", 44) + "-" + sum([]byte(strings.Repeat("a", 54)))[7:15]},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := installName(tc.reference, tc.resource)
			if got != tc.want || !isInstallName.MatchString(got) || len(got) > maxInstallName {
				t.Errorf("\n%s\ninstallName(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

func TestCompareVersions(t *testing.T) {
	cases := map[string]struct {
		reason string
		a, b   string
		want   int
		err    string
	}{
		"Lower":      {reason: "Numbers are compared as numbers.", a: "1.9.0", b: "1.10.0", want: -1},
		"Relaxed":    {reason: "A v means nothing, nor do zeros that are left out.", a: "v1.2", b: "1.2.0"},
		"PreRelease": {reason: "A pre-release is lower than its release.", a: "1.0.0", b: "1.0.0-rc.1", want: 1},
		"Build":      {reason: "Build metadata does not count.", a: "1.0.0+b1", b: "1.0.0+b2"},
		"First":      {reason: "The error names the first invalid version.", a: "latest", b: "1.0.0", err: `malformed version "latest": must be a semantic version such as 1.2.3`},
		"Second":     {reason: "The error names the second invalid version.", a: "1.0.0", b: "1.2.3.4", err: `malformed version "1.2.3.4": must be a semantic version such as 1.2.3`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := CompareVersions(tc.a, tc.b)
			if tc.err != "" {
				if err == nil || err.Error() != tc.err {
					t.Errorf("\n%s\nCompareVersions(...): want error %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if err != nil || got != tc.want {
				t.Errorf("\n%s\nCompareVersions(...): want %d, got %d, %v", tc.reason, tc.want, got, err)
			}
		})
	}
}
