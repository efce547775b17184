// SPDX-License-Identifier: Apache-2.0

package history

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// A Type is a type of change.
type Type string

const (
	// Installed means that the module is Ready for the first time. It took the time since the creation of the Manifest.
	Installed Type = "Installed"
	// Upgraded means that the module is Ready in another version, which can also be a lower one. It took the time since the Manifest
	// was changed.
	Upgraded Type = "Upgraded"
	// Updated means that the module is Ready in the same version after a change of the Manifest. It took the time since this change.
	Updated Type = "Updated"
	// RolledBack means that an upgrade failed, and that the previous content was restored. It took the time since the Manifest was
	// changed.
	RolledBack Type = "RolledBack"
	// Removed means that the Manifest no longer exists. It took the time since its deletion was requested.
	Removed Type = "Removed"
)

// Types returns all types.
func Types() []Type { return []Type{Installed, Upgraded, Updated, RolledBack, Removed} }

// A Change is a change of a module in a cluster. From and To are versions, or empty.
type Change struct {
	Type     Type
	From, To string
	Took     time.Duration
}

// A State contains what must be remembered of a Manifest until its next event. The zero State is that of a new Manifest.
type State struct {
	// installed is true once the module was Ready. version and generation are those of the last time.
	installed  bool
	version    string
	generation int64
	rolledBack bool
	// seen is the last generation, and since is the time at which it was seen first.
	seen  int64
	since time.Time
}

// Existing returns the state of a Manifest that existed when the provider started.
func Existing(m *v1alpha1.Manifest, now time.Time) State {
	at := &m.Status.AtProvider
	s := State{installed: at.Version != "" || isReady(m), version: at.Version, seen: m.Generation, since: now, rolledBack: isRolledBack(m)}
	if isReady(m) {
		s.generation = m.Generation
	}
	return s
}

// Next returns the state after an event, and the changes since the previous one.
func (s State) Next(m *v1alpha1.Manifest, now time.Time) (State, []Change) {
	if s.seen != m.Generation {
		s.seen, s.since = m.Generation, now
	}
	var out []Change
	version := m.Status.AtProvider.Version
	if back := isRolledBack(m); back != s.rolledBack {
		s.rolledBack = back
		if back {
			out = append(out, Change{Type: RolledBack, From: m.Spec.ForProvider.Version, To: version, Took: now.Sub(s.since)})
		}
	}
	if !isReady(m) {
		return s, out
	}
	c := Change{Type: Updated, From: s.version, To: version, Took: now.Sub(s.since)}
	switch {
	case !s.installed:
		c.Type, c.Took = Installed, now.Sub(m.CreationTimestamp.Time)
	case s.version != version:
		c.Type = Upgraded
	case s.generation == 0 || s.generation == m.Generation:
		// The module is Ready again without a change of the Manifest, or it is unknown whether there was one.
		c.Type = ""
	}
	if c.Type != "" {
		out = append(out, c)
	}
	s.installed, s.version, s.generation = true, version, m.Generation
	return s, out
}

// Gone returns the change of a Manifest that no longer exists. There is none if it was never installed, or if its deletion was missed.
func (s State) Gone(m *v1alpha1.Manifest, now time.Time) (Change, bool) {
	at := m.DeletionTimestamp
	if at == nil || !s.installed {
		return Change{}, false
	}
	return Change{Type: Removed, From: s.version, Took: now.Sub(at.Time)}, true
}

// isReady reports whether the current generation is Ready.
func isReady(m *v1alpha1.Manifest) bool {
	c := m.GetCondition(xpv2.TypeReady)
	return c.Status == corev1.ConditionTrue && c.ObservedGeneration == m.Generation
}

func isRolledBack(m *v1alpha1.Manifest) bool {
	return m.GetCondition(v1alpha1.TypeRolledBack).Status == corev1.ConditionTrue
}
