// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func TestEnabledModules(t *testing.T) {
	kyma := func(namespace, name, channel string, wanted []v1alpha1.Module, reported ...v1alpha1.ModuleStatus) v1alpha1.Kyma {
		k := v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		k.Spec.ForProvider.Channel, k.Spec.ForProvider.Modules = channel, wanted
		k.Status.AtProvider.Modules = reported
		return k
	}
	type args struct {
		kymas []v1alpha1.Kyma
		offer Releases
	}
	cases := map[string]struct {
		reason string
		args   args
		want   []EnabledModule
	}{
		"None": {reason: "The result is never nil, so that it is a list in JSON.", want: []EnabledModule{}},
		"Unseen": {
			reason: "A module that the provider has not reconciled has the channel of the Kyma.",
			args:   args{kymas: []v1alpha1.Kyma{kyma("ns", "k", "fast", []v1alpha1.Module{{Name: "a"}})}},
			want:   []EnabledModule{{Namespace: "ns", Kyma: "k", Name: "a", Enabled: true, Channel: "fast", Message: Unseen, Available: []Available{}}},
		},
		"Available": {
			reason: "Versions other than the installed one are available.",
			args: args{
				kymas: []v1alpha1.Kyma{kyma("ns", "k", "", []v1alpha1.Module{{Name: "a"}},
					v1alpha1.ModuleStatus{Name: "a", Channel: "regular", Version: "2.0.0", State: v1alpha1.StateReady, Manifest: "k-a"})},
				offer: Releases{
					{Name: "a", Channel: "fast", Version: "3.0.0"}, {Name: "a", Channel: "next"}, {Name: "a", Channel: "old", Version: "1.0.0"},
					{Name: "a", Channel: "regular", Version: "2.0.0"}, {Name: "b", Channel: "fast", Version: "4.0.0"},
				},
			},
			want: []EnabledModule{{
				Namespace: "ns", Kyma: "k", Name: "a", Enabled: true, Channel: "regular", ActiveChannel: "regular", Version: "2.0.0", State: "Ready", Manifest: "k-a",
				Available: []Available{{Channel: "fast", Version: "3.0.0", Newer: true}, {Channel: "old", Version: "1.0.0"}},
			}},
		},
		"Removed": {
			reason: "A module that is being removed is not enabled, and has no available versions.",
			args: args{
				kymas: []v1alpha1.Kyma{kyma("ns", "k", "", nil, v1alpha1.ModuleStatus{Name: "a", Version: "1.0.0", State: v1alpha1.StateDeleting, Reason: "Deleting", Message: "bye"})},
				offer: Releases{{Name: "a", Channel: "fast", Version: "3.0.0"}},
			},
			want: []EnabledModule{{Namespace: "ns", Kyma: "k", Name: "a", Version: "1.0.0", State: "Deleting", Reason: "Deleting", Message: "bye", Available: []Available{}}},
		},
		"Sorted": {
			reason: "Modules are sorted by namespace, Kyma and name.",
			args: args{kymas: []v1alpha1.Kyma{
				kyma("b", "k", "", nil, v1alpha1.ModuleStatus{Name: "a"}), kyma("a", "z", "", nil, v1alpha1.ModuleStatus{Name: "a"}),
				kyma("a", "k", "", nil, v1alpha1.ModuleStatus{Name: "b"}, v1alpha1.ModuleStatus{Name: "a"}),
			}},
			want: []EnabledModule{
				{Namespace: "a", Kyma: "k", Name: "a", Available: []Available{}}, {Namespace: "a", Kyma: "k", Name: "b", Available: []Available{}},
				{Namespace: "a", Kyma: "z", Name: "a", Available: []Available{}}, {Namespace: "b", Kyma: "k", Name: "a", Available: []Available{}},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, EnabledModules(tc.args.kymas, tc.args.offer)); diff != "" {
				t.Errorf("\n%s\nEnabledModules(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestShownChannel(t *testing.T) {
	cases := map[string]struct {
		reason string
		module EnabledModule
		want   string
	}{
		"Same":    {"The module is installed from the desired channel.", EnabledModule{Channel: "fast", ActiveChannel: "fast"}, "fast"},
		"Wanted":  {"Nothing is installed yet.", EnabledModule{Channel: "fast"}, "fast"},
		"Removed": {"A module that is being removed has no desired channel.", EnabledModule{ActiveChannel: "fast"}, "fast"},
		"Moves":   {"The module is installed from another channel.", EnabledModule{Channel: "fast", ActiveChannel: "regular"}, "fast (is regular)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.module.ShownChannel()); diff != "" {
				t.Errorf("\n%s\nShownChannel(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
