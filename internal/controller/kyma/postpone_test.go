// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/maintenance"
)

// noon is the current time of the tests of upgrades that wait.
func noon() time.Time { return time.Date(2026, time.November, 27, 12, 0, 0, 0, time.UTC) }

// nightly adds a maintenance window that is closed at noon.
func nightly(k *v1alpha1.Kyma) {
	k.Spec.ForProvider.MaintenanceWindows = []v1alpha1.MaintenanceWindow{{
		Schedule: "0 2 * * *", TimeZone: "Europe/Berlin", Duration: metav1.Duration{Duration: 2 * time.Hour},
	}}
}

// changed returns a Kyma with the module a, after changes.
func changed(module v1alpha1.Module, change ...func(*v1alpha1.Kyma)) *v1alpha1.Kyma {
	module.Name = "a"
	k := newKyma(module)
	for _, f := range change {
		f(k)
	}
	return k
}

func TestPostpone(t *testing.T) {
	type want struct {
		action  action
		version string
		state   v1alpha1.State
		pending string
		message string
		wake    string
	}
	const (
		window = "upgrade to 1.1.0 waits for the maintenance window at 2026-11-28 02:00 Europe/Berlin"
		alone  = "; other changes to the module wait too, because no ModuleTemplate has version 1.0.0"
		opens  = "2026-11-28T01:00:00Z"
	)
	was, is, fast := newTemplate("a", "regular", "1.0.0"), newTemplate("a", "regular", "1.1.0"), newTemplate("a", "fast", "1.1.0")
	side := newTemplate("a", "", "1.0.0")
	upgrade := []v1alpha1.ModuleTemplate{is}
	live := installed(newKyma(), was)
	now := func(reason string) func(*v1alpha1.Kyma) {
		return func(k *v1alpha1.Kyma) { k.Annotations = map[string]string{v1alpha1.AnnotationUpgradeNow: reason} }
	}
	deferred := func(until time.Time) func(*v1alpha1.Kyma) {
		return func(k *v1alpha1.Kyma) { k.Spec.ForProvider.DeferUpgradesUntil = &metav1.Time{Time: until} }
	}
	invalid := func(k *v1alpha1.Kyma) {
		nightly(k)
		k.Spec.ForProvider.MaintenanceWindows[0].TimeZone = "Europe/Berlni"
	}
	moved := func(k *v1alpha1.Kyma) {
		ref := *k.Spec.ProviderConfigReference
		ref.Name = "other"
		k.Spec.ProviderConfigReference = &ref
	}
	plan := func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Mode = v1alpha1.ModePlan }
	upgraded := want{actionRollOut, "1.1.0", v1alpha1.StateProcessing, "", "", ""}
	cases := map[string]struct {
		reason    string
		kyma      *v1alpha1.Kyma
		templates []v1alpha1.ModuleTemplate
		live      *v1alpha1.Manifest
		want      want
	}{
		"Closed":       {"While the window is closed, the module keeps its version, and is Ready.", changed(v1alpha1.Module{}, nightly), upgrade, live, want{actionNone, "", v1alpha1.StateReady, "1.1.0", window + alone, opens}},
		"NoWindow":     {"Without windows, an upgrade begins at once.", changed(v1alpha1.Module{}), upgrade, live, upgraded},
		"FirstInstall": {"A first install does not wait.", changed(v1alpha1.Module{}, nightly), upgrade, nil, want{actionCreate, "1.1.0", v1alpha1.StateProcessing, "", "", ""}},
		"SameVersion": {
			"A change of the content of the same version does not wait.", changed(v1alpha1.Module{}, nightly),
			[]v1alpha1.ModuleTemplate{newTemplate("a", "regular", "1.0.0", func(t *v1alpha1.ModuleTemplate) {
				t.Spec.Data = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}`)}
				t.Status.Resources[0].Source.Ref = strings.Replace(digest, "0", "f", 1)
			})}, live, want{actionRollOut, "1.0.0", v1alpha1.StateProcessing, "", "", ""},
		},
		"Values": {
			"A change of values waits too if no template has the installed version.",
			changed(v1alpha1.Module{Values: &runtime.RawExtension{Raw: []byte(`{"b":1}`)}}, nightly), upgrade, live,
			want{actionNone, "", v1alpha1.StateReady, "1.1.0", window + alone, opens},
		},
		"ValuesSideBySide": {
			"A change of values applies to the installed version if its template exists.",
			changed(v1alpha1.Module{Values: &runtime.RawExtension{Raw: []byte(`{"b":1}`)}}, nightly), []v1alpha1.ModuleTemplate{is, side}, live,
			want{actionRollOut, "1.0.0", v1alpha1.StateProcessing, "1.1.0", "", opens},
		},
		"OtherChannelSideBySide": {
			"A template of another channel does not replace that of the installed version.", changed(v1alpha1.Module{}, nightly),
			[]v1alpha1.ModuleTemplate{is, newTemplate("a", "fast", "1.0.0")}, live,
			want{actionNone, "", v1alpha1.StateReady, "1.1.0", window + alone, opens},
		},
		"SwitchedChannel": {"The owner of the Kyma switched the channel, so the upgrade does not wait.", changed(v1alpha1.Module{Channel: "fast"}, nightly), []v1alpha1.ModuleTemplate{was, fast}, live, upgraded},
		"Moved":           {"A move to another cluster does not wait.", changed(v1alpha1.Module{}, nightly, moved), upgrade, live, want{actionDelete, "", v1alpha1.StateDeleting, "", "moving to another cluster", ""}},
		"WasPlanned":      {"To execute a plan is a request of the owner of the Kyma.", changed(v1alpha1.Module{}, nightly), upgrade, installed(newKyma(), is, plan), want{actionRollOut, "1.1.0", v1alpha1.StateProcessing, "", "", ""}},
		"Planned":         {"A plan shows the upgrade before the window opens.", changed(v1alpha1.Module{Mode: v1alpha1.ModePlan}, nightly), upgrade, live, want{actionRollOut, "1.1.0", v1alpha1.StateProcessing, "", "", ""}},
		"Downgrade": {
			"A downgrade that was requested explicitly does not wait.", changed(v1alpha1.Module{}, nightly),
			[]v1alpha1.ModuleTemplate{newTemplate("a", "regular", "0.9.0", func(t *v1alpha1.ModuleTemplate) {
				t.Annotations = map[string]string{v1alpha1.AnnotationAllowDowngrade: "0.9.0"}
			})}, live, want{actionRollOut, "0.9.0", v1alpha1.StateProcessing, "", "", ""},
		},
		"Urgent":   {"An annotation with a reason lets the upgrade begin.", changed(v1alpha1.Module{}, nightly, now("CVE-2026-1")), upgrade, live, upgraded},
		"Blank":    {"An annotation without a reason does not.", changed(v1alpha1.Module{}, nightly, now(" ")), upgrade, live, want{actionNone, "", v1alpha1.StateReady, "1.1.0", window + alone, opens}},
		"Deferred": {"A deferral keeps the version until it ends.", changed(v1alpha1.Module{}, deferred(noon().Add(time.Hour))), upgrade, live, want{actionNone, "", v1alpha1.StateReady, "1.1.0", "upgrade to 1.1.0 is deferred until 2026-11-27T13:00:00Z" + alone, "2026-11-27T13:00:00Z"}},
		"Over":     {"A deferral that is over does not.", changed(v1alpha1.Module{}, deferred(noon())), upgrade, live, upgraded},
		"Failed":   {"The message of a module that failed is not replaced.", changed(v1alpha1.Module{}, nightly), upgrade, installed(newKyma(), was, in(v1alpha1.StateError, "oh dear")), want{actionNone, "", v1alpha1.StateError, "1.1.0", "oh dear", opens}},
		"Invalid": {
			"A window that is invalid is closed, and the message says what to correct.", changed(v1alpha1.Module{}, invalid), upgrade, live,
			want{actionNone, "", v1alpha1.StateError, "1.1.0", `upgrade to 1.1.0 waits: spec.forProvider.maintenanceWindows[0]: timeZone "Europe/Berlni" is unknown; use a name of the IANA time zone database, such as Europe/Berlin`, ""},
		},
		"InvalidUrgent": {"An urgent upgrade does not need a valid window.", changed(v1alpha1.Module{}, invalid, now("CVE-2026-1")), upgrade, live, upgraded},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := newPlanner(tc.kyma, tc.templates)
			if tc.live != nil {
				p = newPlanner(tc.kyma, tc.templates, tc.live)
			}
			p.now = noon()
			s := p.plan()[0]
			got := want{action: s.action, state: s.status.State, pending: s.status.PendingVersion, message: s.status.Message}
			if s.desired != nil && s.action != actionDelete {
				got.version = s.desired.Spec.ForProvider.Version
			}
			if !s.wake.IsZero() {
				got.wake = s.wake.UTC().Format(time.RFC3339)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("%s\nplan(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPostponeReleased checks that the RolloutPolicy of a ModuleReleaseMeta limits a deferral, and that the module follows the template
// of the installed version until then.
func TestPostponeReleased(t *testing.T) {
	started := metav1.NewTime(noon().Add(-time.Hour))
	k := changed(v1alpha1.Module{}, nightly, func(k *v1alpha1.Kyma) {
		k.Spec.ForProvider.MaintenanceWindows = nil
		k.Spec.ForProvider.DeferUpgradesUntil = &metav1.Time{Time: noon().AddDate(1, 0, 0)}
	})
	release := v1alpha1.ModuleReleaseMeta{}
	release.Name, release.Spec.ModuleName = "a", "a"
	release.Spec.Channels = []v1alpha1.ChannelRelease{{Channel: "regular", Release: v1alpha1.Release{Version: "1.1.0", RolloutPolicy: "careful"}}}
	release.Status.Channels = []v1alpha1.ChannelRollout{{Channel: "regular", Version: "1.1.0", Phase: v1alpha1.RolloutComplete, StartedAt: &started}}
	cases := map[string]struct {
		reason string
		most   *metav1.Duration
		want   string
	}{
		"Limited":    {"The deferral ends when the policy says so.", &metav1.Duration{Duration: 3 * time.Hour}, "upgrade to 1.1.0 is deferred until 2026-11-27T14:00:00Z"},
		"Over":       {"The time counts from the start of the rollout.", &metav1.Duration{Duration: time.Hour}, ""},
		"NotAllowed": {"By default, a policy allows no deferral.", nil, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := newPlanner(k, []v1alpha1.ModuleTemplate{newTemplate("a", "", "1.0.0"), newTemplate("a", "", "1.1.0")}, installed(newKyma(), newTemplate("a", "regular", "1.0.0")))
			p.now = noon()
			c := p.catalogues["a"]
			c.Releases, c.Policies = []v1alpha1.ModuleReleaseMeta{release}, map[string]*v1alpha1.RolloutPolicySpec{"careful": {MaxDeferral: tc.most}}
			s := p.plan()[0]
			if version := s.status.PendingVersion; s.status.Message != tc.want || (version == "1.1.0") != (tc.want != "") || (s.action == actionRollOut) != (tc.want == "") {
				t.Errorf("%s\nplan(): want %q, got %s, pending %q: %q", tc.reason, tc.want, s.action, version, s.status.Message)
			}
		})
	}
}

// TestPostponeMandatory checks that an upgrade waits for a window if the platform team makes another version mandatory.
func TestPostponeMandatory(t *testing.T) {
	release := v1alpha1.ModuleReleaseMeta{}
	release.Name, release.Spec.ModuleName, release.Spec.Mandatory = "a", "a", &v1alpha1.Release{Version: "1.1.0"}
	release.Status.Channels = []v1alpha1.ChannelRollout{{Channel: v1alpha1.MandatoryChannel, Version: "1.1.0", Phase: v1alpha1.RolloutComplete}}
	was := newTemplate("a", "", "1.0.0")
	p := newPlanner(changed(v1alpha1.Module{}, nightly), []v1alpha1.ModuleTemplate{was, newTemplate("a", "", "1.1.0")},
		installed(newKyma(), newTemplate("a", "regular", "1.0.0")))
	p.now, p.mandatory = noon(), map[string]bool{"a": true}
	p.catalogues["a"].Releases = []v1alpha1.ModuleReleaseMeta{release}
	if s := p.plan()[0]; s.status.PendingVersion != "1.1.0" || s.action == actionRollOut && s.desired.Spec.ForProvider.Version != "1.0.0" {
		t.Errorf("plan(): want the upgrade to wait, got %s: %+v", s.action, s.status)
	}
}

// TestPostponePropagates checks that a Manifest whose upgrade waits still gets what its Kyma propagates.
func TestPostponePropagates(t *testing.T) {
	k := changed(v1alpha1.Module{}, nightly)
	p := newPlanner(k, []v1alpha1.ModuleTemplate{newTemplate("a", "regular", "1.1.0")}, installed(newKyma(), newTemplate("a", "regular", "1.0.0")))
	p.now, p.intent.newCluster = noon(), "uid-of-the-new-cluster"
	s := p.plan()[0]
	if s.action != actionPropagate || s.desired.Spec.ForProvider.Version != "1.0.0" || s.desired.Annotations[v1alpha1.AnnotationClusterChanged] == "" {
		t.Errorf("want the annotation and the installed version, got %s of %v", s.action, s.desired)
	}
}

// TestUrgencyIsRecorded checks that the event of an urgent upgrade contains its reason.
func TestUrgencyIsRecorded(t *testing.T) {
	k := changed(v1alpha1.Module{}, nightly)
	k.Annotations = map[string]string{v1alpha1.AnnotationUpgradeNow: "CVE-2026-1"}
	r := newRecorder()
	e := newExternal(&server{}, r, nil, []v1alpha1.ModuleTemplate{newTemplate("a", "regular", "1.1.0")}, installed(newKyma(), newTemplate("a", "regular", "1.0.0")))
	e.connector.now = noon
	if _, err := e.Observe(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Update(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(*r.messages, "\n"); !strings.Contains(got, "1.1.0") || !strings.Contains(got, "because of: CVE-2026-1") {
		t.Errorf("want an event with the reason, got %q", got)
	}
}

// TestWakeUp checks that a Kyma is reconciled again when its first upgrade may begin, and that nothing else changes the delay.
func TestWakeUp(t *testing.T) {
	k := changed(v1alpha1.Module{}, nightly)
	delay := maintenance.Delay(k)
	at := noon().Add(time.Minute)
	cases := map[string]struct {
		reason string
		steps  []step
		poll   time.Duration
		want   time.Duration
	}{
		"Nothing": {"Without an upgrade that waits, the poll interval stays.", []step{{}}, time.Hour, time.Hour},
		"First":   {"The first of several upgrades counts.", []step{{wake: at.Add(time.Hour)}, {wake: at}, {}}, time.Hour, time.Minute + delay},
		"Later":   {"A poll that comes earlier stays.", []step{{wake: at}}, time.Second, time.Second},
		"NoPoll":  {"An upgrade needs no poll.", []step{{wake: at}}, 0, time.Minute + delay},
		"Past":    {"A time that has passed in the meantime causes a reconcile soon.", []step{{wake: noon().Add(-time.Minute)}}, time.Hour, conflictRetry},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := &wakeUp{}
			requestWakeUp(context.WithValue(t.Context(), wakeUpKey{}, w), k, tc.steps)
			if got := w.limit(tc.poll, noon()); got != tc.want {
				t.Errorf("%s\nlimit(...): want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}

// TestInvalidWindowStalls checks that a Kyma with an invalid window is stalled although its modules are Ready, and no longer once it is
// corrected.
func TestInvalidWindowStalls(t *testing.T) {
	k := changed(v1alpha1.Module{}, nightly)
	k.Spec.ForProvider.MaintenanceWindows[0].Schedule = "0 2 * *"
	report(k, nil)
	if st := k.Status.AtProvider.Stalled; st == nil || !strings.Contains(st.Message, "maintenanceWindows[0]: schedule") {
		t.Errorf("want the window as the reason, got %v", st)
	}
	nightly(k)
	report(k, nil)
	if st := k.Status.AtProvider.Stalled; st != nil {
		t.Errorf("want a Kyma that is not stalled, got %v", st)
	}
}
