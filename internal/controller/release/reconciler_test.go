// SPDX-License-Identifier: Apache-2.0

package release

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// phases returns each channel of a release with its version, its phase and its numbers of Kymas.
func phases(m *v1alpha1.ModuleReleaseMeta) []string {
	var out []string
	for i := range m.Status.Channels {
		c := &m.Status.Channels[i]
		out = append(out, strings.Join([]string{c.Channel, c.Version, string(c.Phase), c.WaveName}, " "))
	}
	return out
}

// TestReconcile follows one release from its first version to a version that fails.
func TestReconcile(t *testing.T) {
	b := newBench(t, newRelease("1.0.0", "regular"), newPolicy(), newConfig(), newTemplate("1.0.0"), newTemplate("1.1.0"),
		newKyma("a", "regular", canary), newKyma("b", "regular"))
	steps := []struct {
		reason string
		change func()
		want   []string
		events []string
		writes int
		again  bool
	}{
		{
			reason: "Nothing changes if each Kyma has the version.",
			want:   []string{"regular 1.0.0 Complete canary"}, writes: 1,
			events: []string{"Normal RolloutComplete Channel regular: all Kymas that can be reached have version 1.0.0: 2 of 2 are Ready"},
		},
		{reason: "At rest, nothing is written.", want: []string{"regular 1.0.0 Complete canary"}},
		{
			reason: "A new version begins with the first wave.",
			change: func() { b.release(t, "1.1.0") },
			want:   []string{"regular 1.1.0 Progressing canary"}, writes: 1, again: true,
			events: []string{"Normal RolloutStarted Channel regular: the rollout of version 1.1.0 to 2 Kymas begins in wave canary"},
		},
		{reason: "While nothing happens, nothing is written.", want: []string{"regular 1.1.0 Progressing canary"}, again: true},
		{
			reason: "The next wave begins when the first one is Ready.",
			change: func() { b.report(t, "a", "1.1.0", v1alpha1.StateReady) },
			want:   []string{"regular 1.1.0 Progressing rest"}, writes: 1, again: true,
			events: []string{"Normal RolloutWaveStarted Channel regular: version 1.1.0 continues in wave rest"},
		},
		{
			reason: "A Kyma that is not Ready in time makes it fail.",
			change: func() {
				b.report(t, "b", "1.1.0", v1alpha1.StateProcessing)
				b.r.now = func() time.Time { return noon.Add(time.Hour) }
			},
			want: []string{"regular 1.1.0 Failed rest"}, writes: 1,
			events: []string{"Warning RolloutFailed Channel regular: the rollout of version 1.1.0 failed: 1 Kyma failed in wave rest; the first is ns/b"},
		},
	}
	for _, s := range steps {
		if s.change != nil {
			s.change()
		}
		m, events, writes, result := b.reconcile(t)
		if diff := cmp.Diff(s.want, phases(m)); diff != "" {
			t.Fatalf("%s\n-want, +got:\n%s", s.reason, diff)
		}
		if diff := cmp.Diff(s.events, events); diff != "" {
			t.Errorf("%s\n-want events, +got events:\n%s", s.reason, diff)
		}
		if writes != s.writes || result.RequeueAfter > 0 != s.again {
			t.Errorf("%s Reconcile() wrote %d times and returned %v, want %d and a requeue: %t", s.reason, writes, result, s.writes, s.again)
		}
	}
}

// TestRestart checks that another process continues where one has stopped: it needs nothing but the status.
func TestRestart(t *testing.T) {
	b := newBench(t, newRelease("1.0.0", "regular"), newPolicy(), newConfig(), newTemplate("1.0.0"), newTemplate("1.1.0"),
		newKyma("a", "regular", canary), newKyma("b", "regular"))
	b.reconcile(t)
	b.release(t, "1.1.0")
	b.reconcile(t)
	before := b.get(t)
	b.r = &reconciler{client: b.client, fleet: b.r.fleet, spread: b.r.spread, now: func() time.Time { return noon.Add(time.Second) }, record: b, log: b.r.log}
	after, events, writes, _ := b.reconcile(t)
	if diff := cmp.Diff(before.Status, after.Status); diff != "" || len(events) > 0 || writes > 0 {
		t.Errorf("a restart has %d writes and events %q; -before, +after:\n%s", writes, events, diff)
	}
}

// TestTwoChannels checks that two rollouts of a module at once affect only the Kymas of their own channel.
func TestTwoChannels(t *testing.T) {
	b := newBench(t, newRelease("1.0.0", "fast", "regular"), newPolicy(), newConfig(), newTemplate("1.0.0"), newTemplate("1.1.0"),
		newKyma("a", "regular", canary), newKyma("b", "regular"), newKyma("c", "fast", canary), newKyma("d", "fast"))
	b.reconcile(t)
	b.release(t, "1.1.0")
	b.reconcile(t)
	b.report(t, "c", "1.1.0", v1alpha1.StateReady)
	b.reconcile(t)
	m := b.get(t)
	if diff := cmp.Diff([]string{"fast 1.1.0 Progressing rest", "regular 1.1.0 Progressing canary"}, phases(m)); diff != "" {
		t.Errorf("only the channel fast continues: -want, +got:\n%s", diff)
	}
	b.report(t, "a", "1.1.0", v1alpha1.StateProcessing)
	b.report(t, "d", "1.1.0", v1alpha1.StateReady)
	b.r.now = func() time.Time { return noon.Add(time.Hour) }
	b.reconcile(t)
	m = b.get(t)
	if diff := cmp.Diff([]string{"fast 1.1.0 Complete rest", "regular 1.1.0 Failed canary"}, phases(m)); diff != "" {
		t.Errorf("only the channel regular fails: -want, +got:\n%s", diff)
	}
	for i, c := range m.Status.Channels {
		if c.Total != 2 {
			t.Errorf("channel %d has %d Kymas, want 2", i, c.Total)
		}
	}
	ready := m.Status.GetCondition(xpv2.TypeReady)
	if ready.Reason != v1alpha1.ReasonRolloutFailed || !strings.Contains(ready.Message, "channel regular") || strings.Contains(ready.Message, "fast") {
		t.Errorf("the release is not Ready because of the channel regular only, got %+v", ready)
	}
}

// TestInvalidChannel checks that a channel whose version does not exist does not stop the rollout in another one.
func TestInvalidChannel(t *testing.T) {
	b := newBench(t, newRelease("1.0.0", "fast", "regular"), newPolicy(), newConfig(), newTemplate("1.0.0"), newTemplate("1.1.0"),
		newKyma("a", "regular", canary), newKyma("b", "regular"))
	b.reconcile(t)
	b.release(t, "1.1.0")
	m := b.get(t)
	m.Spec.Channels[0].Version = "9.9.9"
	if err := b.client.Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	b.reconcile(t)
	m = b.get(t)
	if diff := cmp.Diff([]string{"fast 1.0.0 Complete canary", "regular 1.1.0 Progressing canary"}, phases(m)); diff != "" {
		t.Errorf("only the channel fast stays as it is: -want, +got:\n%s", diff)
	}
	if ready := m.Status.GetCondition(xpv2.TypeReady); ready.Reason != v1alpha1.ReasonInvalidRelease || !strings.Contains(ready.Message, "channel fast: ") {
		t.Errorf("the release is not Ready because of the channel fast, got %+v", ready)
	}
}

// TestConflict checks that an event is recorded only for what is written.
func TestConflict(t *testing.T) {
	b := newBench(t, newRelease("1.0.0", "regular"), newPolicy(), newTemplate("1.0.0"))
	b.conflict = true
	_, events, _, result := b.reconcile(t)
	if len(events) > 0 || result.RequeueAfter != cacheDelay {
		t.Errorf("after a conflict, Reconcile() recorded %q and returned %v, want no events and a requeue after %s", events, result, cacheDelay)
	}
	b.conflict = false
	if _, events, _, _ := b.reconcile(t); len(events) != 1 {
		t.Errorf("the second pass recorded %q, want one event", events)
	}
}

func TestGone(t *testing.T) {
	b := newBench(t)
	result, err := b.r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "gone"}})
	if err != nil || result != (reconcile.Result{}) {
		t.Errorf("Reconcile() of a ModuleReleaseMeta that does not exist returned %v, %v", result, err)
	}
}

func TestInvalid(t *testing.T) {
	sibling := newRelease("1.0.0", "regular")
	sibling.Name = "sibling"
	waves := newPolicy()
	waves.Spec.Waves[0].Selector.MatchLabels = map[string]string{"ring": "not valid"}
	unresolved := newTemplate("1.1.0")
	unresolved.Status.SetConditions(xpv2.Condition{Type: v1alpha1.TypeResolved, Status: corev1.ConditionFalse, Message: "the registry says no"})
	cases := map[string]struct {
		reason  string
		objects []client.Object
		want    string
	}{
		"Sibling": {
			reason:  "Of two ModuleReleaseMetas of a module, neither is used.",
			objects: []client.Object{newPolicy(), newTemplate("1.1.0"), sibling},
			want:    `module "istio" is also released by ModuleReleaseMeta sibling, so none of them is used: delete all but one`,
		},
		"NoPolicy": {
			reason:  "A release without its RolloutPolicy does not reach everyone at once.",
			objects: []client.Object{newTemplate("1.1.0")},
			want:    "channel regular: RolloutPolicy istio does not exist",
		},
		"Waves": {
			reason:  "A RolloutPolicy that is not valid is not used.",
			objects: []client.Object{waves, newTemplate("1.1.0")},
			want:    "channel regular: RolloutPolicy istio: spec.waves[0].selector",
		},
		"NoTemplate": {
			reason:  "A version must be in the catalogue.",
			objects: []client.Object{newPolicy()},
			want:    `channel regular: no ModuleTemplate provides version 1.1.0 of module "istio"`,
		},
		"Unresolved": {
			reason:  "A version must be resolved.",
			objects: []client.Object{newPolicy(), unresolved},
			want:    "channel regular: ModuleTemplate istio-1.1.0 is not resolved: the registry says no",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := newRelease("1.1.0", "regular")
			m.Status.Channels = []v1alpha1.ChannelRollout{{Channel: "regular", Version: "1.0.0", Phase: v1alpha1.RolloutComplete}}
			b := newBench(t, append(tc.objects, m, newConfig(), newKyma("a", "regular"))...)
			got, events, _, _ := b.reconcile(t)
			ready := got.Status.GetCondition(xpv2.TypeReady)
			if ready.Reason != v1alpha1.ReasonInvalidRelease || !strings.HasPrefix(ready.Message, tc.want) {
				t.Errorf("%s Got reason %s and message %q, want %q", tc.reason, ready.Reason, ready.Message, tc.want)
			}
			if c := got.Status.GetCondition(v1alpha1.TypeComplete); c.Status != corev1.ConditionFalse {
				t.Errorf("%s Complete is %s, want False", tc.reason, c.Status)
			}
			if diff := cmp.Diff([]string{"regular 1.0.0 Complete "}, phases(got)); diff != "" {
				t.Errorf("%s The state of the rollout stays: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff([]string{"Warning InvalidRelease " + ready.Message}, events); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if _, again, writes, _ := b.reconcile(t); len(again) > 0 || writes > 0 {
				t.Errorf("%s The second pass has %d writes and events %q", tc.reason, writes, again)
			}
		})
	}
}
