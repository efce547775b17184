// SPDX-License-Identifier: Apache-2.0

package share

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/requeue"
)

// errTurn ends a pass over a Manifest that waits for other Manifests of its ProviderConfig.
var errTurn = errors.New("other Manifests of the ProviderConfig are being reconciled")

// Shares manages the workers of a controller. Each ProviderConfig can always use its share of one eighth of the workers, but at
// least one. It can use more while half of the workers are free. It is safe for concurrent use.
type Shares struct {
	share, half int
	wake        func(types.NamespacedName)

	mu sync.Mutex
	// total is the number of workers in use, and used is the number per ProviderConfig. mu protects them and all fields below.
	total int
	used  map[string]int
	// waiting contains the Manifests without a worker for each ProviderConfig, in the order of their arrival. queued contains
	// the ProviderConfig of each of them. A Manifest that is only in waiting no longer waits.
	waiting map[string][]types.NamespacedName
	queued  map[types.NamespacedName]string
}

// New returns the shares of a number of workers. wake is called for a Manifest whose turn it is; it must not block for long.
func New(workers int, wake func(types.NamespacedName)) *Shares {
	return &Shares{
		share: max(1, workers/8), half: max(1, workers/2), wake: wake,
		used: map[string]int{}, waiting: map[string][]types.NamespacedName{}, queued: map[types.NamespacedName]string{},
	}
}

// Acquire reserves a worker of a ProviderConfig for a Manifest. If it returns false, wake is called for the Manifest when a
// worker is free.
func (s *Shares) Acquire(config string, nn types.NamespacedName) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used[config] >= s.share && s.total >= s.half {
		if s.queued[nn] != config {
			s.queued[nn] = config
			s.waiting[config] = append(s.waiting[config], nn)
		}
		return false
	}
	delete(s.queued, nn)
	s.total++
	s.used[config]++
	return true
}

// Release releases a worker of a ProviderConfig, and wakes a Manifest that waits for it.
func (s *Shares) Release(config string) {
	s.mu.Lock()
	s.total--
	if s.used[config]--; s.used[config] == 0 {
		delete(s.used, config)
	}
	next, ok := s.next(config)
	if !ok && s.total < s.half {
		for other := range s.waiting {
			if next, ok = s.next(other); ok {
				break
			}
		}
	}
	s.mu.Unlock()
	if ok {
		s.wake(next)
	}
}

// Forget removes a Manifest that no longer exists. It does nothing if s is nil.
func (s *Shares) Forget(nn types.NamespacedName) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.queued, nn)
}

// next removes the first Manifest that waits for a worker of a ProviderConfig. The caller holds mu.
func (s *Shares) next(config string) (types.NamespacedName, bool) {
	for list := s.waiting[config]; len(list) > 0; list = s.waiting[config] {
		nn := list[0]
		s.waiting[config] = list[1:]
		if s.queued[nn] == config {
			delete(s.queued, nn)
			return nn, true
		}
	}
	delete(s.waiting, config)
	return types.NamespacedName{}, false
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
	if !l.shares.Acquire(config, types.NamespacedName{Namespace: mg.GetNamespace(), Name: mg.GetName()}) {
		return nil, &requeue.QuietError{Err: errTurn}
	}
	release := func() { l.shares.Release(config) }
	connected := false
	// This also runs after a panic, which the controller recovers.
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
