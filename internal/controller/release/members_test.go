// SPDX-License-Identifier: Apache-2.0

package release

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/rollout"
)

func TestMemberOf(t *testing.T) {
	with := func(change func(s *v1alpha1.ModuleStatus)) *v1alpha1.Kyma {
		return newKyma("k", "regular", func(k *v1alpha1.Kyma) { change(&k.Status.AtProvider.Modules[0]) })
	}
	cases := map[string]struct {
		reason string
		kyma   *v1alpha1.Kyma
		want   rollout.Member
	}{
		"Old": {
			reason: "A Kyma with another version is not updated.",
			kyma:   newKyma("k", "regular"), want: rollout.Member{Installed: true, Ready: true},
		},
		"Updated": {
			reason: "A Kyma with the version of the release is updated.",
			kyma:   with(func(s *v1alpha1.ModuleStatus) { s.Version = "2.0.0" }),
			want:   rollout.Member{Installed: true, Updated: true, Ready: true},
		},
		"Error": {
			reason: "An error has a message, which is bounded.",
			kyma: with(func(s *v1alpha1.ModuleStatus) {
				s.Version, s.State, s.Message = "2.0.0", v1alpha1.StateError, strings.Repeat("x", 10*maxFailureMessage)
			}),
			want: rollout.Member{Installed: true, Updated: true, Error: true, Message: truncate(strings.Repeat("x", 10*maxFailureMessage))},
		},
		"RolledBack": {
			reason: "A Kyma whose Manifest rolled the version back has tried it.",
			kyma: with(func(s *v1alpha1.ModuleStatus) {
				s.Reason, s.RolledBackFrom = string(v1alpha1.ReasonRolledBack), "2.0.0"
			}),
			want: rollout.Member{Installed: true, Updated: true, RolledBack: true, Ready: true},
		},
		"RolledBackEarlier": {
			reason: "A Kyma that rolled back an earlier version has not tried this one.",
			kyma: with(func(s *v1alpha1.ModuleStatus) {
				s.Reason, s.RolledBackFrom = string(v1alpha1.ReasonRolledBack), "1.5.0"
			}),
			want: rollout.Member{Installed: true, Ready: true},
		},
		"Stopped": {
			reason: "A Kyma whose reconciles fail is not Ready for a version that it does not have.",
			kyma: newKyma("k", "regular", func(k *v1alpha1.Kyma) {
				k.Status.SetConditions(xpv2.Condition{
					Type: xpv2.TypeSynced, Status: corev1.ConditionFalse, Reason: xpv2.ReasonReconcileError, Message: "boom", LastTransitionTime: metav1.Time{Time: noon},
				})
			}),
			want: rollout.Member{Installed: true, Message: "boom", Since: noon},
		},
		"OtherChannel": {
			reason: "A Kyma that changes its channel does not have the module from this one yet.",
			kyma:   with(func(s *v1alpha1.ModuleStatus) { s.Channel = "fast" }),
		},
		"New": {
			reason: "A Kyma that has reported nothing has no version.",
			kyma:   with(func(s *v1alpha1.ModuleStatus) { *s = v1alpha1.ModuleStatus{} }),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := newAssessor(newRelease("2.0.0"), target{channel: "regular", release: v1alpha1.Release{Version: "2.0.0"}}).memberOf(tc.kyma)
			tc.want.Namespace, tc.want.Name = "ns", "k"
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(rollout.Member{}, "Hash")); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFollows(t *testing.T) {
	with := func(change func(k *v1alpha1.KymaParameters)) *v1alpha1.Kyma {
		return newKyma("k", "", func(k *v1alpha1.Kyma) { change(&k.Spec.ForProvider) })
	}
	cases := map[string]struct {
		reason  string
		kyma    *v1alpha1.Kyma
		channel string
		want    bool
	}{
		"Module":    {"The channel of the module decides.", newKyma("k", "fast"), "fast", true},
		"Kyma":      {"Without one, the channel of the Kyma decides.", with(func(p *v1alpha1.KymaParameters) { p.Channel = "fast" }), "fast", true},
		"Default":   {"Without any, it is the default channel.", newKyma("k", ""), "regular", true},
		"Other":     {"A Kyma of another channel does not follow.", newKyma("k", "fast"), "regular", false},
		"Mandatory": {"A mandatory module needs no entry in the Kyma.", with(func(p *v1alpha1.KymaParameters) { p.Modules = nil }), v1alpha1.MandatoryChannel, true},
		"Disabled":  {"A Kyma without the module does not follow.", with(func(p *v1alpha1.KymaParameters) { p.Modules = nil }), "regular", false},
		"Pinned":    {"A module with a version does not follow.", with(func(p *v1alpha1.KymaParameters) { p.Modules[0].Version = "1.0.0" }), "regular", false},
		"Unmanaged": {"A module that is not managed does not follow.", with(func(p *v1alpha1.KymaParameters) { p.Modules[0].Managed = new(bool) }), "regular", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := follows(tc.kyma, istio, tc.channel); got != tc.want {
				t.Errorf("%s follows() = %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}

func TestMembers(t *testing.T) {
	away := newConfig()
	away.Name = "away"
	away.Status.SetConditions(xpv2.Condition{Type: v1alpha1.TypeReachable, Status: corev1.ConditionFalse})
	shared := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "away"}}
	use := func(kind, name string) func(k *v1alpha1.Kyma) {
		return func(k *v1alpha1.Kyma) {
			k.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: kind, Name: name}
		}
	}
	windows := func(cron string) func(k *v1alpha1.Kyma) {
		return func(k *v1alpha1.Kyma) {
			k.Spec.ForProvider.MaintenanceWindows = []v1alpha1.MaintenanceWindow{{Schedule: cron, Duration: metav1.Duration{Duration: time.Hour}}}
		}
	}
	annotate := func(key, value string) func(k *v1alpha1.Kyma) {
		return func(k *v1alpha1.Kyma) { meta.AddAnnotations(k, map[string]string{key: value}) }
	}
	cases := map[string]struct {
		reason string
		change []func(k *v1alpha1.Kyma)
		want   []rollout.Member
	}{
		"Usual": {
			reason: "A Kyma whose cluster can be reached takes part.",
			want:   []rollout.Member{{}},
		},
		"Offline": {
			reason: "A Kyma whose cluster cannot be reached counts apart.",
			change: []func(k *v1alpha1.Kyma){use(v1alpha1.ProviderConfigKind, "away")}, want: []rollout.Member{{Offline: true}},
		},
		"Gone": {
			reason: "So does one whose ProviderConfig does not exist.",
			change: []func(k *v1alpha1.Kyma){use(v1alpha1.ProviderConfigKind, "gone")}, want: []rollout.Member{{Offline: true}},
		},
		"Kind": {
			reason: "A ClusterProviderConfig of the name of a ProviderConfig is another one.",
			change: []func(k *v1alpha1.Kyma){use(v1alpha1.ClusterProviderConfigKind, "away")}, want: []rollout.Member{{}},
		},
		"Paused": {
			reason: "A paused Kyma does not block.",
			change: []func(k *v1alpha1.Kyma){annotate(meta.AnnotationKeyReconciliationPaused, "true")}, want: []rollout.Member{{Held: true, Waiting: true}},
		},
		"Open": {
			reason: "A Kyma takes part in its maintenance window.",
			change: []func(k *v1alpha1.Kyma){windows("0 12 * * *")}, want: []rollout.Member{{}},
		},
		"Closed": {
			reason: "A Kyma waits outside of its maintenance window.",
			change: []func(k *v1alpha1.Kyma){windows("0 20 * * *")}, want: []rollout.Member{{Waiting: true}},
		},
		"Invalid": {
			reason: "A Kyma with a schedule that is not valid waits until someone corrects it.",
			change: []func(k *v1alpha1.Kyma){windows("at noon")}, want: []rollout.Member{{Waiting: true}},
		},
		"Now": {
			reason: "An override opens the window.",
			change: []func(k *v1alpha1.Kyma){windows("0 20 * * *"), annotate(v1alpha1.AnnotationUpgradeNow, "CVE")}, want: []rollout.Member{{}},
		},
		"Has": {
			reason: "A Kyma that has the version does not wait for a window.",
			change: []func(k *v1alpha1.Kyma){windows("0 20 * * *"), func(k *v1alpha1.Kyma) { k.Status.AtProvider.Modules[0].Version = "2.0.0" }},
			want:   []rollout.Member{{Updated: true}},
		},
		"Lower": {
			reason: "A version that is lower does not wait for a window.",
			change: []func(k *v1alpha1.Kyma){windows("0 20 * * *"), func(k *v1alpha1.Kyma) { k.Status.AtProvider.Modules[0].Version = "3.0.0" }},
			want:   []rollout.Member{{}},
		},
		"PausedInVersion": {
			reason: "A paused Kyma that is Ready in the version counts as such.",
			change: []func(k *v1alpha1.Kyma){annotate(meta.AnnotationKeyReconciliationPaused, "true"), func(k *v1alpha1.Kyma) { k.Status.AtProvider.Modules[0].Version = "2.0.0" }},
			want:   []rollout.Member{{Updated: true, Held: true}},
		},
		"PausedAndBroken": {
			reason: "A paused Kyma that is broken in the version is excluded.",
			change: []func(k *v1alpha1.Kyma){annotate(meta.AnnotationKeyReconciliationPaused, "true"), func(k *v1alpha1.Kyma) {
				k.Status.AtProvider.Modules[0].Version, k.Status.AtProvider.Modules[0].State = "2.0.0", v1alpha1.StateError
			}},
			want: []rollout.Member{{Updated: true, Error: true, Held: true, Waiting: true}},
		},
		"Deleted": {
			reason: "A Kyma that is deleted does not count.",
			change: []func(k *v1alpha1.Kyma){func(k *v1alpha1.Kyma) {
				k.DeletionTimestamp, k.Finalizers = &metav1.Time{Time: noon}, []string{"example.org/wait"}
			}},
		},
		"NotSelected": {
			reason: "A Kyma that must not have the module does not count.",
			change: []func(k *v1alpha1.Kyma){func(k *v1alpha1.Kyma) { k.Labels = map[string]string{"tier": "free"} }},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := newRelease("2.0.0", "regular")
			m.Spec.KymaSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "tier", Operator: metav1.LabelSelectorOpDoesNotExist},
			}}
			objects := []client.Object{m, newConfig(), away.DeepCopy(), shared.DeepCopy(), newKyma("k", "regular", tc.change...)}
			got, err := newBench(t, objects...).r.members(t.Context(), m, targetsOf(m)[0], nil, noon)
			if err != nil {
				t.Fatal(err)
			}
			for i := range tc.want {
				w := &tc.want[i]
				w.Namespace, w.Name, w.Installed, w.Ready = "ns", "k", true, !w.Error
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(rollout.Member{}, "Hash", "Since")); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
