// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

func TestDefinitions(t *testing.T) {
	all, err := readCRDs()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range all {
		got = append(got, d.GetName())
	}
	want := []string{
		"clusterproviderconfigs.kyma.m.crossplane.io", "kymas.kyma.m.crossplane.io", "manifests.kyma.m.crossplane.io",
		"moduletemplates.kyma.m.crossplane.io", "providerconfigs.kyma.m.crossplane.io", "providerconfigusages.kyma.m.crossplane.io",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("readCRDs(): -want, +got:\n%s", diff)
	}
}

func TestEnabling(t *testing.T) {
	kyma := func(modules ...any) *unstructured.Unstructured {
		p := map[string]any{}
		if modules != nil {
			p["modules"] = modules
		}
		u := wanted(object{GroupVersionKind: v1alpha1.KymaGroupVersionKind, Name: "x"}, map[string]any{"spec": map[string]any{"forProvider": p}})
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
			reason: "There is no list yet.", kyma: kyma(), modules: []moduleArg{{name: "b", channel: "fast"}},
			want: []operation{lock, {Op: "add", Path: list, Value: []any{}}, {Op: "add", Path: list + "/-", Value: map[string]any{"name": "b", "channel": "fast"}}},
		},
		"Another": {
			reason: "What is there stays.", kyma: kyma(a), modules: []moduleArg{{name: "b"}},
			want: []operation{lock, {Op: "add", Path: list + "/-", Value: map[string]any{"name": "b"}}},
		},
		"SameAlready":  {reason: "Nothing is to be done.", kyma: kyma(a), modules: []moduleArg{{name: "a", channel: "fast"}}},
		"AnyChannel":   {reason: "The channel that it has is as good.", kyma: kyma(a), modules: []moduleArg{{name: "a"}}},
		"OtherChannel": {reason: "It is changed in place.", kyma: kyma(a), modules: []moduleArg{{name: "a", channel: "regular"}}, want: []operation{lock, {Op: "add", Path: list + "/0/channel", Value: "regular"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, enabling(tc.kyma, tc.modules)); diff != "" {
				t.Errorf("%s\nenabling(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestActivated(t *testing.T) {
	policy := func(label string, patterns ...any) unstructured.Unstructured {
		u := wanted(object{GroupVersionKind: policyKind(), Name: "x"}, map[string]any{"spec": map[string]any{"activate": patterns}})
		u.SetLabels(map[string]string{labelManagedBy: label})
		return *u
	}
	cases := map[string]struct {
		reason   string
		policies []unstructured.Unstructured
		want     bool
	}{
		"None":     {reason: "Nobody activates anything."},
		"Default":  {reason: "The policy of most control planes.", policies: []unstructured.Unstructured{policy("", "*")}, want: true},
		"Group":    {reason: "Patterns are as Crossplane has them.", policies: []unstructured.Unstructured{policy("", "*.kyma.m.crossplane.io")}, want: true},
		"Partly":   {reason: "Kymas need all three.", policies: []unstructured.Unstructured{policy("", "kymas.kyma.m.crossplane.io", "*.aws.crossplane.io")}},
		"Together": {reason: "Policies add up.", policies: []unstructured.Unstructured{policy("", "kymas.*", "manifests.*"), policy("", "moduletemplates.*")}, want: true},
		"Ours":     {reason: "Ours is applied again, so that it is what it must be.", policies: []unstructured.Unstructured{policy(command.FieldManager, "*")}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := activated(tc.policies); got != tc.want {
				t.Errorf("%s\nactivated(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	kyma := object{GroupVersionKind: v1alpha1.KymaGroupVersionKind, Namespace: "team-a", Name: "default"}
	conflict := func(n int) error {
		s := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusConflict, Reason: metav1.StatusReasonConflict, Details: &metav1.StatusDetails{}}
		for range n {
			s.Details.Causes = append(s.Details.Causes, metav1.StatusCause{
				Type: metav1.CauseTypeFieldManagerConflict, Field: ".spec.forProvider.channel", Message: `conflict with "kubectl-edit" using kyma.m.crossplane.io/v1alpha1`,
			})
		}
		return &kerrors.StatusError{ErrStatus: s}
	}
	cases := map[string]struct {
		reason string
		err    error
		want   string
		code   command.ExitCode
	}{
		"Conflict": {
			reason: "The field, its owner, and what to do.", err: conflict(1), code: command.ExitExists,
			want: `Kyma team-a/default: field spec.forProvider.channel belongs to "kubectl-edit"; take what differs over with --force-conflicts`,
		},
		"Many":  {reason: "A line stays a line.", err: conflict(100), code: command.ExitExists, want: "and others do; take"},
		"Other": {reason: "Anything else is said as it is.", err: kerrors.NewBadRequest("no"), code: command.ExitFailure, want: "cannot apply Kyma team-a/default: no"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := explain(tc.err, kyma)
			if !strings.Contains(got.Error(), tc.want) || command.CodeOf(got) != tc.code {
				t.Errorf("%s\nexplain(...): want %q with exit code %d, got %q with %d", tc.reason, tc.want, tc.code, got, command.CodeOf(got))
			}
		})
	}
}
