// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

func TestEnabling(t *testing.T) {
	kyma := func(modules ...any) *unstructured.Unstructured {
		p := map[string]any{}
		if modules != nil {
			p["modules"] = modules
		}
		u := apply.Wanted(apply.Object{GroupVersionKind: v1alpha1.KymaGroupVersionKind, Name: "x"}, map[string]any{"spec": map[string]any{"forProvider": p}})
		u.SetResourceVersion("7")
		return u
	}
	const list = "/spec/forProvider/modules"
	lock := operation{Op: "replace", Path: "/metadata/resourceVersion", Value: "7"}
	a := map[string]any{"name": "a", "channel": "fast"}
	cases := map[string]struct {
		reason  string
		kyma    *unstructured.Unstructured
		modules []moduleArg
		want    []operation
	}{
		"First": {
			reason: "The Kyma has no list of modules yet.", kyma: kyma(), modules: []moduleArg{{name: "b", channel: "fast"}},
			want: []operation{lock, {Op: "add", Path: list, Value: []any{}}, {Op: "add", Path: list + "/-", Value: map[string]any{"name": "b", "channel": "fast"}}},
		},
		"Another": {
			reason: "Enabled modules stay.", kyma: kyma(a), modules: []moduleArg{{name: "b"}},
			want: []operation{lock, {Op: "add", Path: list + "/-", Value: map[string]any{"name": "b"}}},
		},
		"SameAlready":  {reason: "There is nothing to change.", kyma: kyma(a), modules: []moduleArg{{name: "a", channel: "fast"}}},
		"AnyChannel":   {reason: "Without a channel, the current one stays.", kyma: kyma(a), modules: []moduleArg{{name: "a"}}},
		"OtherChannel": {reason: "Another channel is changed in place.", kyma: kyma(a), modules: []moduleArg{{name: "a", channel: "regular"}}, want: []operation{lock, {Op: "add", Path: list + "/0/channel", Value: "regular"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, enabling(tc.kyma, tc.modules)); diff != "" {
				t.Errorf("%s\nenabling(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestManaged checks that deploy activates the same kinds as the example for other clients.
func TestManaged(t *testing.T) {
	data, err := os.ReadFile("../../../examples/provider/activation.yaml")
	if err != nil {
		t.Fatal(err)
	}
	example := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(data, &example.Object); err != nil {
		t.Fatal(err)
	}
	activate, _, err := unstructured.NestedStringSlice(example.Object, "spec", "activate")
	if err != nil {
		t.Fatal(err)
	}
	var crds []string
	for _, o := range crdObjects(t) {
		if !strings.Contains(o.Name, "providerconfig") {
			crds = append(crds, o.Name)
		}
	}
	got, err := managed()
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		want   []string
	}{
		"CRDs":    {"Crossplane always serves only the kinds of the ProviderConfig, and deploy waits for all kinds.", crds},
		"Example": {"The example activates the same kinds.", activate},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nmanaged(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestActivated(t *testing.T) {
	policy := func(label string, patterns ...any) unstructured.Unstructured {
		u := apply.Wanted(apply.Object{GroupVersionKind: policyKind(), Name: "x"}, map[string]any{"spec": map[string]any{"activate": patterns}})
		u.SetLabels(map[string]string{apply.LabelManagedBy: label})
		return *u
	}
	cases := map[string]struct {
		reason   string
		policies []unstructured.Unstructured
		want     bool
	}{
		"None":    {reason: "There are no policies."},
		"Default": {reason: "Most control planes have a policy that activates everything.", policies: []unstructured.Unstructured{policy("", "*")}, want: true},
		"Group":   {reason: "Patterns have the syntax of Crossplane.", policies: []unstructured.Unstructured{policy("", "*.kyma.m.crossplane.io")}, want: true},
		"Partly":  {reason: "All kinds are required.", policies: []unstructured.Unstructured{policy("", "kymas.kyma.m.crossplane.io", "*.aws.crossplane.io")}},
		"Earlier": {
			reason:   "Kymas need the kinds of releases too.",
			policies: []unstructured.Unstructured{policy("", "kymas.*", "manifests.*", "moduletemplates.*")},
		},
		"Together": {
			reason:   "Several policies together can activate all kinds.",
			policies: []unstructured.Unstructured{policy("", "kymas.*", "kymasets.*", "manifests.*"), policy("", "module*", "rolloutpolicies.*")}, want: true,
		},
		"Ours": {reason: "The policy of kymactl is ignored, so that it is applied again.", policies: []unstructured.Unstructured{policy(command.FieldManager, "*")}},
	}
	names, err := managed()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := activated(tc.policies, names); got != tc.want {
				t.Errorf("%s\nactivated(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
