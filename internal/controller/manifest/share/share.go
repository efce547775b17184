// SPDX-License-Identifier: Apache-2.0

package share

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/requeue"
)

// errTurn ends a pass over a Manifest that waits for other Manifests.
var errTurn = errors.New("other Manifests are being reconciled")

// Shares manages the workers of a controller. Each ProviderConfig can always use its share of one eighth of the workers, but at
// least one. It can use more while half of the workers are free. Slow passes together use at most half of the workers, and those of
// one namespace use at most a quarter. It is safe for concurrent use.
type Shares struct {
	limits   limits
	wake     func(types.NamespacedName)
	response func(types.NamespacedName) time.Duration
	now      func() time.Time

	mu sync.Mutex
	// total is the number of workers in use, and used is the number for each ProviderConfig. mu protects them and all fields below.
	total int
	used  map[string]int
	// slow is the number of workers in use by slow passes, and slowOf is the number for each namespace.
	slow   int
	slowOf map[string]int
	pace   *pace
	turns  *turns
}

// New returns the shares of a number of workers. wake is called for a Manifest whose turn it is; it must not block for long. response
// returns the average response time of the cluster of a Manifest, or 0 if it is unknown.
func New(workers int, wake func(types.NamespacedName), response func(types.NamespacedName) time.Duration) *Shares {
	return &Shares{
		limits: limitsOf(workers), wake: wake, response: response, now: time.Now,
		used: map[string]int{}, slowOf: map[string]int{}, pace: newPace(), turns: newTurns(),
	}
}

// A Worker is a worker that is reserved for a pass over a Manifest.
type Worker struct {
	nn    types.NamespacedName
	at    place
	slow  bool
	since time.Time
}

// Acquire reserves a worker for a pass over a Manifest with a ProviderConfig. If it returns false, wake is called for the Manifest when
// a worker is free.
func (s *Shares) Acquire(config string, nn types.NamespacedName) (Worker, bool) {
	at, response, now := place{namespace: nn.Namespace, config: config}, s.response(nn), s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	w := Worker{nn: nn, at: at, slow: s.pace.isSlow(at, response, now), since: now}
	if !s.admits(at, w.slow) {
		s.turns.add(nn, at)
		return Worker{}, false
	}
	s.turns.drop(nn)
	s.count(w, 1)
	return w, true
}

// Release returns a worker, and wakes Manifests that wait for one.
func (s *Shares) Release(w Worker) {
	response, now := s.response(w.nn), s.now()
	s.mu.Lock()
	s.count(w, -1)
	s.pace.record(w.at, response, now.Sub(w.since), now)
	// If many workers are free, two Manifests are woken, in case one of them needs no worker anymore.
	most := 1
	if s.total+1 < s.limits.half {
		most = 2
	}
	var woken []types.NamespacedName
	for range most {
		nn, ok := s.turns.next(func(at place) bool { return s.admits(at, s.pace.isSlow(at, 0, now)) })
		if !ok {
			break
		}
		woken = append(woken, nn)
	}
	s.mu.Unlock()
	for _, nn := range woken {
		s.wake(nn)
	}
}

// Forget removes a Manifest that no longer exists. It does nothing if s is nil.
func (s *Shares) Forget(nn types.NamespacedName) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns.drop(nn)
}

// admits reports whether a pass gets a worker. The caller holds mu.
func (s *Shares) admits(at place, slow bool) bool {
	return s.limits.admits(load{
		total: s.total, ofConfig: s.used[at.config],
		slow: s.slow, slowOfNamespace: s.slowOf[at.namespace], contenders: s.turns.others(at.namespace),
	}, slow)
}

// count adds n to the workers in use. The caller holds mu.
func (s *Shares) count(w Worker, n int) {
	s.total += n
	increase(s.used, w.at.config, n)
	if w.slow {
		s.slow += n
		increase(s.slowOf, w.at.namespace, n)
	}
}

func increase(m map[string]int, k string, n int) {
	if m[k] += n; m[k] == 0 {
		delete(m, k)
	}
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
		return nil, &requeue.QuietError{Err: errTurn}
	}
	connected := false
	release := func() { l.shares.Release(worker) }
	// This also runs after a panic, which the caller handles.
	defer func() {
		if !connected {
			release()
		}
	}()
	c, err := l.connector.Connect(ctx, mg)
	if err != nil {
		return nil, err
	}
	connected = true
	return &client[T]{TypedExternalClient: c, release: release}, nil
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

type client[T resource.Managed] struct {
	managed.TypedExternalClient[T]

	release func()
}

// Disconnect releases the worker.
func (c *client[T]) Disconnect(ctx context.Context) error {
	defer c.release()
	return c.TypedExternalClient.Disconnect(ctx)
}
