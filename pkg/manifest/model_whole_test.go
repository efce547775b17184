// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
)

// takeAway removes the bundle: in the end nothing of it is left, except for what must be kept.
func (m *model) takeAway() error {
	m.heal()
	m.world.upset()
	m.removing = true
	kept := map[cluster.ObjectRef]types.UID{}
	for k, uid := range m.uids {
		if m.keeps(k) {
			kept[k] = uid
		}
	}
	defer func() { m.removing, m.unsure = false, true }()
	clear(m.uids)
	var left Removal
	var err error
	for range modelPatience {
		m.help()
		m.clock = m.clock.Add(2 * time.Minute)
		left, err = m.b.Remove(m.t.Context(), m.b.c, m.bundle(), m.options()...)
		m.sayf("  take away: %+v, %v", left, err)
		m.recordReported(left.Kept, left.KeptAdopted, left.LeftBehind, left.Rebuilt)
		if err := m.invariants(); err != nil {
			return err
		}
		if err == nil && left.Gone {
			if m.world != nil {
				m.world.installed = false
			}
			return m.checkGone(kept)
		}
	}
	return errors.Errorf("is not gone: %+v, %v", left, err)
}

func (m *model) checkGone(kept map[cluster.ObjectRef]types.UID) error {
	inv, err := m.inventory()
	if err != nil || inv != nil {
		return errors.Errorf("the inventory is left: %+v, %v", inv, err)
	}
	for k, uid := range kept {
		if got := m.b.s.uidOf(k); got != uid {
			return errors.Errorf("%s was to be kept: want %s, got %q", k, uid, got)
		}
	}
	if err := m.checkLeftovers(nil, nil); err != nil {
		return err
	}
	m.b.s.took()
	if r, err := m.b.Remove(m.t.Context(), m.b.c, m.bundle(), m.options()...); err != nil || !r.Gone {
		return errors.Errorf("a removal of nothing: %+v, %v", r, err)
	}
	for _, l := range m.b.s.took() {
		if !strings.HasPrefix(l, "get ") {
			return errors.Errorf("a removal of nothing wrote: %s", l)
		}
	}
	return nil
}

// loseInventory deletes the inventory of a bundle that is applied. The engine creates it again from the objects, which do not
// change.
func (m *model) loseInventory(_, _ int) error {
	if err := m.checkpoint(); err != nil {
		return err
	}
	k := key("Secret", DefaultNamespace, "team-a-web")
	m.b.s.remove(k)
	m.world.loseTrack(m)
	m.unsure = true
	m.world.upset()
	for range modelPatience {
		m.clock = m.clock.Add(time.Second)
		if o, err := m.b.Observe(m.t.Context(), m.b.c, m.bundle(), m.options()...); err == nil && o.Exists && o.UpToDate {
			break
		}
		r, err := m.b.Apply(m.t.Context(), m.b.c, m.bundle(), m.options()...)
		m.sayf("  without inventory: %+v, %v", r, err)
	}
	return m.checkpoint()
}

// driftWithoutRepair changes objects under a policy that leaves drift: nothing is written, and the drift is reported.
func (m *model) driftWithoutRepair(a, b int) error {
	if err := m.checkpoint(); err != nil {
		return err
	}
	k, ok := m.pick(a)
	if !ok || m.fixed(k) {
		return nil
	}
	m.drift = []DriftPolicy{DriftReport, DriftIgnore}[b%2]
	m.sayf("  %s of %s", m.drift, k)
	m.b.s.edit(k, set("drifted", "metadata", "labels", "team"))
	version := m.versionOf(k)
	for range 3 {
		m.b.s.took()
		if err := m.engine(); err != nil {
			return err
		}
		o, err := m.b.Observe(m.t.Context(), m.b.c, m.bundle(), m.options()...)
		if err != nil {
			return err
		}
		reported := slices.ContainsFunc(o.Drift, func(d observe.Drift) bool {
			return d.Key == k && (slices.Equal(d.Fields, []string{"metadata.labels.team"}) || len(d.Fields) == 0 && m.world.rendersDifferently(m, k))
		})
		if !o.UpToDate || reported != (m.drift == DriftReport) || reported != (o.State == Warning) {
			return errors.Errorf("drift of %s: %+v", k, o)
		}
		for _, l := range m.b.s.took() {
			if !strings.HasPrefix(l, "get") && !strings.HasPrefix(l, "dry-run") {
				return errors.Errorf("drift must not be repaired, but there was a write: %s", l)
			}
		}
		if got := m.versionOf(k); got != version {
			return errors.Errorf("%s was changed: %s, now %s", k, version, got)
		}
	}
	return nil
}
