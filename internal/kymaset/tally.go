// SPDX-License-Identifier: Apache-2.0

package kymaset

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// An Outcome is the state of one cluster of a KymaSet.
type Outcome struct {
	// Applied is true if the Kyma is as the template specifies.
	Applied bool
	// Ready is true if the Kyma is Ready.
	Ready bool
	// Failure explains why the Kyma could not be applied, or its state Error. It is empty otherwise.
	Failure string
}

// A Tally counts the outcomes of the clusters of one KymaSet. Adding an outcome costs the same for each size of the fleet. It is safe
// for concurrent use.
type Tally struct {
	mu         sync.Mutex
	generation int64
	outcomes   map[types.NamespacedName]Outcome
	failed     map[types.NamespacedName]string
	unknown    map[types.NamespacedName]bool
	applied    int32
	ready      int32
}

// NewTally returns an empty Tally.
func NewTally() *Tally {
	return &Tally{
		outcomes: map[types.NamespacedName]Outcome{}, failed: map[types.NamespacedName]string{}, unknown: map[types.NamespacedName]bool{},
	}
}

// Begin starts a pass over all members. The outcomes of earlier members are removed. For a new generation, no member is applied.
func (t *Tally) Begin(generation int64, members []types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.outcomes
	changed := t.generation != generation
	t.generation, t.applied, t.ready = generation, 0, 0
	t.outcomes, t.failed, t.unknown = make(map[types.NamespacedName]Outcome, len(members)), map[types.NamespacedName]string{}, map[types.NamespacedName]bool{}
	for _, m := range members {
		o := before[m]
		o.Applied = o.Applied && !changed
		t.set(m, o)
		t.unknown[m] = true
	}
}

// Set records the outcome of a cluster, and reports whether it differs from before.
func (t *Tally) Set(cluster types.NamespacedName, o Outcome) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, ok := t.outcomes[cluster]
	changed := !ok || before != o || t.unknown[cluster]
	t.remove(cluster)
	t.set(cluster, o)
	return changed
}

// Remove removes a cluster that is not a member, and reports whether it was one.
func (t *Tally) Remove(cluster types.NamespacedName) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.outcomes[cluster]
	t.remove(cluster)
	return ok
}

func (t *Tally) set(cluster types.NamespacedName, o Outcome) {
	t.outcomes[cluster] = o
	if o.Applied {
		t.applied++
	}
	if o.Ready {
		t.ready++
	}
	if o.Failure != "" {
		t.failed[cluster] = o.Failure
	}
}

func (t *Tally) remove(cluster types.NamespacedName) {
	o := t.outcomes[cluster]
	if o.Applied {
		t.applied--
	}
	if o.Ready {
		t.ready--
	}
	delete(t.outcomes, cluster)
	delete(t.failed, cluster)
	delete(t.unknown, cluster)
}

// Report writes the counts and the first failures to a status. It returns false if not all members have been checked in this pass.
func (t *Tally) Report(s *v1alpha1.KymaSetStatus, most int) (complete bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.Clusters, s.Applied, s.Ready, s.Failed = int32(len(t.outcomes)), t.applied, t.ready, int32(len(t.failed)) //nolint:gosec // etcd holds fewer objects.
	first := slices.SortedFunc(maps.Keys(t.failed), func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	s.Failures = nil
	for _, c := range first[:min(most, len(first))] {
		s.Failures = append(s.Failures, v1alpha1.KymaSetFailure{Namespace: c.Namespace, Name: c.Name, Message: t.failed[c]})
	}
	return len(t.unknown) == 0
}
