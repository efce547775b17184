// SPDX-License-Identifier: Apache-2.0

package module

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// central returns a template of the control plane with one chart.
func central() *v1alpha1.ModuleTemplate {
	t := &v1alpha1.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Name: "web-regular"}}
	t.Spec.Target = v1alpha1.ModuleTargetControlPlane
	t.Status.Resources = []v1alpha1.ModuleResource{{
		Use: v1alpha1.UseInstall, Install: "web",
		Source: &v1alpha1.Source{Type: v1alpha1.SourceTypeHelmChart, URL: "oci://registry.example.org/charts", ChartName: "web", Version: "1.0.0"},
	}}
	return t
}

func valuesOf(text string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(text)} }

// TestControlPlaneSettings sets fields of a module of the control plane that would be applied with the permissions of the
// provider.
func TestControlPlaneSettings(t *testing.T) {
	secret := []v1alpha1.ValuesReference{{Kind: "Secret", Name: "s", TargetPath: "replicas"}}
	cases := map[string]struct {
		reason string
		module v1alpha1.Module
		want   string
	}{
		"Nothing":       {reason: "The module of the template is installed as it is.", module: v1alpha1.Module{}},
		"Policies":      {reason: "Settings that do not change the content are not restricted.", module: v1alpha1.Module{Drift: v1alpha1.DriftPolicyReport, Mode: v1alpha1.ModePlan}},
		"Values":        {reason: "Values are chosen by a tenant.", module: v1alpha1.Module{Values: valuesOf(`{"image": {"tag": "evil"}}`)}, want: "values.image.tag is not allowed"},
		"InstallValues": {reason: "Values of a single chart are restricted, too.", module: v1alpha1.Module{Installs: []v1alpha1.ModuleInstall{{Name: "web", Values: valuesOf(`{"a": 1}`)}}}, want: `installs["web"].values.a is not allowed`},
		"ValuesFrom":    {reason: "Values from a Secret are restricted, too.", module: v1alpha1.Module{ValuesFrom: secret}, want: "valuesFrom is not allowed"},
		"InstallFrom":   {reason: "Values from a Secret are also restricted for a single chart.", module: v1alpha1.Module{Installs: []v1alpha1.ModuleInstall{{Name: "web", ValuesFrom: secret}}}, want: `installs["web"].valuesFrom is not allowed`},
		"Adopt":         {reason: "Adoption takes over what others installed.", module: v1alpha1.Module{Adoption: v1alpha1.AdoptionPolicyAdopt}, want: "adoption: Adopt is not allowed"},
		"Recreate":      {reason: "Others use the objects that it would delete.", module: v1alpha1.Module{ImmutableFields: v1alpha1.ImmutableFieldsPolicyRecreate}, want: "immutableFields: Recreate is not allowed"},
		"Rollback":      {reason: "A rollback installs what the cluster has stored.", module: v1alpha1.Module{Rollback: &v1alpha1.Rollback{}}, want: "rollback is not allowed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.module.Name = "web"
			_, err := Parameters(central(), &tc.module)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) || tc.want != "" && !strings.Contains(got, "ModuleTemplate web-regular") {
				t.Errorf("\n%s\nParameters(...): want error %q that names the ModuleTemplate, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

func TestAllowedValues(t *testing.T) {
	from := func(path string) []v1alpha1.ValuesReference {
		return []v1alpha1.ValuesReference{{Kind: "Secret", Name: "s", TargetPath: path}}
	}
	cases := map[string]struct {
		reason  string
		central bool
		allowed []string
		module  v1alpha1.Module
		want    string
	}{
		"Unrestricted": {reason: "In the cluster of the Kyma, all values are allowed by default.", module: v1alpha1.Module{Values: valuesOf(`{"a": 1}`), ValuesFrom: from("")}},
		"Named":        {reason: "A path is allowed in the control plane if it is named.", central: true, allowed: []string{"replicas"}, module: v1alpha1.Module{Values: valuesOf(`{"replicas": 2}`)}},
		"NoneNamed":    {reason: "An empty list allows none.", allowed: []string{}, module: v1alpha1.Module{Values: valuesOf(`{"replicas": 2}`)}, want: "values.replicas is not allowed by spec.allowed.values of ModuleTemplate web-regular"},
		"Below":        {reason: "A path includes what is below it.", allowed: []string{"resources"}, module: v1alpha1.Module{Values: valuesOf(`{"resources": {"limits": {"cpu": 1}}}`)}},
		"Any":          {reason: "The wildcard * matches any name.", allowed: []string{"resources.*.cpu"}, module: v1alpha1.Module{Values: valuesOf(`{"resources": {"limits": {"cpu": 1}, "requests": {"cpu": 1}}}`)}},
		"AnyBut":       {reason: "The wildcard does not match a neighboring field.", allowed: []string{"resources.*.cpu"}, module: v1alpha1.Module{Values: valuesOf(`{"resources": {"limits": {"cpu": 1, "memory": 1}}}`)}, want: "values.resources.limits.memory is not allowed"},
		"All":          {reason: "A single * allows all values.", central: true, allowed: []string{"*"}, module: v1alpha1.Module{Values: valuesOf(`{"a": {"b": 1}}`)}},
		"Parent":       {reason: "Removing the parent of an allowed path removes its siblings.", allowed: []string{"image.tag"}, module: v1alpha1.Module{Values: valuesOf(`{"image": null}`)}, want: "values.image is not allowed"},
		"EmptyParent":  {reason: "An empty parent would also replace the other values.", allowed: []string{"image.tag"}, module: v1alpha1.Module{Values: valuesOf(`{"image": {}}`)}, want: "values.image is not allowed"},
		"List":         {reason: "A list replaces that of the chart.", allowed: []string{"image.tag"}, module: v1alpha1.Module{Values: valuesOf(`{"env": [{"a": 1}]}`)}, want: "values.env is not allowed"},
		"Dot":          {reason: "A name may contain a dot.", allowed: []string{`labels.example\.org/team`}, module: v1alpha1.Module{Values: valuesOf(`{"labels": {"example.org/team": "a"}}`)}},
		"NotADot":      {reason: "An unescaped dot in an allowed path separates two names.", allowed: []string{`labels.example.org/team`}, module: v1alpha1.Module{Values: valuesOf(`{"labels": {"example.org/team": "a"}}`)}, want: `values.labels.example\.org/team is not allowed`},
		"Install":      {reason: "Values of one chart are values.", allowed: []string{"a"}, module: v1alpha1.Module{Installs: []v1alpha1.ModuleInstall{{Name: "web", Values: valuesOf(`{"a": 1, "b": 1}`)}}}, want: `installs["web"].values.b is not allowed`},
		"From":         {reason: "A reference with an allowed path is allowed.", allowed: []string{"password"}, module: v1alpha1.Module{ValuesFrom: from("password")}},
		"FromOther":    {reason: "A Secret with another target path is not allowed.", allowed: []string{"password"}, module: v1alpha1.Module{ValuesFrom: from("image")}, want: "valuesFrom is not allowed"},
		"FromAny":      {reason: "A Secret without a target path is not allowed, because it may contain any values.", allowed: []string{"password"}, module: v1alpha1.Module{ValuesFrom: from("")}, want: "valuesFrom is not allowed"},
		"FromCentral":  {reason: "References are never allowed in the control plane.", central: true, allowed: []string{"password"}, module: v1alpha1.Module{ValuesFrom: from("password")}, want: "valuesFrom is not allowed"},
		"Adopt":        {reason: "In its own cluster, a Kyma may adopt and roll back.", allowed: []string{}, module: v1alpha1.Module{Adoption: v1alpha1.AdoptionPolicyAdopt, Rollback: &v1alpha1.Rollback{}}},
		"NotAnObject":  {reason: "Values that are not an object are refused.", allowed: []string{"a"}, module: v1alpha1.Module{Values: valuesOf(`[]`)}, want: "values must be an object"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			template := central()
			if tc.module.Name = "web"; !tc.central {
				template.Spec.Target = v1alpha1.ModuleTargetRemote
			}
			if tc.allowed != nil {
				template.Spec.Allowed = &v1alpha1.ModuleAllowed{Values: tc.allowed}
			}
			_, err := Parameters(template, &tc.module)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("\n%s\nParameters(...): want error %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

func TestConfinement(t *testing.T) {
	no := false
	allowed := v1alpha1.Confinement{Namespaces: []string{"apps"}, Kinds: []string{"ConfigMap"}, ClusterAdmin: &no}
	cases := map[string]struct {
		reason  string
		allowed *v1alpha1.ModuleAllowed
		want    *v1alpha1.ManifestAllowed
	}{
		"None":   {reason: "A template without restrictions leaves its Manifests as they are."},
		"Values": {reason: "Restrictions of values are checked here.", allowed: &v1alpha1.ModuleAllowed{Values: []string{"a"}}},
		"All": {
			reason: "The Manifest contains the other settings, and where they come from.", allowed: &v1alpha1.ModuleAllowed{Confinement: allowed},
			want: &v1alpha1.ManifestAllowed{Confinement: allowed, ModuleTemplate: "web-regular"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			template := central()
			template.Spec.Allowed = tc.allowed
			p, err := Parameters(template, &v1alpha1.Module{Name: "web"})
			if diff := cmp.Diff(tc.want, p.Allowed); diff != "" || err != nil {
				t.Errorf("\n%s\nParameters(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}
