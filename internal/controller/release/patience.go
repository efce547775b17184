// SPDX-License-Identifier: Apache-2.0

package release

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/rollout"
)

// A patience remembers since when Kymas that may have a version are not Ready. The conditions of a Kyma do not say so: their times change
// with each message, so that a module that reports a new problem every few minutes would block a rollout forever. After a restart, the
// time begins again. Its zero value is ready to use, and it is safe for concurrent use.
type patience struct {
	mu    sync.Mutex
	since map[string]map[string]struggles
}

// struggles contains since when the Kymas of a channel are not Ready in a version.
type struggles struct {
	version string
	first   map[types.NamespacedName]time.Time
}

// watch sets since when the members of a rollout are not Ready, and remembers it. The status is nil if the rollout has not begun.
func (p *patience) watch(release string, status *v1alpha1.ChannelRollout, t target, members []rollout.Member, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.since[release][t.channel]
	if before.version != t.release.Version {
		before.first = nil
	}
	after := map[types.NamespacedName]time.Time{}
	for i := range members {
		m := &members[i]
		if !isTrying(status, t, m) {
			continue
		}
		key := types.NamespacedName{Namespace: m.Namespace, Name: m.Name}
		first, ok := before.first[key]
		if !ok {
			first = now
		}
		m.Unready, after[key] = first, first
	}
	if p.since == nil {
		p.since = map[string]map[string]struggles{}
	}
	if p.since[release] == nil {
		p.since[release] = map[string]struggles{}
	}
	p.since[release][t.channel] = struggles{version: t.release.Version, first: after}
}

// isTrying reports whether a Kyma of the current wave may have the version, can be reached, and is not Ready in it.
func isTrying(status *v1alpha1.ChannelRollout, t target, m *rollout.Member) bool {
	return status != nil && status.Version == t.release.Version && status.Phase == v1alpha1.RolloutProgressing &&
		m.Wave == int(status.Wave) && int64(m.Hash) < status.Threshold && !m.Offline && !m.Waiting && (!m.Updated || !m.Ready)
}

// forget forgets a ModuleReleaseMeta.
func (p *patience) forget(release string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.since, release)
}
