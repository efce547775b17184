// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// A Member is the state of a Kyma in a rollout.
type Member struct {
	Namespace, Name string
	// Wave is the index of the wave of the Kyma, and Hash orders the Kymas of a wave: see Position.
	Wave int
	Hash uint32
	// Installed is true if the Kyma has any version. Updated is true if it has the version of the release, or has tried it and rolled it
	// back.
	Installed, Updated bool
	// Ready is true if the module is Ready.
	Ready bool
	// Error is true if the module is in state Error, and RolledBack is true if its upgrade was rolled back.
	Error, RolledBack bool
	// Offline is true if the cluster cannot be reached.
	Offline bool
	// Held is true if the owner of the Kyma does not let the provider change the module.
	Held bool
	// Waiting is true if the Kyma does not count: it is held, unless it is Ready in the version, or it may have the version, but waits for a
	// maintenance window or defers it.
	Waiting bool
	// Since is the time of the last change of the state of the Kyma, or when its cluster could be reached again, or when it stopped waiting.
	Since time.Time
	// Unready is when it was first seen that the Kyma may have the version and is not Ready, if it has not been Ready since then. It is
	// zero if that is not known. Unlike Since, it does not change while the state only changes from one problem to another.
	Unready time.Time
	// Passed is true if the Kyma has been Ready in the version, as far as that is known.
	Passed bool
	// Message explains why the module is not Ready.
	Message string
}

// A wave contains the Kymas of the current wave, sorted by their hash.
type wave struct {
	members []Member
	// budget is the number of failures at which the rollout fails. No more Kymas than that are exposed to the version without being
	// Ready.
	budget int
	// batch is the number of Kymas in a batch.
	batch int
	// soak is how long a batch must be Ready.
	soak time.Duration
	// failures contains for each member whether it failed, and blips whether isBlip is true for it.
	failures, blips []bool
}

// wave returns the current wave.
func (s *step) wave() *wave {
	w := &wave{members: s.membersOf(int(s.out.Wave))}
	n := len(w.members)
	if s.Policy == nil {
		w.budget, w.batch = share(nil, spreadBudget, n), max(n, 1)
	} else {
		spec := waveSpec(s.Policy, int(s.out.Wave))
		w.budget, w.batch = share(s.Policy.FailureBudget, policyBudget, n), share(spec.Batch, defaultBatch, n)
		if spec.Soak != nil {
			w.soak = spec.Soak.Duration
		}
	}
	w.failures, w.blips = make([]bool, n), make([]bool, n)
	reachable := 0
	for i := range w.members {
		w.failures[i], w.blips[i] = s.isFailed(&w.members[i]), s.isBlip(&w.members[i])
		if m := &w.members[i]; !m.Offline && !m.Waiting {
			reachable++
		}
	}
	// A wave in which each Kyma fails has failed, however large the budget.
	w.budget = max(min(w.budget, reachable), 1)
	return w
}

// membersOf moves the members of a wave to the beginning, and returns them sorted by their hash.
func (s *step) membersOf(wave int) []Member {
	n := 0
	for i := range s.Members {
		if s.Members[i].Wave == wave {
			s.Members[n], s.Members[i] = s.Members[i], s.Members[n]
			n++
		}
	}
	out := s.Members[:n]
	slices.SortFunc(out, func(a, b Member) int {
		if a.Hash != b.Hash {
			return cmp.Compare(a.Hash, b.Hash)
		}
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// isFailed reports whether a Kyma has failed that has the version, or that may have it and cannot change to it, for example because its
// values are refused.
func (s *step) isFailed(m *Member) bool {
	if m.Offline || m.Waiting || m.Ready && !m.RolledBack {
		return false
	}
	since := s.since(m)
	late := max(since, s.unready(m)) >= s.deadline()
	if !m.Updated {
		return late && s.isExposed(m)
	}
	return late || m.RolledBack || m.Error && since >= errorGrace
}

// isBlip reports whether a Kyma stopped being Ready in the version less than a blip ago.
func (s *step) isBlip(m *Member) bool {
	return m.Updated && m.Passed && !s.isFailed(m) && s.isRecent(m)
}

// isRecent reports whether a Kyma that may have the version is not Ready for less than a blip.
func (s *step) isRecent(m *Member) bool { return !m.Unready.IsZero() && s.Now.Sub(m.Unready) < blip }

// isExposed reports whether a Kyma of the current wave may have the version.
func (s *step) isExposed(m *Member) bool {
	active := s.out.Phase == v1alpha1.RolloutProgressing || s.out.Phase == v1alpha1.RolloutFailed
	return active && m.Wave == int(s.out.Wave) && int64(m.Hash) < s.out.Threshold
}

// deadline returns how long a module may take to become Ready.
func (s *step) deadline() time.Duration {
	if s.Policy == nil || s.Policy.ProgressDeadline == nil {
		return defaultDeadline
	}
	return s.Policy.ProgressDeadline.Duration
}

// since returns the time since the threshold was raised last, or since the state of a Kyma changed after that: for example, because its
// cluster could be reached again, or because its maintenance window began. For a Kyma that was Ready in the version, it is at most the time in
// which the module is not Ready, because the state of the Kyma can be that of another module.
func (s *step) since(m *Member) time.Duration {
	if s.out.BatchStartedAt == nil {
		return 0
	}
	since := min(s.Now.Sub(s.out.BatchStartedAt.Time), s.Now.Sub(m.Since))
	if m.Passed && !m.Unready.IsZero() {
		since = min(since, s.Now.Sub(m.Unready))
	}
	return since
}

// unready returns the time in which a Kyma has not been Ready since the threshold was raised last, or 0 if that is not known.
func (s *step) unready(m *Member) time.Duration {
	if s.out.BatchStartedAt == nil || m.Unready.IsZero() {
		return 0
	}
	return min(s.Now.Sub(s.out.BatchStartedAt.Time), s.Now.Sub(m.Unready))
}

// awaitFailure makes the next step happen when the first of some members fails, if its state does not change.
func (s *step) awaitFailure(members []Member) {
	for i := range members {
		m := &members[i]
		if m.Offline || m.Waiting || m.Updated && m.Ready {
			continue
		}
		after := s.deadline() - max(s.since(m), s.unready(m))
		if m.Error {
			after = min(after, errorGrace-s.since(m))
		}
		if after > 0 {
			s.lookAgain(after)
		}
	}
}

// failed returns the number of members that failed.
func (w *wave) failed() int {
	n := 0
	for _, f := range w.failures {
		if f {
			n++
		}
	}
	return n
}

// advance raises the threshold if the members allow it. It returns true if the wave is done.
func (w *wave) advance(s *step) bool {
	exposed := w.exposed(s.out.Threshold)
	end := w.endOfBatch(exposed)
	if exposed == end && exposed > 0 {
		if !w.isSettled(exposed, s) {
			s.out.SoakingSince = nil
			s.awaitFailure(w.members[:exposed])
			return false
		}
		if left := s.soak(w.soak); left > 0 {
			s.lookAgain(left)
			return false
		}
	}
	if exposed == len(w.members) {
		return true
	}
	if exposed == end {
		end = w.endOfBatch(exposed + 1)
	}
	w.expose(s, exposed, s.limitBySpread(len(w.members), end))
	return false
}

// exposed returns the number of members below a threshold.
func (w *wave) exposed(threshold int64) int {
	n, _ := slices.BinarySearchFunc(w.members, threshold, func(m Member, t int64) int { return cmp.Compare(int64(m.Hash), t) })
	return n
}

// endOfBatch returns the number of members that are exposed at the end of the batch of a number of members.
func (w *wave) endOfBatch(n int) int {
	batches := (max(n, 1) + w.batch - 1) / w.batch
	return min(batches*w.batch, len(w.members))
}

// isSettled reports whether each of the first members has been Ready in the version, has failed, or does not count. Those that stopped
// being Ready longer ago than a blip must not use up the budget if they fail, too. The same applies to those that join the batch while it
// soaks: they are new, their cluster can be reached again, or their maintenance window has begun.
func (w *wave) isSettled(n int, s *step) bool {
	unready, failed := 0, 0
	for i := range w.members[:n] {
		m := &w.members[i]
		switch {
		case w.failures[i]:
			failed++
		case m.Offline, m.Waiting, m.Updated && m.Ready, w.blips[i]:
		case m.Updated && m.Passed:
			unready++
		case s.out.SoakingSince == nil:
			return false
		case !s.isRecent(m):
			unready++
		}
	}
	return unready == 0 || unready+failed < w.budget
}

// soak begins to soak, if it has not begun, and returns how long it still takes.
func (s *step) soak(soak time.Duration) time.Duration {
	if soak <= 0 {
		return 0
	}
	if s.out.SoakingSince == nil {
		now := metav1.NewTime(s.Now).Rfc3339Copy()
		s.out.SoakingSince = &now
	}
	return soak - s.Now.Sub(s.out.SoakingSince.Time)
}

// limitBySpread limits the number of exposed members of a release without a policy by the time since it started.
func (s *step) limitBySpread(members, end int) int {
	if s.Policy != nil || s.Spread <= 0 || s.out.StartedAt == nil {
		return end
	}
	part := s.Spread / spreadSteps
	steps := int(s.Now.Sub(s.out.StartedAt.Time)/max(part, time.Nanosecond)) + 1
	if steps >= spreadSteps {
		return end
	}
	s.lookAgain(part)
	return min(end, (members*steps+spreadSteps-1)/spreadSteps)
}

// riskOf returns 1 if a member can be reached and is not Ready in the version, except for a blip, or 0.
func (w *wave) riskOf(i int) int {
	if m := &w.members[i]; m.Offline || m.Waiting || w.blips[i] || m.Updated && m.Ready && !w.failures[i] {
		return 0
	}
	return 1
}

// expose raises the threshold so that up to a number of members are exposed, but not more members than the budget that are not Ready.
func (w *wave) expose(s *step, exposed, end int) {
	risk := 0
	for i := range exposed {
		risk += w.riskOf(i)
	}
	unlimited := s.Policy == nil && s.Spread <= 0
	n := exposed
	for ; n < end && (unlimited || risk < w.budget); n++ {
		risk += w.riskOf(n)
	}
	if n > exposed {
		s.out.Threshold = All
		if n < len(w.members) {
			s.out.Threshold = int64(w.members[n-1].Hash) + 1
		}
		s.restartBatch()
	}
	s.awaitFailure(w.members[:n])
}
