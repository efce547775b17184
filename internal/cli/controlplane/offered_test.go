// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// TestWarnMissing checks that deploy warns about modules that are not installed, and about no others.
func TestWarnMissing(t *testing.T) {
	// A template without a version is not resolved yet.
	template := func(name, channel, version string) *v1alpha1.ModuleTemplate {
		return &v1alpha1.ModuleTemplate{
			ObjectMeta: metav1.ObjectMeta{Name: name + "-" + channel + version}, Spec: v1alpha1.ModuleTemplateSpec{ModuleName: name, Channel: channel},
			Status: v1alpha1.ModuleTemplateStatus{Version: version},
		}
	}
	released := func(name, channel, version string) *v1alpha1.ModuleReleaseMeta {
		return &v1alpha1.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.ModuleReleaseMetaSpec{
			ModuleName: name, Channels: []v1alpha1.ChannelRelease{{Channel: channel, Release: v1alpha1.Release{Version: version}}},
		}}
	}
	twice := template("twice", "regular", "1.0.0")
	twice.Name = "again"
	objects := []client.Object{
		template("istio", "regular", "1.0.0"), template("istio", "fast", ""), template("nats", "fast", "1.0.0"),
		template("versions", "", "1.0.0"), template("versions", "", "2.0.0"), released("versions", "regular", "1.0.0"),
		template("gone", "", "1.0.0"), released("gone", "regular", "2.0.0"),
		template("new", "", ""), released("new", "regular", "1.0.0"),
		twice, template("twice", "regular", "1.0.0"),
	}
	kyma := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"forProvider": map[string]any{
		"channel": "regular",
		"modules": []any{map[string]any{"name": "nats", "channel": "fast"}},
	}}}}
	none := func(name, channel string) string {
		return "Warning: no ModuleTemplate provides module " + name + " in channel " + channel + ": the module is not installed until there is one\n"
	}
	cases := map[string]struct {
		reason string
		module moduleArg
		want   string
	}{
		"Offered":      {"It is in the channel of the Kyma.", moduleArg{name: "istio"}, ""},
		"OtherChannel": {"It is in the channel of the flag, in which the provider has not resolved it yet.", moduleArg{name: "istio", channel: "fast"}, ""},
		"Enabled":      {"It is in the channel in which it is enabled.", moduleArg{name: "nats"}, ""},
		"Channel":      {"It is only in another channel.", moduleArg{name: "nats", channel: "regular"}, none("nats", "regular")},
		"Module":       {"The module does not exist.", moduleArg{name: "nope"}, none("nope", "regular")},
		"Released":     {"A ModuleReleaseMeta says which version the channel has.", moduleArg{name: "versions"}, ""},
		"Unreleased":   {"No ModuleReleaseMeta has the channel.", moduleArg{name: "versions", channel: "fast"}, none("versions", "fast")},
		"Gone":         {"No ModuleTemplate provides the version of the channel.", moduleArg{name: "gone"}, none("gone", "regular")},
		"New":          {"The provider has not resolved a ModuleTemplate that might provide the version.", moduleArg{name: "new"}, ""},
		"Twice": {
			"Of several ModuleTemplates, none is used.", moduleArg{name: "twice"},
			`Warning: ModuleTemplates again and twice-regular1.0.0 all provide module "twice" in channel "regular", so none of them is used: delete all but one` + "\n",
		},
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	k := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var said bytes.Buffer
			d := &deployment{o: &deployOptions{modules: []moduleArg{tc.module}}, plane: &apply.Plane{Client: k}}
			d.applier = &apply.Applier{Environment: &command.Environment{Err: &said}}
			d.warnMissing(t.Context(), kyma)
			if diff := cmp.Diff(tc.want, said.String()); diff != "" {
				t.Errorf("%s\nwarnings: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
