// SPDX-License-Identifier: Apache-2.0

package share

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/requeue"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// errTurn ends a pass over a Manifest that waits for other Manifests.
var errTurn = errors.New("other Manifests are being reconciled")

// turnTime is how long a worker is kept for a Manifest that was woken. It may need none anymore.
const turnTime = 2 * time.Second

// Shares manages the workers of a controller. Each ProviderConfig can always use its share of one eighth of the workers, but at
// least one. It can use more while half of the workers are free. Slow passes together use at most half of the workers, and those of
// one namespace use at most a quarter. The first passes of namespaces about which nothing is known use up to a quarter in addition. A
// namespace never uses the last quarter of the workers. A pass that unexpectedly takes long needs no worker anymore, because it waits for
// something; see Concurrent. It is safe for concurrent use.
type Shares struct {
	limits   limits
	wake     func(types.NamespacedName)
	response func(types.NamespacedName) time.Duration
	priority func(types.NamespacedName) int
	now      func() time.Time
	// later calls a function after some time.
	later func(time.Duration, func())

	mu sync.Mutex
	// used is the number of workers in use for each ProviderConfig. mu protects it and all fields below.
	used map[string]int
	// running contains the workers in use, at most as many as there are, and those of long passes. turns contains those of them that are kept
	// for Manifests: for those that were woken, and for those whose passes have begun, until they acquire them.
	running []*Worker
	turns   map[types.NamespacedName]*Worker
	pace    *pace
	waiting *fairQueue
	spare   spare
}

// ResponseTimes returns a function that returns the average response time of the cluster that a Manifest used last, or 0 if it is unknown.
func ResponseTimes(last func(consumer string) (cluster.Cluster, bool)) func(types.NamespacedName) time.Duration {
	return func(nn types.NamespacedName) time.Duration {
		c, ok := last(nn.String())
		if !ok {
			return 0
		}
		if r, ok := c.(interface{ ResponseTime() time.Duration }); ok {
			return r.ResponseTime()
		}
		return 0
	}
}

// New returns the shares of a number of workers. wake is called for a Manifest whose turn it is; it must not block for long. response
// returns the average response time of the cluster of a Manifest, or 0 if it is unknown.
func New(workers int, wake func(types.NamespacedName), response func(types.NamespacedName) time.Duration) *Shares {
	return &Shares{
		limits: limitsOf(workers), wake: wake, response: response, now: time.Now, priority: func(types.NamespacedName) int { return 0 },
		later: func(d time.Duration, f func()) { time.AfterFunc(d, f) },
		used:  map[string]int{}, turns: map[types.NamespacedName]*Worker{}, pace: newPace(), waiting: newFairQueue(),
		spare: spare{used: map[string]int{}},
	}
}

// WithPriorities sets a function that returns the priority of the current pass over a Manifest, and returns the Shares. Of the Manifests of a
// namespace that wait, those with a higher priority get workers first. Without it, all have the same priority.
func (s *Shares) WithPriorities(priority func(types.NamespacedName) int) *Shares {
	s.priority = priority
	return s
}

// A Worker is a worker that is reserved for a pass over a Manifest.
type Worker struct {
	nn types.NamespacedName
	at place
	// response is the average response time of the cluster when the pass began, expected is what was expected of the pass, and as is how
	// it was admitted.
	response time.Duration
	expected expectation
	as       admission
	since    time.Time
	// long is true if the pass has taken so long that it needs no worker anymore.
	long bool
	// waits is set if the pass ended because the Manifest waits, for example for the connection to its cluster.
	waits bool
	// observed is set if the pass has observed the cluster.
	observed bool
}

// worker returns a worker for a pass over a Manifest that begins now. It is not reserved.
func (s *Shares) worker(config string, nn types.NamespacedName) *Worker {
	return &Worker{nn: nn, at: place{namespace: nn.Namespace, config: config}, response: s.response(nn), since: s.now()}
}

// isSlow reports whether the pass was not expected to be quick, or has already taken long.
func (w *Worker) isSlow(now time.Time) bool {
	return w.expected != quick || now.Sub(w.since) >= slowPass
}

// Acquire reserves a worker for a pass over a Manifest with a ProviderConfig. If it returns false, wake is called for the Manifest when
// a worker is free, which is kept for it.
func (s *Shares) Acquire(config string, nn types.NamespacedName) (*Worker, bool) {
	w := s.worker(config, nn)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.admit(w) {
		return nil, false
	}
	return w, true
}

// admit reserves a worker, which is the one that is kept for its Manifest if there is one. Otherwise, it can return false; the Manifest
// then waits. The caller holds mu.
func (s *Shares) admit(w *Worker) bool {
	s.findLong(w.since)
	w.expected = s.pace.expect(w.at, w.response, w.since)
	kept := s.endTurn(w.nn)
	if kept != nil && kept.at == w.at {
		w.as = kept.as
	} else if w.as = s.limits.admit(s.load(w.at, w.since), w.expected); w.as == refused {
		s.waiting.add(w.nn, w.at, s.priority(w.nn))
		s.awaitLong(w.since)
		return false
	}
	s.waiting.drop(w.nn)
	s.add(w)
	s.awaitLong(w.since)
	return true
}

// Release returns a worker, and wakes Manifests that wait for one.
func (s *Shares) Release(w *Worker) {
	response, now := max(s.response(w.nn), w.response), s.now()
	s.mu.Lock()
	s.remove(w)
	switch {
	case w.waits:
		s.waiting.endTurn(w.nn, w.at)
	case w.observed:
		s.waiting.settle(w.nn, w.at)
	}
	s.pace.record(w.at, response, now.Sub(w.since), now)
	woken := s.turnsAt(now)
	s.mu.Unlock()
	s.wakeAll(woken)
}

// turnsAt keeps workers for Manifests that wait, as many as can be admitted, and returns them. The caller holds mu and calls wakeAll
// without it.
func (s *Shares) turnsAt(now time.Time) (woken []*Worker) {
	s.findLong(now)
	for len(s.running)-s.spare.total < s.limits.workers {
		next := &Worker{since: now}
		nn, ok := s.waiting.next(func(at place) bool {
			next.at, next.expected = at, s.pace.expect(at, 0, now)
			next.as = s.limits.admit(s.load(at, now), next.expected)
			return next.as != refused
		})
		if !ok {
			return woken
		}
		next.nn = nn
		s.turns[nn] = next
		s.add(next)
		woken = append(woken, next)
	}
	return woken
}

// wakeAll wakes the Manifests of workers. If one of them does not use its worker in time, others get it.
func (s *Shares) wakeAll(woken []*Worker) {
	for _, w := range woken {
		time.AfterFunc(turnTime, func() { s.lapse(w) })
		s.wake(w.nn)
	}
}

// lapse returns a worker that was kept for a Manifest and not used, and wakes other Manifests.
func (s *Shares) lapse(w *Worker) {
	s.mu.Lock()
	var woken []*Worker
	if s.turns[w.nn] == w {
		s.endTurn(w.nn)
		woken = s.turnsAt(s.now())
	}
	s.mu.Unlock()
	s.wakeAll(woken)
}

// endTurn removes and returns the worker that is kept for a Manifest, or returns nil. The caller holds mu.
func (s *Shares) endTurn(nn types.NamespacedName) *Worker {
	w := s.turns[nn]
	if w != nil {
		delete(s.turns, nn)
		s.remove(w)
	}
	return w
}

// add and remove add a worker to those in use, and remove it. The caller holds mu.
func (s *Shares) add(w *Worker) {
	s.running = append(s.running, w)
	s.used[w.at.config]++
}

func (s *Shares) remove(w *Worker) {
	if i := slices.Index(s.running, w); i >= 0 {
		s.running = slices.Delete(s.running, i, i+1)
	}
	if w.long {
		s.spare.giveBack(w.at.namespace)
	}
	if s.used[w.at.config]--; s.used[w.at.config] == 0 {
		delete(s.used, w.at.config)
	}
}

// load returns the workers in use when a pass begins. The caller holds mu.
func (s *Shares) load(at place, now time.Time) load {
	l := load{total: len(s.running) - s.spare.total, ofConfig: s.used[at.config], contenders: s.waiting.others(at.namespace)}
	for _, w := range s.running {
		if w.long {
			continue
		}
		same := w.at.namespace == at.namespace
		if same {
			l.ofNamespace++
		}
		switch {
		case w.as == newcomer:
			l.newcomers++
		case w.isSlow(now):
			l.slow++
			if same {
				l.slowOfNamespace++
			}
		}
	}
	return l
}

// Forget removes a Manifest that no longer exists. It does nothing if s is nil.
func (s *Shares) Forget(nn types.NamespacedName) {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.waiting.drop(nn)
	s.mu.Unlock()
	s.giveUp(nn)
}

// Limited returns a connector whose passes each hold a worker of their ProviderConfig from Connect to Disconnect. A pass
// without a worker ends, and nothing is reported.
func Limited[T resource.ModernManaged](c managed.TypedExternalConnector[T], s *Shares) managed.TypedExternalConnector[T] {
	return &limited[T]{connector: c, shares: s}
}

type limited[T resource.ModernManaged] struct {
	connector managed.TypedExternalConnector[T]
	shares    *Shares
}

// Connect calls the connector if a worker is available.
func (l *limited[T]) Connect(ctx context.Context, mg T) (managed.TypedExternalClient[T], error) {
	config := configOf(mg)
	worker, ok := l.shares.Acquire(config, types.NamespacedName{Namespace: mg.GetNamespace(), Name: mg.GetName()})
	if !ok {
		requeue.StopRetries(ctx)
		return nil, &requeue.QuietError{Err: errTurn}
	}
	connected := false
	// This also runs after a panic, which the caller handles.
	defer func() {
		if !connected {
			l.shares.Release(worker)
		}
	}()
	c, err := l.connector.Connect(ctx, mg)
	if err != nil {
		return nil, err
	}
	connected = true
	return &limitedClient[T]{TypedExternalClient: c, shares: l.shares, worker: worker}, nil
}

// configOf returns a string that identifies the ProviderConfig of a managed resource.
func configOf(mg resource.ModernManaged) string {
	switch ref := mg.GetProviderConfigReference(); {
	case ref == nil:
		return mg.GetNamespace()
	case ref.Kind == v1alpha1.ClusterProviderConfigKind:
		return ref.Name
	default:
		return mg.GetNamespace() + "/" + ref.Name
	}
}

type limitedClient[T resource.Managed] struct {
	managed.TypedExternalClient[T]

	shares *Shares
	worker *Worker
}

// Observe records whether the pass ends because the Manifest waits.
func (c *limitedClient[T]) Observe(ctx context.Context, mg T) (managed.ExternalObservation, error) {
	o, err := c.TypedExternalClient.Observe(ctx, mg)
	c.worker.waits, c.worker.observed = errors.As(err, new(*requeue.QuietError)), err == nil
	return o, err
}

// Disconnect releases the worker.
func (c *limitedClient[T]) Disconnect(ctx context.Context) error {
	defer c.shares.Release(c.worker)
	return c.TypedExternalClient.Disconnect(ctx)
}
