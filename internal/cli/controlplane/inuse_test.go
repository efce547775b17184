// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
)

// TestUndeployTemplatesInUse checks that undeploy --templates keeps the ModuleTemplates of modules in use. Each module in use is
// that of one object.
func TestUndeployTemplatesInUse(t *testing.T) {
	defined(t)
	object := func(kind schema.GroupVersionKind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
		return apply.Wanted(apply.Object{GroupVersionKind: kind, Namespace: namespace, Name: name}, map[string]any{"spec": spec})
	}
	modules := func(name string) map[string]any {
		return map[string]any{"modules": []any{map[string]any{"name": name}}}
	}
	kyma := func(name string, parameters map[string]any) *unstructured.Unstructured {
		return object(v1alpha1.KymaGroupVersionKind, "templates-in-use", name, map[string]any{
			"providerConfigRef": map[string]any{"kind": "ProviderConfig", "name": "x"}, "forProvider": parameters,
		})
	}
	release := map[string]any{"version": "1.0.0"}
	cases := []struct {
		reason string
		module string
		user   *unstructured.Unstructured
		// installed is the name of a module in the status of user.
		installed string
		want      apply.Action
	}{
		{reason: "No object uses the module.", module: "unused", want: apply.Deleted},
		{reason: "A Kyma enables the module.", module: "enabled", user: kyma("enables", modules("enabled")), want: apply.Kept},
		{
			reason: "A Kyma has the module without enabling it: it was mandatory, or it is still being removed.", module: "installed",
			user: kyma("installs", map[string]any{}), installed: "installed", want: apply.Kept,
		},
		{
			reason: "The module is mandatory for Kymas.", module: "mandatory", want: apply.Kept,
			user: object(v1alpha1.ModuleReleaseMetaGroupVersionKind, "", "mandatory", map[string]any{"moduleName": "mandatory", "mandatory": release}),
		},
		{
			reason: "A KymaSet enables the module in Kymas.", module: "templated", want: apply.Kept,
			user: object(v1alpha1.KymaSetGroupVersionKind, "", "templates", map[string]any{
				"providerConfigs": map[string]any{}, "template": map[string]any{"spec": map[string]any{"forProvider": modules("templated")}},
			}),
		},
	}
	succeed(t, newDeploy, "-n", "templates-in-use", "--in-cluster")
	for _, tc := range cases {
		file := filepath.Join(t.TempDir(), "t.yaml")
		write(t, file, strings.ReplaceAll(oneTemplate, "istio", tc.module))
		succeed(t, newDeploy, "-n", "templates-in-use", "--template", file)
		if tc.user == nil {
			continue
		}
		if err := plane.Create(t.Context(), tc.user); err != nil {
			t.Fatal(err)
		}
		if tc.installed != "" {
			tc.user.Object["status"] = map[string]any{"atProvider": map[string]any{"modules": []any{map[string]any{"name": tc.installed, "state": "Ready"}}}}
			if err := plane.Status().Update(t.Context(), tc.user); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := succeed(t, NewUndeploy, "-n", "templates-in-use", "--templates", "-o", "json")
	got := actions(t, r)
	for _, tc := range cases {
		if a := got["ModuleTemplate "+tc.module+"-regular"]; a != tc.want {
			t.Errorf("%s\nundeploy --templates: want ModuleTemplate %s-regular %s, got %q\n%s", tc.reason, tc.module, tc.want, a, r.said)
		}
		if tc.user == nil {
			continue
		}
		if who := "the module is used by " + apply.ObjectOf(tc.user).Words(); !strings.Contains(r.said, who) {
			t.Errorf("%s\nundeploy --templates: want %q, got\n%s", tc.reason, who, r.said)
		}
		if err := plane.Delete(t.Context(), tc.user); err != nil {
			t.Fatal(err)
		}
	}
}
