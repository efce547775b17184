// SPDX-License-Identifier: Apache-2.0

package release

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/rollout"
)

// A patience remembers since when Kymas that may have a version are not Ready, and whether they were Ready before. The conditions of a Kyma do not
// say so: their times change with each message, so that a module that reports a new problem every few minutes would block a rollout forever. After a
// restart, the time begins again, and each Kyma must be Ready once more. Its zero value is ready to use, and it is safe for concurrent use.
type patience struct {
	mu    sync.Mutex
	since map[string]map[string]*struggles
}

// struggles contains what is known of the Kymas of a channel that are in a wave and may have a version.
type struggles struct {
	version string
	wave    int32
	kymas   map[types.NamespacedName]struggle
	// passes is the number of passes.
	passes uint64
}

// A struggle contains since when a Kyma is not Ready in a version, whether it was Ready in it before, and when it last did not count, because it was
// offline or waiting.
type struggle struct {
	first, away time.Time
	passed      bool
	// seen is the number of the last pass that considered the Kyma.
	seen uint64
}

// watch sets since when the members of a rollout are not Ready, and whether they were Ready before, and remembers it. The status is nil if the
// rollout has not begun.
func (p *patience) watch(release string, status *v1alpha1.ChannelRollout, t target, members []rollout.Member, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.strugglesOf(release, t.channel)
	wave := int32(0)
	if status != nil {
		wave = status.Wave
	}
	if s.version != t.release.Version || s.wave != wave {
		*s = struggles{version: t.release.Version, wave: wave, kymas: map[types.NamespacedName]struggle{}}
	}
	s.passes++
	exposed := 0
	for i := range members {
		if m := &members[i]; isExposed(status, t, m) {
			exposed++
			s.add(m, now)
		}
	}
	switch {
	case exposed == 0:
		s.kymas = map[types.NamespacedName]struggle{} // Deletions would keep the memory of a map until the next rollout.
	case len(s.kymas) > exposed:
		maps.DeleteFunc(s.kymas, func(_ types.NamespacedName, known struggle) bool { return known.seen != s.passes })
	}
}

// strugglesOf returns what is known of the Kymas of a channel. The caller holds mu.
func (p *patience) strugglesOf(release, channel string) *struggles {
	if p.since == nil {
		p.since = map[string]map[string]*struggles{}
	}
	if p.since[release] == nil {
		p.since[release] = map[string]*struggles{}
	}
	if p.since[release][channel] == nil {
		p.since[release][channel] = &struggles{kymas: map[types.NamespacedName]struggle{}}
	}
	return p.since[release][channel]
}

// add adds a member, and sets what is known of it.
func (s *struggles) add(m *rollout.Member, now time.Time) {
	key := types.NamespacedName{Namespace: m.Namespace, Name: m.Name}
	before, after := s.kymas[key], struggle{seen: s.passes}
	switch {
	case m.Offline || m.Waiting:
		after.away = now
	default:
		if !before.away.IsZero() {
			// Its state is still that of the time before.
			m.Since, after.away = later(m.Since, before.away), before.away
		}
		m.Passed = m.Updated && (m.Ready || before.passed)
		after.passed = m.Passed
		if !m.Updated || !m.Ready {
			m.Unready = before.first
			if m.Unready.IsZero() {
				m.Unready = now
			}
			after.first = m.Unready
		}
	}
	s.kymas[key] = after
}

// isExposed reports whether a Kyma of the current wave may have the version.
func isExposed(status *v1alpha1.ChannelRollout, t target, m *rollout.Member) bool {
	return status != nil && status.Version == t.release.Version && status.Phase == v1alpha1.RolloutProgressing &&
		m.Wave == int(status.Wave) && int64(m.Hash) < status.Threshold
}

// forget forgets a ModuleReleaseMeta.
func (p *patience) forget(release string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.since, release)
}
