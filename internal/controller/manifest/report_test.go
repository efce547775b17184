// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/advice"
	"github.com/crossplane-contrib/provider-kyma/internal/render/sandbox"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

func TestReport(t *testing.T) {
	cases := map[string]struct {
		reason string
		o      engine.Observation
		want   v1alpha1.ManifestObservation
		ready  corev1.ConditionStatus
	}{
		"Ready": {
			reason: "A ready Manifest has no message, and reports the version of its first chart.",
			o: engine.Observation{State: engine.Ready, Ready: 2, Total: 2, Parts: []engine.PartState{
				{Kind: engine.PartKindCRDs, State: engine.Ready}, {Install: "a", State: engine.Ready, Version: "1.0.0"}, {Install: "b", State: engine.Ready, Version: "2.0.0"}, {Kind: engine.PartKindResource, State: engine.Ready},
			}},
			want: v1alpha1.ManifestObservation{
				State: v1alpha1.StateReady, Version: "1.0.0", Resources: &v1alpha1.ResourceCounts{Ready: 2, Total: 2},
				Installs: []v1alpha1.InstallStatus{
					{Name: "crds", State: v1alpha1.StateReady},
					{Name: "a", State: v1alpha1.StateReady, Version: "1.0.0"},
					{Name: "b", State: v1alpha1.StateReady, Version: "2.0.0"},
					{Name: "resource", State: v1alpha1.StateReady},
				},
			},
			ready: corev1.ConditionTrue,
		},
		"Unwatched": {
			reason: "Kinds that aren't watched are reported as a note, not as an error.",
			o:      engine.Observation{State: engine.Ready, Unwatched: []string{(&cluster.TooManyError{Kind: "ConfigMap", Selector: "a=b", Objects: 20, Bytes: 1 << 20}).Error()}},
			want: v1alpha1.ManifestObservation{
				State: v1alpha1.StateReady, Resources: &v1alpha1.ResourceCounts{},
				Message: "objects of kind ConfigMap with label a=b are not watched, because there are too many or they are too large (the maximum is " +
					"20 objects or 1 MiB); they are read one by one: delete the ones that do not belong to a module",
			},
			ready: corev1.ConditionTrue,
		},
		"Ceded": {
			reason: "Fields of other managers are always listed in the same order.",
			o: engine.Observation{State: engine.Ready, Ceded: []engine.CededField{
				{Key: cluster.ObjectRef{Kind: "ConfigMap", Namespace: "x", Name: "b"}, Field: "data.k", Contended: true},
				{Key: cluster.ObjectRef{Group: "apps", Kind: "Deployment", Namespace: "x", Name: "a"}, Field: "spec.replicas", Manager: "hpa"},
				{Key: cluster.ObjectRef{Kind: "ConfigMap", Namespace: "x", Name: "a"}, Field: "data.k", Manager: "them", Contended: true},
			}},
			want: v1alpha1.ManifestObservation{
				State: v1alpha1.StateReady, Resources: &v1alpha1.ResourceCounts{},
				CededFields: []v1alpha1.CededField{
					{ObjectReference: v1alpha1.ObjectReference{Kind: "ConfigMap", Namespace: "x", Name: "a"}, Field: "data.k", Manager: "them", Cause: "Conflict"},
					{ObjectReference: v1alpha1.ObjectReference{Kind: "ConfigMap", Namespace: "x", Name: "b"}, Field: "data.k", Cause: "Conflict"},
					{ObjectReference: v1alpha1.ObjectReference{Group: "apps", Kind: "Deployment", Namespace: "x", Name: "a"}, Field: "spec.replicas", Manager: "hpa", Cause: "Convention"},
				},
			},
			ready: corev1.ConditionTrue,
		},
		"CededMany": {
			reason: "Fields that are not listed are counted.",
			o:      engine.Observation{State: engine.Ready, Ceded: make([]engine.CededField, mostCeded+2)},
			want: v1alpha1.ManifestObservation{
				State: v1alpha1.StateReady, Resources: &v1alpha1.ResourceCounts{}, OmittedCededFields: 2,
				CededFields: slices.Repeat([]v1alpha1.CededField{{Cause: "Convention"}}, mostCeded),
			},
			ready: corev1.ConditionTrue,
		},
		"Cluster": {
			reason: "A cluster that has the inventory is reported as the cluster of the module.",
			o:      engine.Observation{Exists: true, State: engine.Ready, ClusterUID: "a"},
			want:   v1alpha1.ManifestObservation{State: v1alpha1.StateReady, ClusterUID: "a", Resources: &v1alpha1.ResourceCounts{}},
			ready:  corev1.ConditionTrue,
		},
		"ClusterPlanned": {
			reason: "In mode Plan, nothing is installed in the cluster yet.",
			o:      engine.Observation{State: engine.Processing, ClusterUID: "a"},
			want:   v1alpha1.ManifestObservation{State: v1alpha1.StateProcessing, Resources: &v1alpha1.ResourceCounts{}},
			ready:  corev1.ConditionFalse,
		},
		"Warning": {
			reason: "The condition Ready is True only if the module is ready.",
			o:      engine.Observation{State: engine.Warning, Message: "a: look here"},
			want: v1alpha1.ManifestObservation{
				State: v1alpha1.StateWarning, Message: "a: look here", Resources: &v1alpha1.ResourceCounts{},
			},
			ready: corev1.ConditionFalse,
		},
		"Long": {
			reason: "The API server accepts the status, whatever the messages of a target cluster or chart contain.",
			o: engine.Observation{
				State: engine.Error, Message: strings.Repeat("m", 2000), TestToken: strings.Repeat("t", 2000),
				Parts: []engine.PartState{{Install: "a", State: engine.Error, Version: strings.Repeat("1", 300), Message: strings.Repeat("i", 2000)}},
			},
			want: v1alpha1.ManifestObservation{
				State: v1alpha1.StateError, Version: strings.Repeat("1", 252) + "…", Message: strings.Repeat("m", 1021) + "…",
				Installs: []v1alpha1.InstallStatus{{
					Name: "a", State: v1alpha1.StateError, Version: strings.Repeat("1", 252) + "…", Message: strings.Repeat("i", 1021) + "…",
				}},
				Resources: &v1alpha1.ResourceCounts{}, Tests: &v1alpha1.TestsStatus{Token: strings.Repeat("t", 1021) + "…", State: v1alpha1.StateReady},
			},
			ready: corev1.ConditionFalse,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mr := &v1alpha1.Manifest{}
			r := &reporter{}
			r.observation(mr, tc.o)
			if diff := cmp.Diff(tc.want, mr.Status.AtProvider); diff != "" {
				t.Errorf("\n%s\nobservation(...): -want, +got:\n%s", tc.reason, diff)
			}
			c := mr.GetCondition(xpv2.TypeReady)
			if c.Status != tc.ready || c.Message != tc.want.Message {
				t.Errorf("\n%s\nobservation(...): condition %v", tc.reason, c)
			}
			before := mr.DeepCopy()
			r.observation(mr, tc.o)
			if diff := cmp.Diff(before, mr); diff != "" {
				t.Errorf("\n%s\nobservation(...) again must change nothing: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReportFailure(t *testing.T) {
	mr := &v1alpha1.Manifest{}
	(&reporter{}).observation(mr, engine.Observation{State: engine.Ready, Total: 3, Ready: 3})
	_ = (&reporter{}).failure(mr, errors.New(strings.Repeat("x", 5000)))
	if got := mr.Status.AtProvider; got.State != v1alpha1.StateError || len(got.Message) != conditions.MaxMessage || got.Resources == nil {
		t.Errorf("failure(...): %v", got)
	}
	if c := mr.GetCondition(xpv2.TypeReady); c.Status != corev1.ConditionFalse {
		t.Errorf("what cannot be seen must not be called ready: %v", c)
	}
}

// TestReportBusy checks that a Manifest whose chart waits for other renderings is not in state Error: nothing is wrong with its version,
// so a rollout must not count it as failed.
func TestReportBusy(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   v1alpha1.State
	}{
		"Busy":   {reason: "It waits.", err: &sandbox.Error{Reason: sandbox.ReasonBusy, Subject: "x", Detail: "waits"}, want: v1alpha1.StateProcessing},
		"Memory": {reason: "The chart may be wrong.", err: &sandbox.Error{Reason: sandbox.ReasonMemory}, want: v1alpha1.StateError},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mr := &v1alpha1.Manifest{}
			if err := (&reporter{}).failure(mr, errors.Wrap(tc.err, "cannot observe")); err == nil {
				t.Error("failure(...): want an error for the condition Synced")
			}
			if got := mr.Status.AtProvider.State; got != tc.want {
				t.Errorf("%s\nfailure(...): want state %s, got %s", tc.reason, tc.want, got)
			}
			if c := mr.GetCondition(xpv2.TypeReady); c.Status != corev1.ConditionFalse {
				t.Errorf("what cannot be seen must not be called ready: %v", c)
			}
		})
	}
}

// TestReportWrongCluster checks that if the credentials of a Manifest lead to a different cluster, its status still describes
// its own cluster, and its message explains the problem.
func TestReportWrongCluster(t *testing.T) {
	wrong := &engine.WrongClusterError{Expected: "a", Found: "b", Messages: advice.Messages()}
	const message = "the module is installed in the cluster with UID a, but the credentials are for the cluster with UID b; neither cluster is " +
		"changed: restore the credentials, or, to continue in the other cluster, set annotation kyma.m.crossplane.io/cluster-changed of the Manifest to b"
	mr := named("n", "m")
	r := &reporter{}
	r.observation(mr, engine.Observation{Exists: true, State: engine.Ready, ClusterUID: "a"})
	if err := r.failure(mr, errors.Wrap(wrong, "cannot observe")); err == nil {
		t.Error("failure(...): want an error for the condition Synced")
	}
	type seen struct {
		UID, Message string
		Reason       xpv2.ConditionReason
	}
	of := func() seen {
		return seen{UID: mr.Status.AtProvider.ClusterUID, Message: mr.Status.AtProvider.Message, Reason: mr.GetCondition(xpv2.TypeReady).Reason}
	}
	if diff := cmp.Diff(seen{UID: "a", Message: "cannot observe: " + message, Reason: v1alpha1.ReasonWrongCluster}, of()); diff != "" {
		t.Errorf("failure(...): -want, +got:\n%s", diff)
	}
	if r.blocked(mr, removalAfter(wrong), wrong) {
		t.Error("blocked(...): the finalizer must stay")
	}
	if diff := cmp.Diff(seen{UID: "a", Message: message + hintAbandon, Reason: v1alpha1.ReasonWrongCluster}, of()); diff != "" {
		t.Errorf("blocked(...): -want, +got:\n%s", diff)
	}
}

// TestGeneration checks that each condition contains the processed generation, even if the condition existed before.
func TestGeneration(t *testing.T) {
	cases := map[string]struct {
		reason string
		report func(mr *v1alpha1.Manifest)
		c      xpv2.ConditionType
	}{
		"Ready": {"What is Ready.", func(mr *v1alpha1.Manifest) { (&reporter{}).observation(mr, engine.Observation{State: engine.Ready}) }, xpv2.TypeReady},
		"Works": {"What works.", func(mr *v1alpha1.Manifest) {
			(&reporter{}).observation(mr, engine.Observation{State: engine.Warning, Works: true, Message: "x"})
		}, xpv2.TypeReady},
		"NotReady": {"What is not Ready.", func(mr *v1alpha1.Manifest) {
			(&reporter{}).observation(mr, engine.Observation{State: engine.Processing})
		}, xpv2.TypeReady},
		"Error":    {"What cannot be seen.", func(mr *v1alpha1.Manifest) { _ = (&reporter{}).failure(mr, errors.New("no")) }, xpv2.TypeReady},
		"Deletion": {"What cannot be removed.", func(mr *v1alpha1.Manifest) { (&reporter{}).waiting(mr, blocked, errors.New("no")) }, xpv2.TypeReady},
		"RolledBack": {"What was rolled back.", func(mr *v1alpha1.Manifest) {
			(&reporter{}).rollback(mr, &v1alpha1.RollbackStatus{RolledBack: true})
		}, v1alpha1.TypeRolledBack},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mr := &v1alpha1.Manifest{}
			for range 2 {
				// The first condition has the form of older versions, without a generation.
				tc.report(mr)
				if got := mr.GetCondition(tc.c).ObservedGeneration; got != mr.Generation {
					t.Errorf("\n%s\ncondition %s is of generation %d, want %d", tc.reason, tc.c, got, mr.Generation)
				}
				if got := mr.Status.ObservedGeneration; tc.c == xpv2.TypeReady && got != mr.Generation {
					t.Errorf("\n%s\nstatus.observedGeneration is %d, want %d", tc.reason, got, mr.Generation)
				}
				mr.Generation = 7
			}
		})
	}
}
