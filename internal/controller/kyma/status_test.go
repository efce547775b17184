// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
)

// TestListed checks a Kyma whose modules were replaced repeatedly while their removal is waiting.
func TestListed(t *testing.T) {
	var steps []step
	for i := range 200 {
		d := unwanted
		if i >= 136 {
			d = wanted
		}
		steps = append(steps, step{demand: d, status: v1alpha1.ModuleStatus{Name: fmt.Sprint("m", i)}})
	}
	got := listed(steps)
	names := []string{got[0].Name, got[63].Name, got[64].Name, got[len(got)-1].Name}
	if diff := cmp.Diff([]string{"m0", "m63", "m136", "m199"}, names); diff != "" || len(got) != 128 {
		t.Errorf("listed(...): %d modules, want the first 64 that are being removed and all that are enabled: -want, +got:\n%s", len(got), diff)
	}
}

func TestReport(t *testing.T) {
	one := func(name string, state v1alpha1.State, reason, message string) step {
		return step{demand: wanted, status: v1alpha1.ModuleStatus{Name: name, State: state, Reason: reason, Message: message}}
	}
	not := func(reason xpv2.ConditionReason, message string) xpv2.Condition {
		c := xpv2.Unavailable().WithMessage(message)
		c.Reason = reason
		return c
	}
	disabled := func(name string) step {
		return step{status: v1alpha1.ModuleStatus{Name: name, State: v1alpha1.StateDeleting}}
	}
	type want struct {
		state     v1alpha1.State
		active    string
		ready     string
		condition xpv2.Condition
	}
	cases := map[string]struct {
		reason  string
		steps   []step
		deleted bool
		want    want
	}{
		"None":     {"A Kyma without modules is Ready.", nil, false, want{v1alpha1.StateReady, "regular", "0/0", xpv2.Available()}},
		"AllReady": {"All modules are Ready.", []step{one("a", "Ready", "Available", ""), one("b", "Ready", "Available", "")}, false, want{v1alpha1.StateReady, "regular", "2/2", xpv2.Available()}},
		"Processing": {
			"One that is being installed is named.", []step{one("a", "Ready", "Available", ""), one("b", "Processing", "Progressing", "")}, false,
			want{v1alpha1.StateProcessing, "", "1/2", not("Progressing", "b: is being installed")},
		},
		"Warning": {
			"A warning comes before what is being installed.", []step{one("a", "Processing", "Progressing", "x"), one("b", "Warning", "DowngradeBlocked", "hm")}, false,
			want{v1alpha1.StateWarning, "", "0/2", not("DowngradeBlocked", "b: hm")},
		},
		"Error": {
			"An error comes before a warning, and the first by name before the others.",
			[]step{one("a", "Warning", "RolledBack", "hm"), one("b", "Error", "ModuleFailed", "no"), one("c", "Error", "Blocked", "never")}, false,
			want{v1alpha1.StateError, "", "0/3", not("ModuleFailed", "b: no")},
		},
		"Removing": {
			"A module that is being removed comes first, and does not count.", []step{one("a", "Error", "Blocked", "no"), disabled("b")}, false,
			want{v1alpha1.StateDeleting, "", "0/1", not("Progressing", "b: is being removed")},
		},
		"Old": {
			"A Manifest whose condition an older provider wrote has no reason.", []step{one("a", "Warning", "", "hm")}, false,
			want{v1alpha1.StateWarning, "", "0/1", xpv2.Unavailable().WithMessage("a: hm")},
		},
		"Deleted": {
			"A Kyma that is being deleted is Deleting to the end.", nil, true,
			want{v1alpha1.StateDeleting, "", "0/0", xpv2.Deleting()},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k := newKyma()
			if tc.deleted {
				now := metav1.Now()
				k.DeletionTimestamp = &now
			}
			report(k, tc.steps)
			at := k.Status.AtProvider
			if text := fmt.Sprintf("%d/%d", at.ModuleCounts.Ready, at.ModuleCounts.Total); text != at.ModulesReady {
				t.Errorf("\n%s\nreport(...): the counts are %s, and the text is %s", tc.reason, text, at.ModulesReady)
			}
			got := want{at.State, at.ActiveChannel, at.ModulesReady, k.GetCondition(xpv2.TypeReady)}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{}), cmpopts.IgnoreFields(xpv2.Condition{}, "LastTransitionTime")); diff != "" {
				t.Errorf("\n%s\nreport(...): -want, +got:\n%s", tc.reason, diff)
			}
			if at.Message != tc.want.condition.Message {
				t.Errorf("\n%s\nreport(...): want the message of Ready for compositions, got %q", tc.reason, at.Message)
			}
		})
	}
}

func TestReportTwice(t *testing.T) {
	k := newKyma()
	steps := []step{{demand: wanted, status: v1alpha1.ModuleStatus{Name: "a", State: v1alpha1.StateError, Message: strings.Repeat("ä", conditions.MaxMessage)}}}
	steps[0].fail(steps[0].status.Message)
	report(k, steps)
	first := k.DeepCopy()
	report(k, steps)
	if diff := cmp.Diff(first.Status, k.Status); diff != "" {
		t.Errorf("report(...) of the same again must change nothing: -first, +second:\n%s", diff)
	}
	for _, s := range []string{k.Status.AtProvider.Modules[0].Message, k.GetCondition(xpv2.TypeReady).Message} {
		if len(s) > conditions.MaxMessage || !utf8.ValidString(s) {
			t.Errorf("a message must be cut between characters: %d bytes", len(s))
		}
	}
}

func TestVerified(t *testing.T) {
	child := func(status corev1.ConditionStatus, message string) step {
		m := &v1alpha1.Manifest{}
		if status != "" {
			m.SetConditions(xpv2.Condition{Type: v1alpha1.TypeVerified, Status: status, Reason: "R", Message: message})
		}
		return step{live: m, demand: wanted, status: v1alpha1.ModuleStatus{Name: "a", State: v1alpha1.StateReady}}
	}
	cases := map[string]struct {
		reason string
		steps  []step
		want   xpv2.Condition
	}{
		"NotAsked": {"No Manifest has the condition.", []step{child("", "")}, xpv2.Condition{Type: v1alpha1.TypeVerified, Status: corev1.ConditionUnknown}},
		"True": {
			"All are signed.", []step{child(corev1.ConditionTrue, ""), child("", "")},
			xpv2.Condition{Type: v1alpha1.TypeVerified, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonVerified},
		},
		"False": {
			"One is not, and is named.", []step{child(corev1.ConditionTrue, ""), child(corev1.ConditionFalse, "no signature")},
			xpv2.Condition{Type: v1alpha1.TypeVerified, Status: corev1.ConditionFalse, Reason: "R", Message: "a: no signature"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k := newKyma()
			k.SetConditions(xpv2.Condition{Type: v1alpha1.TypeVerified, Status: corev1.ConditionFalse, Reason: "Old"})
			report(k, tc.steps)
			got := k.GetCondition(v1alpha1.TypeVerified)
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(xpv2.Condition{}, "LastTransitionTime")); diff != "" {
				t.Errorf("\n%s\nreport(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestStatusOfGeneration checks that the status of an old generation of a Manifest does not make a module Ready.
func TestStatusOfGeneration(t *testing.T) {
	seen := func(ready, synced int64) func(*v1alpha1.Manifest) {
		return func(m *v1alpha1.Manifest) {
			m.Generation = 2
			m.Status.Conditions = nil
			m.SetConditions(xpv2.Available().WithObservedGeneration(ready), xpv2.ReconcileSuccess().WithObservedGeneration(synced))
		}
	}
	cases := map[string]struct {
		reason string
		change func(*v1alpha1.Manifest)
		want   v1alpha1.State
		why    string
	}{
		"Both":  {"Ready and Synced are of the current generation of the Manifest.", seen(2, 2), v1alpha1.StateReady, "Available"},
		"None":  {"Neither Ready nor Synced is of the current generation.", seen(1, 1), v1alpha1.StateProcessing, "Progressing"},
		"Ready": {"Only Ready is of an earlier generation, as after a pass that ended before the observation.", seen(1, 2), v1alpha1.StateProcessing, "Progressing"},
		"Old":   {"If an older provider wrote Ready without a generation, that of Synced counts.", seen(0, 2), v1alpha1.StateReady, "Available"},
		"Failed": {"A Manifest that cannot be observed is in an error.", func(m *v1alpha1.Manifest) {
			seen(1, 2)(m)
			m.SetConditions(xpv2.ReconcileError(errors.New("no")).WithObservedGeneration(2))
		}, v1alpha1.StateError, "Blocked"},
		"Planned": {"The reason of the Manifest is that of the module.", func(m *v1alpha1.Manifest) {
			m.Status.AtProvider.State = v1alpha1.StateProcessing
			m.SetConditions(xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: v1alpha1.ReasonPlanned, ObservedGeneration: 1})
		}, v1alpha1.StateProcessing, "Planned"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := installed(newKyma(), newTemplate("a", "regular", "1.0.0"), tc.change)
			if got := statusOf(m); got.State != tc.want || got.Reason != tc.why {
				t.Errorf("\n%s\nstatusOf(...): want %s, %s, got %s, %s", tc.reason, tc.want, tc.why, got.State, got.Reason)
			}
		})
	}
}

// TestReportGeneration checks that each condition contains the processed generation, even if the condition existed before.
func TestReportGeneration(t *testing.T) {
	cases := map[string]struct {
		reason string
		state  v1alpha1.State
		delete bool
	}{
		"Ready":    {"What is Ready again is so in this generation.", v1alpha1.StateReady, false},
		"NotReady": {"What is not is not in this generation.", v1alpha1.StateProcessing, false},
		"Deleting": {"What goes does.", v1alpha1.StateDeleting, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k := newKyma()
			// Older versions of the provider wrote no generation.
			m := &v1alpha1.Manifest{}
			m.SetConditions(verifiedCondition(corev1.ConditionTrue, v1alpha1.ReasonVerified, ""))
			steps := []step{{live: m, demand: wanted, status: v1alpha1.ModuleStatus{Name: "a", State: tc.state}}}
			report(k, steps)
			before := k.GetCondition(xpv2.TypeReady)
			k.Generation = 7
			if tc.delete {
				now := metav1.Now()
				k.DeletionTimestamp = &now
			}
			report(k, steps)
			for _, c := range []xpv2.ConditionType{xpv2.TypeReady, v1alpha1.TypeVerified} {
				if got := k.GetCondition(c).ObservedGeneration; got != 7 {
					t.Errorf("\n%s\nreport(...): condition %s is of generation %d, want 7", tc.reason, c, got)
				}
			}
			if after := k.GetCondition(xpv2.TypeReady); after.Status == before.Status && after.Reason == before.Reason && !after.LastTransitionTime.Equal(&before.LastTransitionTime) {
				t.Errorf("\n%s\nreport(...): a new generation does not count as a transition", tc.reason)
			}
			if k.Status.ObservedGeneration != 7 {
				t.Errorf("\n%s\nreport(...): status.observedGeneration is %d, want 7", tc.reason, k.Status.ObservedGeneration)
			}
		})
	}
}

// TestStalled checks in which cases a Kyma is stalled, and the message.
func TestStalled(t *testing.T) {
	one := func(name string, state v1alpha1.State, reason xpv2.ConditionReason, stalled bool) step {
		return step{demand: wanted, stalled: stalled, status: v1alpha1.ModuleStatus{Name: name, State: state, Reason: string(reason), Message: "no"}}
	}
	waits := one("a", v1alpha1.StateError, v1alpha1.ReasonBlocked, false)
	fails := one("b", v1alpha1.StateError, v1alpha1.ReasonModuleFailed, true)
	removed := one("c", v1alpha1.StateError, v1alpha1.ReasonModuleFailed, true)
	removed.demand = unwanted
	cases := map[string]struct {
		reason  string
		steps   []step
		deleted bool
		want    string
	}{
		"Waits":   {reason: "A module that waits can continue.", steps: []step{waits}},
		"Fails":   {reason: "A module that failed is named, although another one comes first.", steps: []step{waits, fails}, want: "ModuleFailed b: no"},
		"Removed": {reason: "A module that the Kyma no longer has does not count.", steps: []step{removed}},
		"Deleted": {reason: "A Kyma that is being deleted is not stalled.", steps: []step{fails}, deleted: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k := newKyma()
			report(k, []step{fails})
			if tc.deleted {
				now := metav1.Now()
				k.DeletionTimestamp = &now
			}
			report(k, tc.steps)
			got, c := "", k.GetCondition(v1alpha1.TypeStalled)
			if c.Status == corev1.ConditionTrue {
				got = string(c.Reason) + " " + c.Message
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nreport(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
