// SPDX-License-Identifier: Apache-2.0

package catalogue

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/rollout"
)

// released returns a ModuleReleaseMeta of module a whose channel regular has a version, with the state of its rollout.
func released(version string, r v1alpha1.ChannelRollout) v1alpha1.ModuleReleaseMeta {
	out := v1alpha1.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Name: "release"}}
	out.Spec.ModuleName = "a"
	out.Spec.Channels = []v1alpha1.ChannelRelease{{Channel: "regular", Release: v1alpha1.Release{Version: version, RolloutPolicy: "waves"}}}
	r.Channel = "regular"
	out.Status.Channels = []v1alpha1.ChannelRollout{r}
	return out
}

func TestSelect(t *testing.T) {
	one, two, three := newTemplate("a", "", "1.0.0"), newTemplate("a", "", "2.0.0"), newTemplate("a", "", "3.0.0")
	regular, fast := newTemplate("a", "regular", "1.0.0"), newTemplate("a", "fast", "2.0.0")
	other := newTemplate("a", "", "1.0.0")
	other.Name, other.Status.Digest = "other", "sha256:other"
	complete := released("2.0.0", v1alpha1.ChannelRollout{Version: "2.0.0", Phase: v1alpha1.RolloutComplete})
	progressing := released("2.0.0", v1alpha1.ChannelRollout{Version: "2.0.0", Previous: "1.0.0", Phase: v1alpha1.RolloutProgressing})
	with := func(r v1alpha1.ModuleReleaseMeta, change func(r *v1alpha1.ModuleReleaseMeta)) v1alpha1.ModuleReleaseMeta {
		out := *r.DeepCopy()
		change(&out)
		return out
	}
	selects := func(r *v1alpha1.ModuleReleaseMeta) {
		r.Spec.KymaSelector = metav1.SetAsLabelSelector(map[string]string{"tier": "gold"})
	}
	breaks := func(r *v1alpha1.ModuleReleaseMeta) {
		r.Spec.KymaSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "in"}}}
	}
	mandatory := with(complete, func(r *v1alpha1.ModuleReleaseMeta) {
		r.Spec.Mandatory, r.Spec.Channels = &r.Spec.Channels[0].Release, nil
		r.Status.Channels[0].Channel = v1alpha1.MandatoryChannel
	})
	in := func(installed string) Request {
		return Request{Channel: "regular", InstalledChannel: "regular", Kyma: rollout.Kyma{Installed: installed}}
	}
	type want struct {
		Template, Channel, Pending, Message, Error string
		AllowsDowngrade                            bool
	}
	cases := map[string]struct {
		reason    string
		templates []v1alpha1.ModuleTemplate
		releases  []v1alpha1.ModuleReleaseMeta
		request   Request
		want      want
	}{
		"Channel": {
			reason:    "Without a ModuleReleaseMeta, the ModuleTemplate with the channel provides the version.",
			templates: []v1alpha1.ModuleTemplate{regular, fast, three}, request: in(""),
			want: want{Template: regular.Name, Channel: "regular"},
		},
		"NoChannel": {
			reason:    "An unknown channel lists those that there are.",
			templates: []v1alpha1.ModuleTemplate{fast}, request: in(""),
			want: want{Channel: "regular", Error: "channels that have one: fast"},
		},
		"OnlyVersions": {
			reason:    "A module that is not released lists its versions.",
			templates: []v1alpha1.ModuleTemplate{one, two}, request: in(""),
			want: want{Channel: "regular", Error: "its versions are 1.0.0, 2.0.0"},
		},
		"Unknown": {
			reason: "An unknown module is reported.", request: in(""),
			want: want{Channel: "regular", Error: "no ModuleTemplate provides module \"a\""},
		},
		"TwoInChannel": {
			reason:    "Two ModuleTemplates with the same channel are ambiguous.",
			templates: []v1alpha1.ModuleTemplate{regular, newTemplate("a", "regular", "2.0.0")}, request: in(""),
			want: want{Channel: "regular", Error: "ModuleTemplates a-regular1.0.0 and a-regular2.0.0 all provide module"},
		},
		"Pin": {
			reason:    "A pin has effect whatever the channel has, and allows the version even if it is lower.",
			templates: []v1alpha1.ModuleTemplate{one, two}, releases: []v1alpha1.ModuleReleaseMeta{complete},
			request: Request{Version: "1.0.0", Kyma: rollout.Kyma{Installed: "2.0.0"}},
			want:    want{Template: one.Name, AllowsDowngrade: true},
		},
		"PinInChannel": {
			reason:    "The version of a ModuleTemplate with a channel can be pinned.",
			templates: []v1alpha1.ModuleTemplate{fast}, request: Request{Version: "2.0.0"},
			want: want{Template: fast.Name, AllowsDowngrade: true},
		},
		"PinUnknown": {
			reason:    "A pin of an unknown version lists those that there are.",
			templates: []v1alpha1.ModuleTemplate{one, two}, request: Request{Version: "9.0.0"},
			want: want{Error: "no ModuleTemplate provides version 9.0.0 of module \"a\"; versions that one provides: 1.0.0, 2.0.0", AllowsDowngrade: true},
		},
		"PinAmbiguous": {
			reason:    "Two contents for one version are ambiguous.",
			templates: []v1alpha1.ModuleTemplate{one, other}, request: Request{Version: "1.0.0"},
			want: want{Error: "provide different contents for version 1.0.0", AllowsDowngrade: true},
		},
		"PinTwice": {
			reason:    "If two ModuleTemplates have the same content, the one without a channel is used.",
			templates: []v1alpha1.ModuleTemplate{regular, one}, request: Request{Version: "1.0.0"},
			want: want{Template: one.Name, AllowsDowngrade: true},
		},
		"Released": {
			reason:    "After a rollout, each Kyma has the version of the channel.",
			templates: []v1alpha1.ModuleTemplate{one, two}, releases: []v1alpha1.ModuleReleaseMeta{complete}, request: in("1.0.0"),
			want: want{Template: two.Name, Channel: "regular"},
		},
		"Waits": {
			reason:    "A Kyma whose turn has not come follows the ModuleTemplate of the version that it has.",
			templates: []v1alpha1.ModuleTemplate{one, two}, releases: []v1alpha1.ModuleReleaseMeta{progressing}, request: in("1.0.0"),
			want: want{Template: one.Name, Channel: "regular", Pending: "2.0.0", Message: "upgrade to 2.0.0 waits for wave rest"},
		},
		"WaitsWithoutTemplate": {
			reason:    "If that is no longer in the catalogue, the module stays as it is.",
			templates: []v1alpha1.ModuleTemplate{two}, releases: []v1alpha1.ModuleReleaseMeta{progressing}, request: in("1.0.0"),
			want: want{Channel: "regular", Pending: "2.0.0", Message: "upgrade to 2.0.0 waits for wave rest"},
		},
		"FromOtherChannel": {
			reason:    "A Kyma that changes to the channel does not wait for the rollout in it.",
			templates: []v1alpha1.ModuleTemplate{one, two}, releases: []v1alpha1.ModuleReleaseMeta{progressing},
			request: Request{Channel: "regular", InstalledChannel: "fast", Kyma: rollout.Kyma{Installed: "1.0.0"}},
			want:    want{Template: two.Name, Channel: "regular"},
		},
		"BecomesMandatory": {
			reason:    "A Kyma that has the module waits for its turn if the platform team makes a higher version mandatory.",
			templates: []v1alpha1.ModuleTemplate{one, two},
			releases: []v1alpha1.ModuleReleaseMeta{with(mandatory, func(r *v1alpha1.ModuleReleaseMeta) {
				r.Status.Channels[0].Phase = v1alpha1.RolloutProgressing
			})},
			request: in("1.0.0"),
			want:    want{Template: one.Name, Channel: v1alpha1.MandatoryChannel, Pending: "2.0.0", Message: "upgrade to 2.0.0 waits for wave rest"},
		},
		"NoLongerMandatory": {
			reason:    "An upgrade also waits for its wave when a module stops being mandatory.",
			templates: []v1alpha1.ModuleTemplate{one, two}, releases: []v1alpha1.ModuleReleaseMeta{progressing},
			request: Request{Channel: "regular", InstalledChannel: v1alpha1.MandatoryChannel, Kyma: rollout.Kyma{Installed: "1.0.0"}},
			want:    want{Template: one.Name, Channel: "regular", Pending: "2.0.0", Message: "upgrade to 2.0.0 waits for wave rest"},
		},
		"NotProcessed": {
			reason:    "A new version has no effect until its rollout has begun.",
			templates: []v1alpha1.ModuleTemplate{one, two, three},
			releases:  []v1alpha1.ModuleReleaseMeta{with(complete, func(r *v1alpha1.ModuleReleaseMeta) { r.Spec.Channels[0].Version = "3.0.0" })},
			request:   in("2.0.0"),
			want:      want{Template: two.Name, Channel: "regular", Pending: "3.0.0", Message: "waiting for ModuleReleaseMeta release to be processed"},
		},
		"NotProcessedAtFirst": {
			reason:    "A first install waits until the release is processed.",
			templates: []v1alpha1.ModuleTemplate{one, two},
			releases:  []v1alpha1.ModuleReleaseMeta{with(complete, func(r *v1alpha1.ModuleReleaseMeta) { r.Status.Channels = nil })},
			request:   in(""),
			want:      want{Channel: "regular", Message: "waiting for ModuleReleaseMeta release to be processed"},
		},
		"NoPolicy": {
			reason:    "Without the RolloutPolicy, it is unknown whose turn has come.",
			templates: []v1alpha1.ModuleTemplate{one, two},
			releases: []v1alpha1.ModuleReleaseMeta{with(progressing, func(r *v1alpha1.ModuleReleaseMeta) {
				r.Spec.Channels[0].RolloutPolicy, r.Status.Channels[0].Threshold = "gone", rollout.All
			})},
			request: in("1.0.0"),
			want:    want{Template: one.Name, Channel: "regular", Pending: "2.0.0", Message: "waiting for ModuleReleaseMeta release to be processed"},
		},
		"Contradiction": {
			reason:    "A ModuleTemplate that has the channel with another version is ambiguous.",
			templates: []v1alpha1.ModuleTemplate{regular, two}, releases: []v1alpha1.ModuleReleaseMeta{complete}, request: in("1.0.0"),
			want: want{Channel: "regular", Error: "ModuleReleaseMeta release has version 2.0.0, and ModuleTemplate a-regular1.0.0 has version 1.0.0"},
		},
		"Agreement": {
			reason:    "A ModuleTemplate can have the channel with the same version, for example while the channel moves to a ModuleReleaseMeta.",
			templates: []v1alpha1.ModuleTemplate{newTemplate("a", "regular", "2.0.0")}, releases: []v1alpha1.ModuleReleaseMeta{complete}, request: in("2.0.0"),
			want: want{Template: "a-regular2.0.0", Channel: "regular"},
		},
		"OtherChannelOfTemplate": {
			reason:    "A channel that the ModuleReleaseMeta lacks can come from a ModuleTemplate.",
			templates: []v1alpha1.ModuleTemplate{fast, two}, releases: []v1alpha1.ModuleReleaseMeta{complete}, request: Request{Channel: "fast"},
			want: want{Template: fast.Name, Channel: "fast"},
		},
		"TwoReleases": {
			reason:    "Two ModuleReleaseMetas of a module are ambiguous.",
			templates: []v1alpha1.ModuleTemplate{two},
			releases:  []v1alpha1.ModuleReleaseMeta{complete, with(complete, func(r *v1alpha1.ModuleReleaseMeta) { r.Name = "second" })},
			request:   in("2.0.0"),
			want:      want{Channel: "regular", Error: "ModuleReleaseMetas release and second all release module \"a\""},
		},
		"NotSelected": {
			reason:    "A Kyma that the ModuleReleaseMeta does not select cannot have the module.",
			templates: []v1alpha1.ModuleTemplate{two}, releases: []v1alpha1.ModuleReleaseMeta{with(complete, selects)}, request: in(""),
			want: want{Channel: "regular", Error: "its kymaSelector does not select the labels of the Kyma"},
		},
		"Selected": {
			reason:    "A Kyma that it selects can.",
			templates: []v1alpha1.ModuleTemplate{two}, releases: []v1alpha1.ModuleReleaseMeta{with(complete, selects)},
			request: Request{Channel: "regular", Kyma: rollout.Kyma{Labels: map[string]string{"tier": "gold"}}},
			want:    want{Template: two.Name, Channel: "regular"},
		},
		"Mandatory": {
			reason:    "A mandatory version has effect whatever the Kyma requests.",
			templates: []v1alpha1.ModuleTemplate{one, two}, releases: []v1alpha1.ModuleReleaseMeta{mandatory}, request: Request{Version: "1.0.0"},
			want: want{Template: two.Name, Channel: v1alpha1.MandatoryChannel},
		},
		"InvalidSelector": {
			reason:    "While it is unknown which Kymas a selector means, a module stays as it is.",
			templates: []v1alpha1.ModuleTemplate{two}, releases: []v1alpha1.ModuleReleaseMeta{with(mandatory, breaks)}, request: in("1.0.0"),
			want: want{Channel: "regular", Error: "spec.kymaSelector is not valid, so module \"a\" stays as it is"},
		},
		"NotMandatoryHere": {
			reason:    "Other Kymas can pin the module.",
			templates: []v1alpha1.ModuleTemplate{one, two}, releases: []v1alpha1.ModuleReleaseMeta{with(mandatory, selects)}, request: Request{Version: "1.0.0"},
			want: want{Template: one.Name, AllowsDowngrade: true},
		},
		"Component": {
			reason:    "ModuleTemplates of another component provide no version.",
			templates: []v1alpha1.ModuleTemplate{two},
			releases:  []v1alpha1.ModuleReleaseMeta{with(complete, func(r *v1alpha1.ModuleReleaseMeta) { r.Spec.OCMComponentName = "example.org/b" })},
			request:   in(""),
			want:      want{Channel: "regular", Error: "versions that one provides: none"},
		},
		"Downgrade": {
			reason:    "An annotation of the ModuleReleaseMeta allows a lower version in a channel.",
			templates: []v1alpha1.ModuleTemplate{two, three},
			releases: []v1alpha1.ModuleReleaseMeta{with(complete, func(r *v1alpha1.ModuleReleaseMeta) {
				r.Annotations = map[string]string{v1alpha1.AnnotationAllowDowngrade: "fast@1.0.0, regular@2.0.0"}
			})},
			request: in("3.0.0"),
			want:    want{Template: two.Name, Channel: "regular", AllowsDowngrade: true},
		},
		"RollsBack": {
			reason:    "A rollback is a downgrade that is allowed.",
			templates: []v1alpha1.ModuleTemplate{one, two},
			releases: []v1alpha1.ModuleReleaseMeta{with(progressing, func(r *v1alpha1.ModuleReleaseMeta) {
				r.Status.Channels[0].Phase, r.Status.Channels[0].Wave = v1alpha1.RolloutRollingBack, 1
			})},
			request: in("2.0.0"),
			want:    want{Template: one.Name, Channel: "regular", AllowsDowngrade: true, Message: "is rolled back"},
		},
	}
	policies := map[string]*v1alpha1.RolloutPolicySpec{"waves": {Waves: []v1alpha1.RolloutWave{{
		Name: "canary", Selector: metav1.SetAsLabelSelector(map[string]string{"ring": "canary"}),
	}}}}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &Catalogue{Module: "a", Templates: tc.templates, Releases: tc.releases, Policies: policies}
			choice := c.Select(tc.request)
			got := want{Channel: choice.Channel, Pending: choice.Pending, Message: choice.Message, Error: choice.Error, AllowsDowngrade: choice.AllowsDowngrade}
			if choice.Template != nil {
				got.Template = choice.Template.Name
			}
			if strings.Contains(got.Error, tc.want.Error) && tc.want.Error != "" {
				got.Error = tc.want.Error
			}
			if strings.Contains(got.Message, tc.want.Message) && tc.want.Message != "" {
				got.Message = tc.want.Message
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRequires checks for which Kymas a module is mandatory.
func TestRequires(t *testing.T) {
	valid := metav1.SetAsLabelSelector(map[string]string{"tier": "gold"})
	invalid := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "in", Values: []string{"gold"}}}}
	cases := map[string]struct {
		reason   string
		selector *metav1.LabelSelector
		labels   map[string]string
		origin   v1alpha1.ModuleOrigin
		channels bool
		want     bool
	}{
		"All":         {reason: "Without a selector, all Kymas must have the module.", want: true},
		"Selected":    {reason: "The labels match.", selector: valid, labels: map[string]string{"tier": "gold"}, want: true},
		"NotSelected": {reason: "The labels no longer match.", selector: valid, origin: v1alpha1.ModuleOriginMandatory},
		"Keeps":       {reason: "A mistake in the selector removes no module.", selector: invalid, origin: v1alpha1.ModuleOriginMandatory, want: true},
		"Adds":        {reason: "A mistake in the selector adds no module.", selector: invalid, labels: map[string]string{"tier": "gold"}},
		"Own":         {reason: "The Kyma enables the module itself.", selector: invalid, origin: v1alpha1.ModuleOriginKyma},
		"Channels":    {reason: "A module with channels is not mandatory.", channels: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, k := &v1alpha1.ModuleReleaseMeta{}, &v1alpha1.Kyma{}
			r.Spec.ModuleName, r.Spec.KymaSelector, k.Labels = "a", tc.selector, tc.labels
			if !tc.channels {
				r.Spec.Mandatory = &v1alpha1.Release{Version: "1.0.0"}
			}
			k.Status.AtProvider.Modules = []v1alpha1.ModuleStatus{{Name: "a", Origin: tc.origin}}
			if got := Requires(r, k); got != tc.want {
				t.Errorf("%s\nwant %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestReleasable(t *testing.T) {
	unresolved, refused := newTemplate("a", "", "2.0.0"), newTemplate("a", "", "2.0.0")
	unresolved.Generation = 2
	c := refused.Status.GetCondition(v1alpha1.TypeResolved)
	c.Status, c.Message = corev1.ConditionFalse, "no such host"
	refused.Status.SetConditions(c)
	cases := map[string]struct {
		reason    string
		templates []v1alpha1.ModuleTemplate
		want      string
	}{
		"Resolved":   {reason: "A resolved version can be released.", templates: []v1alpha1.ModuleTemplate{newTemplate("a", "", "2.0.0")}},
		"Missing":    {reason: "A version that no ModuleTemplate provides cannot.", want: "no ModuleTemplate provides version 2.0.0"},
		"Unresolved": {reason: "A ModuleTemplate that has changed is resolved first.", templates: []v1alpha1.ModuleTemplate{unresolved}, want: "waiting for ModuleTemplate a-2.0.0 to be resolved"},
		"Refused":    {reason: "A ModuleTemplate that cannot be resolved is named with the reason.", templates: []v1alpha1.ModuleTemplate{refused}, want: "ModuleTemplate a-2.0.0 is not resolved: no such host"},
		"Other":      {reason: "Another version in a channel of a ModuleTemplate contradicts it.", templates: []v1alpha1.ModuleTemplate{newTemplate("a", "", "2.0.0"), newTemplate("a", "regular", "1.0.0")}, want: "ambiguous in channel"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			release := released("2.0.0", v1alpha1.ChannelRollout{})
			got := (&Catalogue{Module: "a", Templates: Of(tc.templates, "a")}).Releasable(&release, "regular", "2.0.0")
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("%s\nwant %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
