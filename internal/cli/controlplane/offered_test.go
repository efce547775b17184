// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func TestNotOffered(t *testing.T) {
	template := func(name, channel string) v1alpha1.ModuleTemplate {
		return v1alpha1.ModuleTemplate{Spec: v1alpha1.ModuleTemplateSpec{ModuleName: name, Channel: channel}}
	}
	templates := []v1alpha1.ModuleTemplate{template("istio", "regular"), template("istio", "fast"), template("nats", "fast")}
	kyma := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"forProvider": map[string]any{
		"channel": "regular",
		"modules": []any{map[string]any{"name": "nats", "channel": "fast"}},
	}}}}
	cases := map[string]struct {
		reason  string
		modules []moduleArg
		want    []moduleArg
	}{
		"Offered":      {"It is in the channel of the Kyma.", []moduleArg{{name: "istio"}}, nil},
		"OtherChannel": {"It is in the channel of the flag.", []moduleArg{{name: "istio", channel: "fast"}}, nil},
		"Enabled":      {"It is in the channel in which it is enabled.", []moduleArg{{name: "nats"}}, nil},
		"Channel":      {"It is only in another channel.", []moduleArg{{name: "nats", channel: "regular"}}, []moduleArg{{name: "nats", channel: "regular"}}},
		"Module":       {"There is no such module.", []moduleArg{{name: "nope"}}, []moduleArg{{name: "nope", channel: "regular"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := notOffered(kyma, tc.modules, templates)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(moduleArg{})); diff != "" {
				t.Errorf("\n%s\nnotOffered(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
