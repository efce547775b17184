// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

func TestIn(t *testing.T) {
	rollout := v1alpha1.ChannelRollout{
		Channel: Channel, Version: "1.1.0", Phase: v1alpha1.RolloutComplete, Wave: 2, WaveName: "stable", Total: 5, Updated: 5, Ready: 5,
	}
	canary := rollout
	canary.Phase, canary.Wave, canary.WaveName, canary.Updated, canary.Ready = v1alpha1.RolloutProgressing, 0, "canary", 1, 0
	failed := canary
	failed.Phase, failed.Failures = v1alpha1.RolloutRollingBack, []v1alpha1.RolloutFailure{{Namespace: Namespace, Name: Canary, Message: "not available"}}
	small, unready, other := rollout, rollout, rollout
	small.Total, small.Ready, small.Updated = 4, 4, 4
	unready.Ready = 4
	other.Channel = "fast"
	type args struct {
		rollout  v1alpha1.ChannelRollout
		observed int64
		version  string
		phase    v1alpha1.RolloutPhase
	}
	type want struct {
		is   bool
		seen string
	}
	complete := v1alpha1.RolloutComplete
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Complete": {
			"All clusters have the version.",
			args{rollout, 2, "1.1.0", complete}, want{true, "Complete, 5 of 5 clusters have it, 5 Ready"},
		},
		"Canary": {
			"The wave is named while the rollout is not complete.",
			args{canary, 2, "1.1.0", complete}, want{false, "Progressing in wave canary, 1 of 5 clusters have it, 0 Ready"},
		},
		"Failed": {
			"The cluster that failed is named, with the reason.",
			args{failed, 2, "1.1.0", v1alpha1.RolloutRollingBack},
			want{true, "RollingBack in wave canary, 1 of 5 clusters have it, 0 Ready, canary failed: not available"},
		},
		"Few": {
			"A rollout that does not know all clusters yet is complete too early.",
			args{small, 2, "1.1.0", complete}, want{false, "Complete, 4 of 4 clusters have it, 4 Ready"},
		},
		"Unready": {
			"A cluster became unready after the rollout was complete.",
			args{unready, 2, "1.1.0", complete}, want{false, "Complete, 5 of 5 clusters have it, 4 Ready"},
		},
		"Old":     {"The status is from before the last change.", args{rollout, 1, "1.1.0", complete}, want{false, "not started yet"}},
		"Version": {"The status is about another version.", args{rollout, 2, "1.2.0", complete}, want{false, "not started yet"}},
		"Channel": {"The status is about another channel.", args{other, 2, "1.1.0", complete}, want{false, "not started yet"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := &v1alpha1.ModuleReleaseMeta{}
			m.Generation, m.Status.ObservedGeneration = 2, tc.args.observed
			m.Status.Channels = []v1alpha1.ChannelRollout{tc.args.rollout}
			is, seen := In(m, tc.args.version, tc.args.phase)
			if diff := cmp.Diff(tc.want, want{is, seen}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nIn(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReported(t *testing.T) {
	module := v1alpha1.ModuleStatus{Name: Module, Version: "1.1.0", State: v1alpha1.StateReady}
	broken := module
	broken.State = v1alpha1.StateProcessing
	type want struct {
		version string
		ready   bool
	}
	cases := map[string]struct {
		reason  string
		modules []v1alpha1.ModuleStatus
		ready   xpv2.Condition
		want    want
	}{
		"Ready":   {"The Kyma and its module are Ready.", []v1alpha1.ModuleStatus{module}, xpv2.Available(), want{"1.1.0", true}},
		"Module":  {"The module is not Ready.", []v1alpha1.ModuleStatus{broken}, xpv2.Available(), want{"1.1.0", false}},
		"Kyma":    {"The Kyma is not Ready.", []v1alpha1.ModuleStatus{module}, xpv2.Unavailable(), want{"1.1.0", false}},
		"Nothing": {"The Kyma reports no module yet.", nil, xpv2.Available(), want{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k := &v1alpha1.Kyma{}
			k.Status.AtProvider.Modules = tc.modules
			k.Status.SetConditions(tc.ready)
			version, ready := reported(k)
			if diff := cmp.Diff(tc.want, want{version, ready}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nreported(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRings checks that a single cluster is the canary, and that no cluster runs anything but an API server and etcd.
func TestRings(t *testing.T) {
	rings := map[string]int{}
	var want []controlplane.Options
	for _, o := range Options("") {
		rings[ringOf(o.Name)]++
		want = append(want, controlplane.Options{Name: o.Name})
	}
	if diff := cmp.Diff(map[string]int{Canary: 1, stable: 4}, rings); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(want, Options(""), cmpopts.IgnoreFields(controlplane.Options{}, "Dir")); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
