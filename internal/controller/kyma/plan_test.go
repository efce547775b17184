// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
)

func TestPlan(t *testing.T) {
	type want struct {
		action action
		status v1alpha1.ModuleStatus
	}
	usual := map[v1alpha1.State]string{
		v1alpha1.StateReady: "Available", v1alpha1.StateProcessing: "Progressing", v1alpha1.StateWarning: "Unavailable",
		v1alpha1.StateError: "Blocked", v1alpha1.StateDeleting: "Deleting",
	}
	status := func(state v1alpha1.State, version, channel, message string) v1alpha1.ModuleStatus {
		return v1alpha1.ModuleStatus{Name: "a", Manifest: "k-a", State: state, Reason: usual[state], Version: version, Channel: channel, Message: message}
	}
	without := func(state v1alpha1.State, channel, message string) v1alpha1.ModuleStatus {
		return v1alpha1.ModuleStatus{Name: "a", State: state, Reason: usual[state], Channel: channel, Message: message}
	}
	because := func(reason string, s v1alpha1.ModuleStatus) v1alpha1.ModuleStatus {
		s.Reason = reason
		return s
	}
	k, regular, fast := newKyma(v1alpha1.Module{Name: "a"}), newTemplate("a", "regular", "1.0.0"), newTemplate("a", "fast", "2.0.0")
	both := []v1alpha1.ModuleTemplate{regular, fast}
	onFast := newKyma(v1alpha1.Module{Name: "a", Channel: "fast"})
	forced := newKyma(v1alpha1.Module{Name: "a"})
	forced.Annotations = map[string]string{v1alpha1.AnnotationAllowDowngrade: "b@2.0.0, a@1.0.0"}
	blocked := "channel regular has version 1.0.0, which is lower than the installed version 2.0.0, so the module is not changed; " +
		"to downgrade, annotate the Kyma with kyma.m.crossplane.io/allow-downgrade=a@1.0.0"
	only := func(k *v1alpha1.Kyma) *v1alpha1.Kyma {
		k.Spec.ForProvider.Mode = v1alpha1.ModePlan
		return k
	}
	onlyModule := newKyma(v1alpha1.Module{Name: "a", Mode: v1alpha1.ModePlan})
	byPlan := func(version string) func(*v1alpha1.Manifest) {
		return func(m *v1alpha1.Manifest) {
			m.Spec.ForProvider.Mode, m.Status.AtProvider.Version = v1alpha1.ModePlan, version
		}
	}
	failed := func(reason xpv2.ConditionReason, resolved int64) func(*v1alpha1.ModuleTemplate) {
		return func(t *v1alpha1.ModuleTemplate) {
			t.Status.SetConditions(xpv2.Condition{Type: v1alpha1.TypeResolved, Status: corev1.ConditionFalse, Reason: reason, Message: "oh dear"})
			t.Status.ResolvedGeneration = resolved
		}
	}
	cases := map[string]struct {
		reason    string
		kyma      *v1alpha1.Kyma
		templates []v1alpha1.ModuleTemplate
		live      *v1alpha1.Manifest
		foreign   *v1alpha1.Manifest
		want      want
	}{
		"New":          {"A module without a Manifest gets one.", k, both, nil, nil, want{actionCreate, status(v1alpha1.StateProcessing, "1.0.0", "regular", "")}},
		"OwnChannel":   {"The channel of the module comes before that of the Kyma.", onFast, both, nil, nil, want{actionCreate, status(v1alpha1.StateProcessing, "2.0.0", "fast", "")}},
		"Ready":        {"A Manifest as it should be is left.", k, both, installed(k, regular), nil, want{actionNone, status(v1alpha1.StateReady, "1.0.0", "regular", "")}},
		"Warning":      {"The state of the Manifest is that of the module.", k, both, installed(k, regular, in(v1alpha1.StateWarning, "hm")), nil, want{actionNone, status(v1alpha1.StateWarning, "1.0.0", "regular", "hm")}},
		"Error":        {"The error of the Manifest is that of the module.", k, both, installed(k, regular, in(v1alpha1.StateError, "no")), nil, want{actionNone, because("ModuleFailed", status(v1alpha1.StateError, "1.0.0", "regular", "no"))}},
		"Upgrade":      {"A switch to a higher version changes the Manifest.", onFast, both, installed(k, regular), nil, want{actionRollOut, status(v1alpha1.StateProcessing, "1.0.0", "regular", "")}},
		"SwitchBack":   {"A switch to a lower version changes nothing, and says how to force it.", k, both, installed(k, fast), nil, want{actionNone, because("DowngradeBlocked", status(v1alpha1.StateWarning, "2.0.0", "fast", blocked))}},
		"Forced":       {"An annotation that names module and version forces it.", forced, both, installed(k, fast), nil, want{actionRollOut, status(v1alpha1.StateProcessing, "2.0.0", "fast", "")}},
		"BlockedError": {"A worse state is shown instead.", k, both, installed(k, fast, in(v1alpha1.StateError, "no")), nil, want{actionNone, because("ModuleFailed", status(v1alpha1.StateError, "2.0.0", "fast", "no"))}},
		"TemplateLowered": {
			"A template may go back within its channel where it says so.", k,
			[]v1alpha1.ModuleTemplate{newTemplate("a", "regular", "0.9.0", func(t *v1alpha1.ModuleTemplate) {
				t.Annotations = map[string]string{v1alpha1.AnnotationAllowDowngrade: "0.9.0"}
			})},
			installed(k, regular), nil, want{actionRollOut, status(v1alpha1.StateProcessing, "1.0.0", "regular", "")},
		},
		"TemplateMadeAgain": {
			"A template that was made again with a lower version does not lower the module.", k,
			[]v1alpha1.ModuleTemplate{newTemplate("a", "regular", "0.9.0")}, installed(k, regular), nil,
			want{actionNone, because("DowngradeBlocked", status(v1alpha1.StateWarning, "1.0.0", "regular", "channel regular has version 0.9.0, which is lower than the installed version 1.0.0, "+
				"so the module is not changed; to downgrade, annotate the Kyma with kyma.m.crossplane.io/allow-downgrade=a@0.9.0"))},
		},
		"UnknownModule": {"A module without any ModuleTemplate is an error.", k, nil, nil, nil, want{actionNone, without(v1alpha1.StateError, "regular", `no ModuleTemplate provides module "a"; check the name in spec.forProvider.modules`)}},
		"UnknownChannel": {
			"A module does not fall back to another channel, and the channels are listed.", newKyma(v1alpha1.Module{Name: "a", Channel: "beta"}), both, nil, nil,
			want{actionNone, without(v1alpha1.StateError, "beta", `module "a" has no ModuleTemplate in channel "beta"; channels that have one: fast, regular`)},
		},
		"TemplateGone": {"A module that runs continues when its template goes, and says so.", k, nil, installed(k, regular), nil, want{actionNone, status(v1alpha1.StateError, "1.0.0", "regular", `no ModuleTemplate provides module "a"; check the name in spec.forProvider.modules`)}},
		"Ambiguous": {
			"None of two is picked.", k, []v1alpha1.ModuleTemplate{regular, newTemplate("a", "regular", "1.1.0", func(t *v1alpha1.ModuleTemplate) { t.Name = "other" })}, nil, nil,
			want{actionNone, without(v1alpha1.StateError, "regular", `ModuleTemplates a-regular and other all provide module "a" in channel "regular"; delete all but one`)},
		},
		"NotYet": {"A template that is not resolved yet is waited for.", k, []v1alpha1.ModuleTemplate{newTemplate("a", "regular", "1.0.0", func(t *v1alpha1.ModuleTemplate) { t.Status = v1alpha1.ModuleTemplateStatus{} })}, nil, nil, want{actionNone, because("Blocked", without(v1alpha1.StateProcessing, "regular", "waiting for ModuleTemplate a-regular to be resolved"))}},
		"Changing": {
			"What is Ready is not what the template asks for now.", k,
			[]v1alpha1.ModuleTemplate{newTemplate("a", "regular", "1.0.0", func(t *v1alpha1.ModuleTemplate) { t.Generation++ })}, installed(k, regular), nil,
			want{actionNone, because("Blocked", status(v1alpha1.StateProcessing, "1.0.0", "regular", "waiting for ModuleTemplate a-regular to be resolved"))},
		},
		"TemplateGoing": {
			"A template that is being deleted does not count.", k,
			[]v1alpha1.ModuleTemplate{regular, newTemplate("a", "regular", "0.9.0", func(t *v1alpha1.ModuleTemplate) {
				t.Name, t.DeletionTimestamp = "other", &metav1.Time{Time: time.Now()}
			})}, installed(k, regular), nil,
			want{actionNone, status(v1alpha1.StateReady, "1.0.0", "regular", "")},
		},
		"Paused": {
			"A paused Manifest is not reconciled, although its status is that of its present spec.", k, both,
			installed(k, regular, func(m *v1alpha1.Manifest) {
				m.Annotations = map[string]string{meta.AnnotationKeyReconciliationPaused: "true"}
				m.SetConditions(xpv2.ReconcilePaused().WithObservedGeneration(1))
			}), nil, want{actionNone, because("Blocked", status(v1alpha1.StateProcessing, "1.0.0", "regular", "Manifest k-a is paused"))},
		},
		"Unpaused": {
			"It has not been reconciled since the end of the pause.", k, both,
			installed(k, regular, func(m *v1alpha1.Manifest) { m.SetConditions(xpv2.ReconcilePaused().WithObservedGeneration(1)) }), nil,
			want{actionNone, status(v1alpha1.StateProcessing, "1.0.0", "regular", "")},
		},
		"CannotCheck": {
			"What cannot be checked any more is not Ready.", k, both,
			installed(k, regular, func(m *v1alpha1.Manifest) {
				m.SetConditions(xpv2.ReconcileError(errors.New("no")).WithObservedGeneration(1))
			}), nil,
			want{actionNone, status(v1alpha1.StateError, "1.0.0", "regular", "no")},
		},
		"Unlabelled": {
			"A label that the template has no more goes.", k, both,
			installed(k, regular, func(m *v1alpha1.Manifest) { m.Labels[v1alpha1.LabelControllerName] = "old" }), nil,
			want{actionRollOut, status(v1alpha1.StateProcessing, "1.0.0", "regular", "")},
		},
		"Relabelled": {
			"A Manifest of a module that is not wanted is not taken for another one.", newKyma(), nil,
			installed(k, regular, func(m *v1alpha1.Manifest) { m.Labels[v1alpha1.LabelModuleName] = "b" }), nil,
			want{actionDelete, status(v1alpha1.StateDeleting, "1.0.0", "regular", "")},
		},
		"Invalid": {"What is wrong with the template is said.", k, []v1alpha1.ModuleTemplate{newTemplate("a", "regular", "1.0.0", failed(v1alpha1.ReasonInvalid, 0))}, nil, nil, want{actionNone, without(v1alpha1.StateError, "regular", "ModuleTemplate a-regular: oh dear")}},
		"Registry": {"A registry that is down later does not matter.", k, []v1alpha1.ModuleTemplate{newTemplate("a", "regular", "1.0.0", failed(v1alpha1.ReasonResolveFailed, 1))}, installed(k, regular), nil,
			want{actionNone, status(v1alpha1.StateReady, "1.0.0", "regular", "")}},
		"Removing": {"A module that is enabled again waits until what was is gone.", k, both, installed(k, regular, deleted), nil, want{actionNone, status(v1alpha1.StateDeleting, "1.0.0", "regular", "waiting for the previous installation to be removed")}},
		"Released": {
			"So it does where the garbage collector has not come by yet.", k, both,
			installed(k, regular, func(m *v1alpha1.Manifest) {
				meta.AddAnnotations(m, map[string]string{v1alpha1.AnnotationReleasedBy: string(kymaUID)})
				m.OwnerReferences[0].UID = "none"
			}), nil,
			want{actionNone, status(v1alpha1.StateDeleting, "1.0.0", "regular", "waiting for the previous installation to be removed")},
		},
		"ReleasedAndOwned": {
			"An owner that exists is taken away, as the garbage collector would not come by.", k, both,
			installed(k, regular, func(m *v1alpha1.Manifest) {
				meta.AddAnnotations(m, map[string]string{v1alpha1.AnnotationReleasedBy: string(kymaUID)})
			}), nil,
			want{actionPropagate, status(v1alpha1.StateDeleting, "1.0.0", "regular", "waiting for the previous installation to be removed")},
		},
		"Disabled": {"A module that is not wanted is removed, whatever became of its template.", newKyma(), nil, installed(k, regular), nil, want{actionDelete, status(v1alpha1.StateDeleting, "1.0.0", "regular", "")}},
		"PlannedRemoval": {
			"A Kyma that is only planned removes nothing.", only(newKyma()), nil, installed(k, regular, byPlan("1.0.0")), nil,
			want{actionNone, because("Planned", status(v1alpha1.StateProcessing, "1.0.0", "regular", "plan only, nothing is applied: the module would be uninstalled"))},
		},
		"PlannedRemovalBegins": {
			"Its Manifest is planned then, too.", only(newKyma()), nil, installed(k, regular), nil,
			want{actionPropagate, because("Planned", status(v1alpha1.StateProcessing, "1.0.0", "regular", "plan only, nothing is applied: the module would be uninstalled"))},
		},
		"PlannedModule": {
			"A module can be planned by itself.", onlyModule, both, installed(k, regular), nil,
			want{actionPropagate, status(v1alpha1.StateReady, "1.0.0", "regular", "")},
		},
		"PlannedModuleAgain": {
			"A module that is planned stays so, also where nothing can be changed.", onlyModule, both, installed(k, fast, byPlan("2.0.0")), nil,
			want{actionNone, because("DowngradeBlocked", status(v1alpha1.StateWarning, "2.0.0", "fast", blocked))},
		},
		"PlannedModuleMoves": {
			"It is not removed.", onlyModule,
			[]v1alpha1.ModuleTemplate{newTemplate("a", "regular", "1.0.0", func(t *v1alpha1.ModuleTemplate) { t.Spec.Target = v1alpha1.ModuleTargetControlPlane })},
			installed(k, regular, byPlan("1.0.0")), nil,
			want{actionNone, because("Planned", status(v1alpha1.StateProcessing, "1.0.0", "regular", "plan only, nothing is applied: the module would move to another cluster"))},
		},
		"Planned": {
			"A plan changes the Manifest, and not what is Ready.", only(newKyma(v1alpha1.Module{Name: "a"})), both, installed(k, regular), nil,
			want{actionPropagate, status(v1alpha1.StateReady, "1.0.0", "regular", "")},
		},
		"Resumed": {
			"So does the end of a pause, also where the template is not known any more.", k, nil,
			installed(k, regular, func(m *v1alpha1.Manifest) {
				meta.AddAnnotations(m, map[string]string{meta.AnnotationKeyReconciliationPaused: "true", v1alpha1.AnnotationPausedBy: "k"})
			}), nil,
			want{actionPropagate, status(v1alpha1.StateError, "1.0.0", "regular", `no ModuleTemplate provides module "a"; check the name in spec.forProvider.modules`)},
		},
		"ResumedWhileDeleted": {
			"A Manifest that is being deleted would stay without it.", k, both,
			installed(k, regular, deleted, func(m *v1alpha1.Manifest) {
				meta.AddAnnotations(m, map[string]string{meta.AnnotationKeyReconciliationPaused: "true", v1alpha1.AnnotationPausedBy: "k"})
			}), nil,
			want{actionPropagate, status(v1alpha1.StateDeleting, "1.0.0", "regular", "waiting for the previous installation to be removed")},
		},
		"CarriedOut": {
			"What was planned only is carried out.", k, both, installed(k, regular, byPlan("1.0.0")), nil,
			want{actionRollOut, status(v1alpha1.StateProcessing, "1.0.0", "regular", "")},
		},
		"PlannedHigher": {
			"Going back from a version that was only planned does not count as a downgrade.", k, both, installed(k, fast, byPlan("1.0.0")), nil,
			want{actionRollOut, status(v1alpha1.StateProcessing, "2.0.0", "fast", "")},
		},
		"CarriedOutBlocked": {
			"What is installed is carried out, whatever is in the way of something else.", k, both, installed(k, fast, byPlan("2.0.0")), nil,
			want{actionPropagate, because("DowngradeBlocked", status(v1alpha1.StateWarning, "2.0.0", "fast", blocked))},
		},
		"NotCarriedOut": {
			"What is not known to be installed stays planned.", k, nil, installed(k, fast, byPlan("1.0.0")), nil,
			want{actionNone, status(v1alpha1.StateError, "2.0.0", "fast", `no ModuleTemplate provides module "a"; check the name in spec.forProvider.modules`)},
		},
		"BeingGone":   {"A Manifest that is being deleted is not deleted again.", newKyma(), nil, installed(k, regular, deleted, in(v1alpha1.StateWarning, "2 Samples are in the way")), nil, want{actionNone, status(v1alpha1.StateDeleting, "1.0.0", "regular", "2 Samples are in the way")}},
		"StaleStatus": {"What is said of another spec does not count.", k, both, installed(k, regular, func(m *v1alpha1.Manifest) { m.Generation = 2 }), nil, want{actionNone, status(v1alpha1.StateProcessing, "1.0.0", "regular", "")}},
		"Edited":      {"A Manifest that was edited is restored.", k, both, installed(k, regular, func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Installs[0].Namespace = "mine" }), nil, want{actionRollOut, status(v1alpha1.StateProcessing, "1.0.0", "regular", "")}},
		"Adopting":    {"The adoption policy that a user set is left.", k, both, installed(k, regular, func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Adoption = v1alpha1.AdoptionPolicyAdopt }), nil, want{actionNone, status(v1alpha1.StateReady, "1.0.0", "regular", "")}},
		"Moves": {
			"A module that moves is removed first.", k,
			[]v1alpha1.ModuleTemplate{newTemplate("a", "regular", "1.0.0", func(t *v1alpha1.ModuleTemplate) { t.Spec.Target = v1alpha1.ModuleTargetControlPlane })},
			installed(k, regular), nil, want{actionDelete, status(v1alpha1.StateDeleting, "1.0.0", "regular", "moving to another cluster")},
		},
		"Foreign": {
			"A Manifest of another owner stays as it is.", k, both, nil, installed(otherKyma(), regular),
			want{actionNone, v1alpha1.ModuleStatus{
				Name: "a", Channel: "regular", State: v1alpha1.StateError, Reason: "Blocked",
				Message: "Manifest k-a already exists and does not belong to this Kyma, but to Kyma other; delete it, or rename one of the two",
			}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var children []*v1alpha1.Manifest
			if tc.live != nil {
				children = append(children, tc.live)
			}
			p := newPlanner(tc.kyma, tc.templates, children...)
			if tc.foreign != nil {
				tc.foreign.Name = "k-a"
				p.foreign = map[string]*v1alpha1.Manifest{"k-a": tc.foreign}
			}
			steps := p.plan()
			if len(steps) != 1 {
				t.Fatalf("\n%s\nplan(): want one step, got %d", tc.reason, len(steps))
			}
			got := want{steps[0].action, steps[0].status}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nplan(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDemand(t *testing.T) {
	k, regular, fast := newKyma(v1alpha1.Module{Name: "a"}), newTemplate("a", "regular", "1.0.0"), newTemplate("a", "fast", "2.0.0")
	cases := map[string]struct {
		reason string
		kyma   *v1alpha1.Kyma
		live   *v1alpha1.Manifest
		want   demand
	}{
		"New":        {reason: "The Kyma has the module.", kyma: k, want: wanted},
		"Installed":  {reason: "The Kyma still has the module.", kyma: k, live: installed(k, regular), want: wanted},
		"Downgrade":  {reason: "The channel of the module has a lower version.", kyma: k, live: installed(k, fast), want: held},
		"NotWanted":  {reason: "The Kyma does not have the module.", kyma: newKyma(), live: installed(k, fast), want: unwanted},
		"BeingGone":  {reason: "A module that is enabled again is wanted.", kyma: k, live: installed(k, regular, deleted), want: wanted},
		"NoTemplate": {reason: "A module without a ModuleTemplate is wanted.", kyma: newKyma(v1alpha1.Module{Name: "b"}), want: wanted},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var children []*v1alpha1.Manifest
			if tc.live != nil {
				children = append(children, tc.live)
			}
			steps := newPlanner(tc.kyma, []v1alpha1.ModuleTemplate{regular, fast}, children...).plan()
			if len(steps) != 1 || steps[0].demand != tc.want {
				t.Errorf("\n%s\nplan(): want demand %q, got %+v", tc.reason, tc.want, steps)
			}
		})
	}
}

// TestPlanStalled checks which modules are stalled until someone changes something.
func TestPlanStalled(t *testing.T) {
	k, regular, fast := newKyma(v1alpha1.Module{Name: "a"}), newTemplate("a", "regular", "1.0.0"), newTemplate("a", "fast", "2.0.0")
	stalled := func(generation int64) func(*v1alpha1.Manifest) {
		return func(m *v1alpha1.Manifest) {
			in(v1alpha1.StateError, "no")(m)
			conditions.MarkStalled(&m.Status.ConditionedStatus, generation, v1alpha1.ReasonModuleFailed, "no")
		}
	}
	upgraded := newTemplate("a", "regular", "1.1.0")
	unknown := newKyma(v1alpha1.Module{Name: "a", Installs: []v1alpha1.ModuleInstall{{Name: "other"}}})
	cases := map[string]struct {
		reason    string
		kyma      *v1alpha1.Kyma
		templates []v1alpha1.ModuleTemplate
		live      *v1alpha1.Manifest
		foreign   bool
		want      bool
	}{
		"Ready":     {reason: "The module works.", kyma: k, templates: []v1alpha1.ModuleTemplate{regular}, live: installed(k, regular)},
		"Failing":   {reason: "The Manifest may be tried again with success.", kyma: k, templates: []v1alpha1.ModuleTemplate{regular}, live: installed(k, regular, in(v1alpha1.StateError, "no"))},
		"Stalled":   {reason: "The Manifest is stalled.", kyma: k, templates: []v1alpha1.ModuleTemplate{regular}, live: installed(k, regular, stalled(1)), want: true},
		"Changed":   {reason: "The condition is about an earlier generation.", kyma: k, templates: []v1alpha1.ModuleTemplate{regular}, live: installed(k, regular, stalled(0))},
		"Upgrade":   {reason: "Another version may work.", kyma: k, templates: []v1alpha1.ModuleTemplate{upgraded}, live: installed(k, regular, stalled(1))},
		"Downgrade": {reason: "A downgrade must be allowed.", kyma: k, templates: []v1alpha1.ModuleTemplate{regular}, live: installed(k, fast), want: true},
		"Unknown":   {reason: "The Kyma has values for an install that does not exist.", kyma: unknown, templates: []v1alpha1.ModuleTemplate{regular}, want: true},
		"Taken":     {reason: "The Manifest belongs to another owner.", kyma: k, templates: []v1alpha1.ModuleTemplate{regular}, foreign: true, want: true},
		"Waits":     {reason: "A ModuleTemplate can follow.", kyma: k},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var children []*v1alpha1.Manifest
			if tc.live != nil {
				children = append(children, tc.live)
			}
			p := newPlanner(tc.kyma, tc.templates, children...)
			if tc.foreign {
				p.foreign = map[string]*v1alpha1.Manifest{"k-a": installed(k, regular)}
			}
			if steps := p.plan(); len(steps) != 1 || steps[0].stalled != tc.want {
				t.Errorf("\n%s\nplan(): want stalled %t, got %+v", tc.reason, tc.want, steps)
			}
		})
	}
}

func TestUpdateOf(t *testing.T) {
	with := func(annotations map[string]string, mode v1alpha1.Mode, version string) *v1alpha1.Manifest {
		m := &v1alpha1.Manifest{}
		m.Annotations, m.Spec.ForProvider.Mode, m.Spec.ForProvider.Version = annotations, mode, version
		return m
	}
	paused := map[string]string{meta.AnnotationKeyReconciliationPaused: "true", v1alpha1.AnnotationPausedBy: "k"}
	cases := map[string]struct {
		reason        string
		live, desired *v1alpha1.Manifest
		want          action
	}{
		"Content":  {reason: "Different content is rolled out.", live: with(nil, v1alpha1.ModeApply, "1.0.0"), desired: with(nil, v1alpha1.ModeApply, "2.0.0"), want: actionRollOut},
		"Pause":    {reason: "A pause is propagated.", live: with(nil, v1alpha1.ModeApply, "1.0.0"), desired: with(paused, v1alpha1.ModeApply, "1.0.0"), want: actionPropagate},
		"Resume":   {reason: "The end of a pause is propagated.", live: with(paused, v1alpha1.ModeApply, "1.0.0"), desired: with(nil, v1alpha1.ModeApply, "1.0.0"), want: actionPropagate},
		"Plan":     {reason: "Mode Plan is propagated.", live: with(nil, v1alpha1.ModeApply, "1.0.0"), desired: with(nil, v1alpha1.ModePlan, "1.0.0"), want: actionPropagate},
		"Execute":  {reason: "Planned content is rolled out when mode Plan ends.", live: with(nil, v1alpha1.ModePlan, "1.0.0"), desired: with(nil, v1alpha1.ModeApply, "1.0.0"), want: actionRollOut},
		"PlanMore": {reason: "Different content is rolled out, even if it is only planned.", live: with(nil, v1alpha1.ModePlan, "1.0.0"), desired: with(nil, v1alpha1.ModePlan, "2.0.0"), want: actionRollOut},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := updateOf(tc.live, tc.desired); got != tc.want {
				t.Errorf("\n%s\nupdateOf(...): want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}
