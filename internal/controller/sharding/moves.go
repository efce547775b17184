// SPDX-License-Identifier: Apache-2.0

package sharding

import (
	"context"
	"slices"
	"sync"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

const (
	// moveTime is the time that a replica waits before it works on a config whose label has changed. The replica that worked on it
	// before stops its writes when it receives the change, and may receive it later.
	moveTime = 15 * time.Second
	// eventTime is the time after which an object is reconciled again if the cache contains a label whose event is not handled yet.
	eventTime = time.Second
)

// moves contains the labels of configs, and the time until which no replica works on those whose label has changed.
type moves struct {
	mu sync.Mutex
	// labels contains only configs with a label.
	labels    map[configKey]string
	until     map[configKey]time.Time
	listeners []func()
}

// listen registers a function that is called after a label has changed.
func (m *moves) listen(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.listeners = append(m.listeners, f)
}

// set records the label of a config, which is empty if there is none.
func (m *moves) set(k configKey, label string) {
	m.mu.Lock()
	if m.labels[k] == label {
		m.mu.Unlock()
		return
	}
	m.labels[k] = label
	if label == "" {
		delete(m.labels, k)
	}
	m.until[k] = time.Now().Add(moveTime)
	time.AfterFunc(moveTime, func() { m.expire(k) })
	listeners := slices.Clone(m.listeners)
	m.mu.Unlock()
	for _, f := range listeners {
		f()
	}
}

// wait returns how long to wait before any work on a config with this label in the cache.
func (m *moves) wait(k configKey, label string) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.labels[k] != label {
		return eventTime
	}
	until, ok := m.until[k]
	if !ok {
		return 0
	}
	return max(0, time.Until(until))
}

// expire forgets when the label of a config changed, unless it changed again.
func (m *moves) expire(k configKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if until, ok := m.until[k]; ok && time.Until(until) <= 0 {
		delete(m.until, k)
	}
}

// Watch delays work on configs whose label changes. A label that this process sees for the first time counts as a change, because it is
// unknown when it was set.
func (s *Shards) Watch(ctx context.Context, informers cache.Informers) error {
	if s == nil {
		return nil
	}
	for _, o := range []client.Object{&v1alpha1.ProviderConfig{}, &v1alpha1.ClusterProviderConfig{}} {
		i, err := informers.GetInformer(ctx, o, cache.BlockUntilSynced(false))
		if err != nil {
			return errors.Wrap(err, "cannot watch configs for their shards")
		}
		if _, err := i.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: s.changed, UpdateFunc: func(_, now any) { s.changed(now) }, DeleteFunc: s.deleted,
		}); err != nil {
			return errors.Wrap(err, "cannot watch configs for their shards")
		}
	}
	return nil
}

// changed records the label of a config.
func (s *Shards) changed(config any) {
	if c, ok := config.(client.Object); ok {
		if k, ok := configOf(c); ok {
			s.moves.set(k, c.GetLabels()[v1alpha1.LabelShard])
		}
	}
}

// deleted records that a config has no label because it does not exist.
func (s *Shards) deleted(config any) {
	if unknown, ok := config.(toolscache.DeletedFinalStateUnknown); ok {
		config = unknown.Obj
	}
	if c, ok := config.(client.Object); ok {
		if k, ok := configOf(c); ok {
			s.moves.set(k, "")
		}
	}
}

// OnMove calls a function after the label of a config has changed, so that its objects can belong to another replica.
func (s *Shards) OnMove(f func()) {
	if s != nil {
		s.moves.listen(f)
	}
}

// ConfigChanged returns a predicate for the events of configs after which the objects that use them are queued: a replica that no longer
// works on them forgets them, and another one begins.
func (s *Shards) ConfigChanged() predicate.Predicate {
	if s == nil {
		return predicate.GenerationChangedPredicate{}
	}
	return predicate.Or(predicate.GenerationChangedPredicate{}, predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld.GetLabels()[v1alpha1.LabelShard] != e.ObjectNew.GetLabels()[v1alpha1.LabelShard]
	}})
}
