// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

const (
	// defaultDeadline is the deadline of a policy without progressDeadline, and of a release without a policy.
	defaultDeadline = 10 * time.Minute
	// errorGrace is how long after the beginning of a batch a module in state Error does not count as failed, because it may recover.
	errorGrace = 10 * time.Second
	// blip is how long a Kyma that was Ready in the version may not be Ready without blocking the rollout, for example because its owner changes
	// it. In a large fleet, there is always such a Kyma.
	blip = time.Minute
	// spreadSteps is the number of steps in which a release without a policy spreads.
	spreadSteps = 20
	// defaultBatch is the percentage of a wave in a batch, policyBudget is the percentage of a wave that may fail, and spreadBudget is
	// that of a release without a policy.
	defaultBatch, policyBudget, spreadBudget = 100, 2, 5
	// maxFailures is the maximum number of failures in the status.
	maxFailures = 10
)

// An Input contains everything that the next state of a rollout depends on.
type Input struct {
	Channel string
	Release v1alpha1.Release
	// Status is the state until now. It is nil if the channel is new.
	Status *v1alpha1.ChannelRollout
	// Policy is nil if the release has none.
	Policy *v1alpha1.RolloutPolicySpec
	// Spread is how long a release without a policy takes to reach all Kymas. If it is 0, all Kymas change at once.
	Spread time.Duration
	// Members are the Kymas that have the module from this channel, for the version of the release. Next changes their order.
	Members []Member
	Now     time.Time
}

// Next returns the next state of a rollout, and how long it stays the same if no Kyma changes, or 0. It depends on nothing but its
// input, so that a restart at any time has no effect.
func Next(in Input) (v1alpha1.ChannelRollout, time.Duration) {
	s := &step{Input: in, out: begin(in)}
	s.applyRequests()
	s.followWaves()
	switch s.out.Phase {
	case v1alpha1.RolloutProgressing:
		s.progress()
	case v1alpha1.RolloutRollingBack:
		s.awaitRollback()
	case v1alpha1.RolloutPaused, v1alpha1.RolloutFailed, v1alpha1.RolloutRolledBack, v1alpha1.RolloutComplete:
	}
	s.count()
	s.out.WaveName = NameOf(in.Policy, int(s.out.Wave))
	return s.out, s.again
}

// begin returns the state from which a step starts: the current one, or that of a new rollout.
func begin(in Input) v1alpha1.ChannelRollout {
	if in.Status != nil && in.Status.Version == in.Release.Version {
		return *in.Status.DeepCopy()
	}
	now := metav1.NewTime(in.Now).Rfc3339Copy()
	out := v1alpha1.ChannelRollout{
		Channel: in.Channel, Version: in.Release.Version, Phase: v1alpha1.RolloutProgressing, Retry: in.Release.Retry, StartedAt: &now,
	}
	switch {
	case in.Status == nil && !slices.ContainsFunc(in.Members, func(m Member) bool { return m.Installed && !m.Updated }):
		// Nothing changes.
		out.Phase, out.Threshold = v1alpha1.RolloutComplete, All
	case in.Status == nil:
	case in.Status.Phase == v1alpha1.RolloutComplete:
		out.Previous = in.Status.Version
	default:
		out.Previous = in.Status.Previous
	}
	return out
}

// A step computes the next state.
type step struct {
	Input

	out   v1alpha1.ChannelRollout
	again time.Duration
}

// applyRequests applies what a person requests: to pause, resume, abort or retry.
func (s *step) applyRequests() {
	phase := s.out.Phase
	switch {
	case s.Release.Retry != s.out.Retry && HasFailed(phase):
		s.out.Phase, s.out.Message = v1alpha1.RolloutProgressing, ""
		s.restartBatch()
		if phase != v1alpha1.RolloutFailed {
			s.out.Threshold = 0 // The Kymas of the wave no longer have the version. They must not all get it again at once.
		}
	case s.Release.AbortedVersion == s.out.Version && (phase == v1alpha1.RolloutProgressing || phase == v1alpha1.RolloutPaused):
		s.fail("the rollout was aborted")
	case s.Release.Paused && phase == v1alpha1.RolloutProgressing:
		s.out.Phase, s.out.Message, s.out.SoakingSince = v1alpha1.RolloutPaused, "the rollout is paused", nil
	case !s.Release.Paused && phase == v1alpha1.RolloutPaused:
		s.out.Phase, s.out.Message = v1alpha1.RolloutProgressing, ""
		s.restartBatch()
	}
	s.out.Retry = s.Release.Retry
}

// followWaves handles a change of the waves of the policy, after which the index of the current wave refers to a different wave. A rollout
// restarts at the first wave. A rollback ends, because it is unknown which Kymas were in the wave that failed.
func (s *step) followWaves() {
	switch s.out.Phase {
	case v1alpha1.RolloutProgressing, v1alpha1.RolloutPaused:
		if !Fits(&s.out, s.Policy) {
			s.out.Wave, s.out.Threshold, s.out.BatchStartedAt, s.out.SoakingSince = 0, 0, nil, nil
		}
		s.out.WavesDigest = DigestOf(s.Policy)
	case v1alpha1.RolloutRollingBack:
		if !Fits(&s.out, s.Policy) {
			s.out.Phase = v1alpha1.RolloutFailed
		}
	case v1alpha1.RolloutFailed, v1alpha1.RolloutRolledBack, v1alpha1.RolloutComplete:
	}
}

// restartBatch restarts the times of the current batch.
func (s *step) restartBatch() {
	now := metav1.NewTime(s.Now).Rfc3339Copy()
	s.out.BatchStartedAt, s.out.SoakingSince = &now, nil
}

// fail ends a rollout that failed, according to the policy.
func (s *step) fail(message string) {
	s.out.Phase, s.out.SoakingSince, s.out.Message = v1alpha1.RolloutFailed, nil, message
	if s.Policy != nil && s.Policy.OnFailure == v1alpha1.FailurePolicyRollback && s.out.Previous != "" && s.out.Previous != s.out.Version {
		s.out.Phase = v1alpha1.RolloutRollingBack
	}
}

// awaitRollback ends a rollback when no Kyma of the wave has the version, except for those that cannot be reached or changed.
func (s *step) awaitRollback() {
	left := slices.ContainsFunc(s.Members, func(m Member) bool {
		return m.Wave == int(s.out.Wave) && m.Updated && !m.Offline && !m.Held
	})
	if !left {
		s.out.Phase = v1alpha1.RolloutRolledBack
	}
}

// progress moves on as far as the Kymas allow.
func (s *step) progress() {
	last := 0
	if s.Policy != nil {
		last = len(s.Policy.Waves)
	}
	for int(s.out.Wave) <= last {
		w := s.wave()
		if n := w.failed(); n >= w.budget {
			s.fail(failure(n, NameOf(s.Policy, int(s.out.Wave))))
			return
		}
		if !w.advance(s) {
			return
		}
		s.out.Wave++
		s.out.Threshold, s.out.BatchStartedAt, s.out.SoakingSince = 0, nil, nil
	}
	s.out.Wave, s.out.Threshold, s.out.Phase, s.out.Message = int32(last), All, v1alpha1.RolloutComplete, ""
	s.again = 0
}

// failure returns a message about the Kymas that failed in a wave.
func failure(n int, wave string) string {
	out := "1 Kyma failed"
	if n > 1 {
		out = fmt.Sprintf("%d Kymas failed", n)
	}
	if wave != "" {
		out += " in wave " + wave
	}
	return out
}

// lookAgain makes the next step happen after some time at the latest.
func (s *step) lookAgain(after time.Duration) {
	if after = max(after, time.Second); s.again == 0 || after < s.again {
		s.again = after
	}
}

// count sets the numbers in the status.
func (s *step) count() {
	o := &s.out
	o.Total, o.Updated, o.Ready, o.Failed, o.Offline, o.Waiting, o.Failures = 0, 0, 0, 0, 0, 0, nil
	for i := range s.Members {
		m := &s.Members[i]
		o.Total++
		switch {
		case m.Offline:
			o.Offline++
		case m.Waiting:
			o.Waiting++
		case m.Updated && m.Ready:
			o.Ready++
		case o.Phase != v1alpha1.RolloutComplete && s.isFailed(m):
			o.Failed++
			o.Failures = append(o.Failures, v1alpha1.RolloutFailure{Namespace: m.Namespace, Name: m.Name, Message: m.Message})
		}
		if m.Updated {
			o.Updated++
		}
	}
	slices.SortFunc(o.Failures, func(a, b v1alpha1.RolloutFailure) int {
		return slices.Compare([]string{a.Namespace, a.Name}, []string{b.Namespace, b.Name})
	})
	o.Failures = o.Failures[:min(len(o.Failures), maxFailures)]
}
