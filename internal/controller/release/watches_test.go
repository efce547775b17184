// SPDX-License-Identifier: Apache-2.0

package release

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// A recordingQueue records which ModuleReleaseMetas are queued, and how long each of them waits.
type recordingQueue struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]

	added []string
}

func (q *recordingQueue) Add(r reconcile.Request) { q.AddAfter(r, 0) }

func (q *recordingQueue) AddAfter(r reconcile.Request, d time.Duration) {
	if s := r.Name + " " + d.String(); !slices.Contains(q.added, s) {
		q.added = append(q.added, s)
	}
}

func TestWatches(t *testing.T) {
	rolling := newRelease("1.1.0", "regular")
	rolling.Status.Channels = []v1alpha1.ChannelRollout{{Channel: "regular", Phase: v1alpha1.RolloutProgressing}}
	complete := newRelease("1.0.0", "regular")
	complete.Name, complete.Spec.ModuleName, complete.Spec.Channels[0].RolloutPolicy = "other", "other", ""
	other := func(k *v1alpha1.Kyma) {
		k.Spec.ForProvider.Modules[0].Name, k.Status.AtProvider.Modules[0].Name = "other", "other"
	}
	sibling := newRelease("1.0.0", "regular")
	sibling.Name = "sibling"
	renamed := sibling.DeepCopy()
	renamed.Spec.ModuleName, renamed.Generation = "other", 2
	cases := map[string]struct {
		reason string
		// was is nil if the object is created.
		was, is client.Object
		want    []string
	}{
		"Kyma":     {reason: "During a rollout, events about Kymas are merged for a second.", is: newKyma("k", "regular"), want: []string{"istio 1s"}},
		"KymaRest": {reason: "At rest, they are merged for longer.", is: newKyma("k", "regular", other), want: []string{"other 5s"}},
		"KymaSame": {reason: "An event without a change is ignored.", was: newKyma("k", "regular"), is: newKyma("k", "regular")},
		"KymaHeartbeat": {
			reason: "So is a change of what is irrelevant.", was: newKyma("k", "regular"),
			is: newKyma("k", "regular", func(k *v1alpha1.Kyma) { k.Status.AtProvider.State, k.ResourceVersion = v1alpha1.StateReady, "2" }),
		},
		"KymaLabels": {reason: "Labels decide on the wave.", was: newKyma("k", "regular"), is: newKyma("k", "regular", canary), want: []string{"istio 1s"}},
		"KymaLeft": {
			reason: "A Kyma that disables a module leaves its rollout.", was: newKyma("k", "regular"), is: newKyma("k", "regular", other, func(k *v1alpha1.Kyma) { k.Generation = 2 }),
			want: []string{"istio 1s", "other 5s"},
		},
		"Template": {reason: "A template affects the release of its module.", is: newTemplate("1.1.0"), want: []string{"istio 0s"}},
		"Policy":   {reason: "A policy affects releases that refer to it.", is: newPolicy(), want: []string{"istio 0s"}},
		"Sibling":  {reason: "A release affects the others of the module.", is: sibling, want: []string{"istio 0s"}},
		"Renamed": {
			reason: "A release that changes its module affects those of both.", was: sibling, is: renamed, want: []string{"istio 0s", "other 0s"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := &watches{client: newBench(t, rolling.DeepCopy(), complete.DeepCopy()).client}
			h := w.kymas()
			switch tc.is.(type) {
			case *v1alpha1.ModuleTemplate:
				h = w.templates()
			case *v1alpha1.RolloutPolicy:
				h = w.policies()
			case *v1alpha1.ModuleReleaseMeta:
				h = w.siblings()
			}
			q := &recordingQueue{}
			if tc.was == nil {
				h.Create(t.Context(), ctrlevent.CreateEvent{Object: tc.is}, q)
			} else {
				h.Update(t.Context(), ctrlevent.UpdateEvent{ObjectOld: tc.was, ObjectNew: tc.is}, q)
			}
			if diff := cmp.Diff(tc.want, q.added); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDelayOf checks how long events about Kymas are merged.
func TestDelayOf(t *testing.T) {
	channel := func(phase v1alpha1.RolloutPhase, total int32) v1alpha1.ChannelRollout {
		return v1alpha1.ChannelRollout{Phase: phase, Total: total}
	}
	cases := map[string]struct {
		reason   string
		channels []v1alpha1.ChannelRollout
		want     time.Duration
	}{
		"New":     {reason: "Nothing is in progress yet.", want: 5 * time.Second},
		"Rest":    {reason: "Only numbers change.", channels: []v1alpha1.ChannelRollout{channel(v1alpha1.RolloutComplete, 50)}, want: 5005 * time.Millisecond},
		"Active":  {reason: "A rollout continues soon.", channels: []v1alpha1.ChannelRollout{channel(v1alpha1.RolloutProgressing, 50)}, want: 1005 * time.Millisecond},
		"Back":    {reason: "So does a rollback.", channels: []v1alpha1.ChannelRollout{channel(v1alpha1.RolloutRollingBack, 0)}, want: time.Second},
		"Several": {reason: "A pass considers the Kymas of all channels.", channels: []v1alpha1.ChannelRollout{channel(v1alpha1.RolloutProgressing, 4_000), channel(v1alpha1.RolloutComplete, 6_000)}, want: 2 * time.Second},
		"Large":   {reason: "The delay has a limit.", channels: []v1alpha1.ChannelRollout{channel(v1alpha1.RolloutProgressing, 1_000_000)}, want: checkEvery},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := &v1alpha1.ModuleReleaseMeta{}
			m.Status.Channels = tc.channels
			if got := delayOf(m); got != tc.want {
				t.Errorf("%s want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}
