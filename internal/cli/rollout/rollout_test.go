// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/helptest"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/release"
)

// TestHelp checks that the help of each command names the fields of its output.
func TestHelp(t *testing.T) {
	for _, c := range Commands(&command.Environment{}) {
		if c.Name() == "status" {
			helptest.CheckFields(t, c.Long, report{}, channel{}, failure{})
			continue
		}
		helptest.CheckFields(t, c.Long, release.Outcome{})
	}
}

// at returns a ModuleReleaseMeta with a release and its rollout in one channel.
func at(r v1alpha1.Release, rollouts ...v1alpha1.ChannelRollout) *v1alpha1.ModuleReleaseMeta {
	m := &v1alpha1.ModuleReleaseMeta{}
	m.Name, m.Spec.ModuleName = "m", "istio"
	m.Spec.Channels = []v1alpha1.ChannelRelease{{Channel: "fast", Release: r}}
	for _, one := range rollouts {
		one.Channel, one.Version = "fast", r.Version
		m.Status.Channels = append(m.Status.Channels, one)
	}
	return m
}

func TestActions(t *testing.T) {
	two := v1alpha1.Release{Version: "2.0.0"}
	paused, aborted := two, two
	paused.Paused, aborted.AbortedVersion = true, "2.0.0"
	phase := func(p v1alpha1.RolloutPhase) v1alpha1.ChannelRollout { return v1alpha1.ChannelRollout{Phase: p} }
	type want struct {
		fields    map[string]any
		downgrade bool
		result    string
		err       string
	}
	cases := map[string]struct {
		reason string
		do     func(*release.Target) (step, error)
		meta   *v1alpha1.ModuleReleaseMeta
		want   want
	}{
		"Pause":        {"A rollout is paused.", pause, at(two), want{fields: map[string]any{"paused": true}, result: "paused"}},
		"PauseTwice":   {"A paused rollout is not written.", pause, at(paused), want{result: "already paused"}},
		"Resume":       {"A paused rollout is resumed.", resume, at(paused), want{fields: map[string]any{"paused": false}, result: "resumed"}},
		"ResumeTwice":  {"A rollout that is not paused is not written.", resume, at(two), want{result: "not paused"}},
		"Abort":        {"The current version is aborted.", abort, at(two, phase(v1alpha1.RolloutProgressing)), want{fields: map[string]any{"abortedVersion": "2.0.0"}, result: "aborted"}},
		"AbortTwice":   {"An aborted version is not written.", abort, at(aborted), want{result: "already aborted"}},
		"AbortAtEnd":   {"A complete rollout can only be undone.", abort, at(two, phase(v1alpha1.RolloutComplete)), want{err: "kymactl rollout undo"}},
		"RetryAborted": {"A version that stays aborted would fail again.", retry, at(aborted, phase(v1alpha1.RolloutFailed)), want{fields: map[string]any{"abortedVersion": "", "retry": ""}, result: "retried"}},
		"RetryFailed":  {"A failed rollout is retried.", retry, at(two, phase(v1alpha1.RolloutRolledBack)), want{fields: map[string]any{"retry": ""}, result: "retried"}},
		"RetryRunning": {"A rollout that has not failed cannot be retried.", retry, at(two, phase(v1alpha1.RolloutProgressing)), want{err: "in phase Progressing"}},
		"Undo": {
			"The channel returns to the previous version, which is a downgrade.", undo, at(two, v1alpha1.ChannelRollout{Previous: "1.0.0"}),
			want{fields: map[string]any{"version": "1.0.0"}, downgrade: true, result: "undone"},
		},
		"UndoDowngrade": {
			"Undoing a downgrade needs no permission to downgrade.", undo, at(two, v1alpha1.ChannelRollout{Previous: "3.0.0"}),
			want{fields: map[string]any{"version": "3.0.0"}, result: "undone"},
		},
		"UndoFirst":   {"The first version has no previous one.", undo, at(two, phase(v1alpha1.RolloutFailed)), want{err: "has no version before 2.0.0"}},
		"UndoUnknown": {"Without a status, the previous version is unknown.", undo, at(two), want{err: "kymactl module promote istio --version VERSION --to fast"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.do(&release.Targets(tc.meta)[0])
			if (err == nil) != (tc.want.err == "") || err != nil && !strings.Contains(err.Error(), tc.want.err) {
				t.Fatalf("\n%s\nwant the error %q, got %v", tc.reason, tc.want.err, err)
			}
			if v, ok := got.Fields["retry"]; ok && v != "" {
				// The value is the current time.
				got.Fields["retry"] = ""
			}
			if diff := cmp.Diff(tc.want.fields, got.Fields); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if got.Downgrade != tc.want.downgrade || got.result != tc.want.result {
				t.Errorf("\n%s\nwant %q, downgrade %t, got %q, %t", tc.reason, tc.want.result, tc.want.downgrade, got.result, got.Downgrade)
			}
		})
	}
}

func TestAssess(t *testing.T) {
	halfway := v1alpha1.ChannelRollout{Phase: v1alpha1.RolloutProgressing, WaveName: "canary", Total: 4, Updated: 3, Ready: 2, Failed: 1, Offline: 1}
	cases := map[string]struct {
		reason   string
		terminal bool
		rollouts []v1alpha1.ChannelRollout
		met      bool
		message  string
		code     command.ExitCode
	}{
		"Complete":   {reason: "A complete rollout ends the command.", rollouts: []v1alpha1.ChannelRollout{{Phase: v1alpha1.RolloutComplete}}, met: true},
		"Failed":     {reason: "A failed rollout has an exit code of its own.", rollouts: []v1alpha1.ChannelRollout{{Phase: v1alpha1.RolloutFailed}}, code: command.ExitRollout},
		"RolledBack": {reason: "A rollout that was rolled back has failed.", rollouts: []v1alpha1.ChannelRollout{{Phase: v1alpha1.RolloutRolledBack}}, code: command.ExitRollout},
		"Returning":  {reason: "A rollout that is being rolled back can still change.", rollouts: []v1alpha1.ChannelRollout{{Phase: v1alpha1.RolloutRollingBack}}, message: "fast: RollingBack, wave 0, 0 of 0 updated, 0 ready"},
		"Unseen":     {reason: "Without a status, the rollout is not complete.", message: "fast: not reconciled by the provider yet"},
		"Line":       {reason: "The counts that are not zero are shown.", rollouts: []v1alpha1.ChannelRollout{halfway}, message: "fast: Progressing, wave canary, 3 of 4 updated, 2 ready, 1 failed, 1 offline"},
		"Bar":        {reason: "A terminal shows a bar.", terminal: true, rollouts: []v1alpha1.ChannelRollout{halfway}, message: "[==========          ] fast: Progressing, wave canary, 3 of 4 updated, 2 ready, 1 failed, 1 offline"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := reportOn(at(v1alpha1.Release{Version: "2.0.0"}, tc.rollouts...), "")
			if err != nil {
				t.Fatal(err)
			}
			s := &status{environment: &command.Environment{Terminal: tc.terminal}}
			got, err := s.assess(r)
			if diff := cmp.Diff(tc.code, command.CodeOf(err)); diff != "" {
				t.Fatalf("\n%s\nassess(): -want code, +got:\n%s", tc.reason, diff)
			}
			if got.Met != tc.met || got.Message != tc.message {
				t.Errorf("\n%s\nwant %t, %q, got %t, %q", tc.reason, tc.met, tc.message, got.Met, got.Message)
			}
		})
	}
}
