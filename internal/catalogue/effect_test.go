// SPDX-License-Identifier: Apache-2.0

package catalogue

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// newTemplate returns a resolved ModuleTemplate. Its digest differs for each version.
func newTemplate(module, channel, version string) v1alpha1.ModuleTemplate {
	t := v1alpha1.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Name: module + "-" + channel + version, Generation: 1}}
	t.Spec.ModuleName, t.Spec.Channel = module, channel
	t.Spec.Component = &v1alpha1.Component{Name: "example.org/" + module, Version: version}
	t.Status = v1alpha1.ModuleTemplateStatus{
		ResolvedGeneration: 1, ModuleName: module, Version: version, Digest: "sha256:" + version,
		Resources: []v1alpha1.ModuleResource{{Name: module, Type: "helm-chart", Use: v1alpha1.UseInstall}},
	}
	t.Status.SetConditions(xpv2.Condition{Type: v1alpha1.TypeResolved, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonResolved})
	return t
}

func newKyma(modules ...v1alpha1.Module) *v1alpha1.Kyma {
	k := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "k", UID: "kyma"}}
	k.Spec.ForProvider.Modules = modules
	return k
}

func TestTemplateChanged(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(t *v1alpha1.ModuleTemplate)
		want   bool
	}{
		"Nothing":   {"A resync without a change does not affect Kymas.", func(*v1alpha1.ModuleTemplate) {}, false},
		"Label":     {"Labels of other clients do not affect Kymas.", func(t *v1alpha1.ModuleTemplate) { t.Labels = map[string]string{"a": "b"} }, false},
		"Handled":   {"The token of the last handled request does not affect Kymas.", func(t *v1alpha1.ModuleTemplate) { t.Status.LastHandledReconcileAt = "x" }, false},
		"Module":    {"A change of the label with the name of the module affects Kymas.", func(t *v1alpha1.ModuleTemplate) { t.Labels = map[string]string{v1alpha1.LabelModuleName: "b"} }, true},
		"Spec":      {"A change of the spec of a ModuleTemplate affects Kymas.", func(t *v1alpha1.ModuleTemplate) { t.Generation++ }, true},
		"Digest":    {"A new digest of the content affects Kymas.", func(t *v1alpha1.ModuleTemplate) { t.Status.Digest = "x" }, true},
		"Resources": {"A change of the resolved resources affects Kymas.", func(t *v1alpha1.ModuleTemplate) { t.Status.Resources = nil }, true},
		"Condition": {"A ModuleTemplate that can no longer be resolved affects Kymas.", func(t *v1alpha1.ModuleTemplate) { t.Status.Conditions[0].Status = corev1.ConditionFalse }, true},
		"Downgrade": {"A permission to downgrade affects Kymas.", func(t *v1alpha1.ModuleTemplate) {
			t.Annotations = map[string]string{v1alpha1.AnnotationAllowDowngrade: "1"}
		}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			was := newTemplate("a", "regular", "1.0.0")
			is := was.DeepCopy()
			tc.change(is)
			if got := TemplateChanged(&was, is); got != tc.want {
				t.Errorf("\n%s\nTemplateChanged(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestConcerns(t *testing.T) {
	k := newKyma(v1alpha1.Module{Name: "a"}, v1alpha1.Module{Name: "b", Channel: "fast"}, v1alpha1.Module{Name: "c"},
		v1alpha1.Module{Name: "p", Version: "1.0.0"}, v1alpha1.Module{Name: "r"})
	k.Status.AtProvider.Modules = []v1alpha1.ModuleStatus{
		{Name: "a", Version: "1.0.0"}, {Name: "b", Version: "1.0.0"}, {Name: "c", Version: "1.0.0", State: v1alpha1.StateError},
		{Name: "p", Version: "1.0.0"}, {Name: "r", Version: "0.9.0", PendingVersion: "1.0.0"},
	}
	cases := map[string]struct {
		reason, module, channel, version string
		want                             bool
	}{
		"Channel":      {"A module without a channel uses the channel of the Kyma.", "a", "regular", "2.0.0", true},
		"OtherChannel": {"A module without a channel does not use a channel other than that of the Kyma.", "a", "fast", "2.0.0", false},
		"OwnChannel":   {"A module with a channel uses this channel.", "b", "fast", "2.0.0", true},
		"Listed":       {"A module in error lists the channels that there are.", "c", "beta", "2.0.0", true},
		"Unknown":      {"A Kyma does not use a module that it does not enable.", "d", "regular", "2.0.0", false},
		"Pinned":       {"A pinned module uses its version.", "p", "", "1.0.0", true},
		"OtherPin":     {"A pinned module does not use another version.", "p", "", "2.0.0", false},
		"PinInChannel": {"A pinned module does not use the version of its channel.", "p", "regular", "2.0.0", false},
		"Has":          {"A version in the catalogue concerns the Kymas that have it.", "a", "", "1.0.0", true},
		"New":          {"A version that was added to the catalogue concerns no Kyma until it is released.", "a", "", "2.0.0", false},
		"Pending":      {"A Kyma that waits for a version shows it.", "r", "", "1.0.0", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			template := newTemplate(tc.module, tc.channel, tc.version)
			if got := Concerns(k, tc.module, &template); got != tc.want {
				t.Errorf("\n%s\nConcerns(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestConcerned checks that a step of a rollout concerns only the Kymas whose turn has come.
func TestConcerned(t *testing.T) {
	policy := &v1alpha1.RolloutPolicySpec{Waves: []v1alpha1.RolloutWave{{
		Name: "canary", Selector: metav1.SetAsLabelSelector(map[string]string{"ring": "canary"}),
	}}}
	was := released("1.0.0", v1alpha1.ChannelRollout{Version: "2.0.0", Phase: v1alpha1.RolloutProgressing})
	cases := map[string]struct {
		reason string
		change func(r *v1alpha1.ChannelRollout)
		labels map[string]string
		module v1alpha1.Module
		ready  xpv2.Condition
		want   bool
		// nothing means that no Kyma needs to be considered.
		nothing bool
	}{
		"Wave": {
			reason: "The message names the wave, which concerns no Kyma whose turn has not come.",
			change: func(r *v1alpha1.ChannelRollout) { r.Threshold = 1 << 32 },
			ready:  xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: v1alpha1.ReasonProgressing, Message: "in wave canary"},
		},
		"Problem": {
			reason: "A problem concerns each Kyma.",
			change: func(*v1alpha1.ChannelRollout) {},
			ready:  xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: v1alpha1.ReasonInvalidRelease, Message: "no policy"}, want: true,
		},
		"Numbers":  {reason: "Numbers in the status concern no Kyma.", change: func(r *v1alpha1.ChannelRollout) { r.Updated, r.Message = 3, "x" }, nothing: true},
		"Turn":     {reason: "The turn of a Kyma in the current wave has come.", change: func(r *v1alpha1.ChannelRollout) { r.Threshold = 1 << 32 }, labels: map[string]string{"ring": "canary"}, want: true},
		"Later":    {reason: "The turn of a Kyma in a later wave has not come.", change: func(r *v1alpha1.ChannelRollout) { r.Threshold = 1 << 32 }},
		"Phase":    {reason: "Another phase concerns each Kyma.", change: func(r *v1alpha1.ChannelRollout) { r.Phase = v1alpha1.RolloutPaused }, want: true},
		"Version":  {reason: "Another version concerns each Kyma.", change: func(r *v1alpha1.ChannelRollout) { r.Version = "3.0.0" }, want: true},
		"Previous": {reason: "The version to return to concerns each Kyma.", change: func(r *v1alpha1.ChannelRollout) { r.Previous = "0.9.0" }, want: true},
		"Waves": {
			reason: "The waves of the policy are others than those of the rollout, so it has reached no Kyma of them.",
			change: func(r *v1alpha1.ChannelRollout) { r.Threshold, r.WavesDigest = 1<<32, "other" }, labels: map[string]string{"ring": "canary"},
		},
		"Channel": {reason: "A Kyma in another channel is not concerned.", change: func(r *v1alpha1.ChannelRollout) { r.Phase = v1alpha1.RolloutPaused }, module: v1alpha1.Module{Channel: "fast"}},
		"Pinned":  {reason: "A pinned Kyma is not concerned.", change: func(r *v1alpha1.ChannelRollout) { r.Phase = v1alpha1.RolloutPaused }, module: v1alpha1.Module{Version: "1.0.0"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			is := was.DeepCopy()
			tc.change(&is.Status.Channels[0])
			if tc.ready.Type != "" {
				is.Status.SetConditions(tc.ready)
			}
			tc.module.Name = "a"
			k := newKyma(tc.module)
			k.Labels = tc.labels
			concerned := Concerned(&was, is, map[string]*v1alpha1.RolloutPolicySpec{"waves": policy})
			if got := concerned != nil && concerned(k); got != tc.want || (concerned == nil) != tc.nothing {
				t.Errorf("%s\nwant %t, got %t; want that no Kyma is considered: %t, got %t", tc.reason, tc.want, got, tc.nothing, concerned == nil)
			}
		})
	}
}

// TestConcernedChannels checks that a step of the rollout in one channel does not concern the Kymas in another one, whose numbers may change.
func TestConcernedChannels(t *testing.T) {
	was := released("1.0.0", v1alpha1.ChannelRollout{Version: "2.0.0", Phase: v1alpha1.RolloutProgressing})
	was.Status.Channels = append(was.Status.Channels, v1alpha1.ChannelRollout{Channel: "fast", Version: "3.0.0", Phase: v1alpha1.RolloutProgressing})
	is := was.DeepCopy()
	is.Status.Channels[0].Threshold, is.Status.Channels[1].Updated = 1<<32, 1
	concerned := Concerned(&was, is, nil)
	if concerned == nil || !concerned(newKyma(v1alpha1.Module{Name: "a"})) {
		t.Error("want that a Kyma whose turn has come is concerned")
	}
	if concerned == nil || concerned(newKyma(v1alpha1.Module{Name: "a", Channel: "fast"})) {
		t.Error("want that a Kyma in another channel is not concerned")
	}
}
