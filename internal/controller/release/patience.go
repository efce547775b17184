// SPDX-License-Identifier: Apache-2.0

package release

import (
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
	since map[string]map[string]struggles
}

// struggles contains since when the Kymas of a channel that are in a wave are not Ready in a version, which of them were Ready in it, and when
// some of them last did not count, because they were offline or waiting.
type struggles struct {
	version string
	wave    int32
	first   map[types.NamespacedName]time.Time
	passed  map[types.NamespacedName]bool
	away    map[types.NamespacedName]time.Time
}

// watch sets since when the members of a rollout are not Ready, and whether they were Ready before, and remembers it. The status is nil if the
// rollout has not begun.
func (p *patience) watch(release string, status *v1alpha1.ChannelRollout, t target, members []rollout.Member, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	after := struggles{
		version: t.release.Version, first: map[types.NamespacedName]time.Time{}, passed: map[types.NamespacedName]bool{},
		away: map[types.NamespacedName]time.Time{},
	}
	if status != nil {
		after.wave = status.Wave
	}
	before := p.since[release][t.channel]
	if before.version != after.version || before.wave != after.wave {
		before = struggles{}
	}
	for i := range members {
		if m := &members[i]; isExposed(status, t, m) {
			after.add(m, before, now)
		}
	}
	if p.since == nil {
		p.since = map[string]map[string]struggles{}
	}
	if p.since[release] == nil {
		p.since[release] = map[string]struggles{}
	}
	p.since[release][t.channel] = after
}

// add adds a member, and sets what is known of it.
func (s *struggles) add(m *rollout.Member, before struggles, now time.Time) {
	key := types.NamespacedName{Namespace: m.Namespace, Name: m.Name}
	if m.Offline || m.Waiting {
		s.away[key] = now
		return
	}
	if away, ok := before.away[key]; ok {
		// Its state is still that of the time before.
		m.Since, s.away[key] = later(m.Since, away), away
	}
	if m.Updated && (m.Ready || before.passed[key]) {
		m.Passed, s.passed[key] = true, true
	}
	if m.Updated && m.Ready {
		return
	}
	first, ok := before.first[key]
	if !ok {
		first = now
	}
	m.Unready, s.first[key] = first, first
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
