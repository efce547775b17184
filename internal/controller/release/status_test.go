// SPDX-License-Identifier: Apache-2.0

package release

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// in returns the state of a rollout of version 1.1.0 to 3 Kymas in a wave.
func in(phase v1alpha1.RolloutPhase, wave int32, name string) *v1alpha1.ChannelRollout {
	return &v1alpha1.ChannelRollout{
		Channel: "regular", Version: "1.1.0", Previous: "1.0.0", Phase: phase, Wave: wave, WaveName: name, Total: 3, Updated: 3, Ready: 2,
	}
}

func TestEventOf(t *testing.T) {
	failed := in(v1alpha1.RolloutRollingBack, 0, "canary")
	failed.Message, failed.Failures = "1 Kyma failed in wave canary", []v1alpha1.RolloutFailure{{Namespace: "ns", Name: "a", Message: "boom"}}
	older := in(v1alpha1.RolloutProgressing, 0, "canary")
	older.Version = "1.0.1"
	counted := in(v1alpha1.RolloutProgressing, 0, "canary")
	counted.Ready = 1
	without := in(v1alpha1.RolloutComplete, 1, "")
	without.Ready, without.Offline, without.Waiting = 0, 2, 1
	progressing := in(v1alpha1.RolloutProgressing, 0, "canary")
	cases := map[string]struct {
		reason  string
		was, is *v1alpha1.ChannelRollout
		want    string
	}{
		"Started":    {"A rollout begins.", nil, progressing, "Normal RolloutStarted Channel regular: the rollout of version 1.1.0 to 3 Kymas begins in wave canary"},
		"Superseded": {"A newer version replaces another one.", older, progressing, "Normal RolloutStarted Channel regular: the rollout of version 1.1.0 to 3 Kymas begins in wave canary"},
		"Counts":     {"Numbers alone cause no event.", counted, progressing, ""},
		"Wave":       {"Each wave has an event.", progressing, in(v1alpha1.RolloutProgressing, 1, "rest"), "Normal RolloutWaveStarted Channel regular: version 1.1.0 continues in wave rest"},
		"Paused":     {"A person pauses it.", progressing, in(v1alpha1.RolloutPaused, 0, "canary"), "Normal RolloutPaused Channel regular: the rollout of version 1.1.0 is paused in wave canary"},
		"Resumed":    {"A person resumes it.", in(v1alpha1.RolloutPaused, 0, "canary"), progressing, "Normal RolloutResumed Channel regular: the rollout of version 1.1.0 continues in wave canary"},
		"Failed":     {"A failure names the first Kyma.", progressing, failed, "Warning RolloutFailed Channel regular: the rollout of version 1.1.0 failed: 1 Kyma failed in wave canary; the first is ns/a: boom"},
		"RolledBack": {"The end of a rollback has an event.", failed, in(v1alpha1.RolloutRolledBack, 0, "canary"), "Normal RolloutRolledBack Channel regular: the Kymas in wave canary have version 1.0.0 again instead of 1.1.0"},
		"Complete":   {"The end of a rollout has an event.", progressing, in(v1alpha1.RolloutComplete, 1, ""), "Normal RolloutComplete Channel regular: all Kymas that can be reached have version 1.1.0: 2 of 3 are Ready"},
		"Without":    {"A rollout is complete without the Kymas that are offline or wait, although their Manifests have the version.", progressing, without, "Normal RolloutComplete Channel regular: all Kymas that can be reached have version 1.1.0: 0 of 3 are Ready, offline: 2, waiting: 1"},
		"Rest":       {"At rest, there is no event.", in(v1alpha1.RolloutComplete, 1, ""), in(v1alpha1.RolloutComplete, 1, ""), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, e := range eventOf(tc.was, tc.is) {
				got = append(got, string(e.Type)+" "+string(e.Reason)+" "+e.Message)
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSetConditions(t *testing.T) {
	types := []xpv2.ConditionType{
		xpv2.TypeReady, v1alpha1.TypeProgressing, v1alpha1.TypePaused, v1alpha1.TypeFailed, v1alpha1.TypeComplete, v1alpha1.TypeStalled,
	}
	const yes, no, absent = corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown
	cases := map[string]struct {
		reason  string
		phase   v1alpha1.RolloutPhase
		problem string
		// want has the status of each type.
		want []corev1.ConditionStatus
		// because is the reason of the condition Ready.
		because xpv2.ConditionReason
	}{
		"Progressing": {"A rollout is not Ready until it is complete.", v1alpha1.RolloutProgressing, "", []corev1.ConditionStatus{no, yes, no, no, no, absent}, v1alpha1.ReasonProgressing},
		"Paused":      {"A pause does not count as a failure.", v1alpha1.RolloutPaused, "", []corev1.ConditionStatus{no, no, yes, no, no, absent}, v1alpha1.ReasonRolloutPaused},
		"Failed":      {"A failure needs someone.", v1alpha1.RolloutFailed, "", []corev1.ConditionStatus{no, no, no, yes, no, yes}, v1alpha1.ReasonRolloutFailed},
		"RollingBack": {"A rollback changes Kymas.", v1alpha1.RolloutRollingBack, "", []corev1.ConditionStatus{no, yes, no, yes, no, yes}, v1alpha1.ReasonRolloutFailed},
		"RolledBack":  {"After a rollback, nothing changes.", v1alpha1.RolloutRolledBack, "", []corev1.ConditionStatus{no, no, no, yes, no, yes}, v1alpha1.ReasonRolloutFailed},
		"Complete":    {"A complete rollout is Ready.", v1alpha1.RolloutComplete, "", []corev1.ConditionStatus{yes, no, no, no, yes, absent}, xpv2.ReasonAvailable},
		"Missing":     {"A release can wait for its version.", v1alpha1.RolloutComplete, "wait", []corev1.ConditionStatus{no, no, no, no, no, absent}, v1alpha1.ReasonInvalidRelease},
		"Invalid":     {"A release that is not valid is not complete.", v1alpha1.RolloutComplete, "no", []corev1.ConditionStatus{no, no, no, no, no, yes}, v1alpha1.ReasonInvalidRelease},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := &v1alpha1.ModuleReleaseMeta{}
			m.Generation, m.Status.Channels = 3, []v1alpha1.ChannelRollout{*in(tc.phase, 0, "canary")}
			setConditions(m, tc.problem, tc.problem == "no")
			got := make([]corev1.ConditionStatus, 0, len(types))
			for _, c := range types {
				got = append(got, m.Status.GetCondition(c).Status)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nof %v: -want, +got:\n%s", tc.reason, types, diff)
			}
			if ready := m.Status.GetCondition(xpv2.TypeReady); ready.Reason != tc.because || ready.ObservedGeneration != 3 {
				t.Errorf("%s Ready has reason %s of generation %d, want %s", tc.reason, ready.Reason, ready.ObservedGeneration, tc.because)
			}
		})
	}
}
