// SPDX-License-Identifier: Apache-2.0

package sharding

import (
	"context"
	"sync"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/shard"
)

// moveTime is the time that a replica waits before it works on a config whose label has changed. The replica that worked on it before
// stops its writes when it receives the change, and may receive it later.
const moveTime = 15 * time.Second

// moves contains the configs whose label has changed, with the time until which no replica works on them.
type moves struct {
	mu    sync.Mutex
	until map[configKey]time.Time
}

func (m *moves) add(k configKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.until == nil {
		m.until = map[configKey]time.Time{}
	}
	m.until[k] = time.Now().Add(moveTime)
}

// wait returns how long to wait before any work on a config.
func (m *moves) wait(k configKey) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	until, ok := m.until[k]
	if !ok {
		return 0
	}
	left := time.Until(until)
	if left <= 0 {
		delete(m.until, k)
	}
	return max(0, left)
}

// Watch delays work on configs whose label changes from now on, and queues the objects of their new shard when the replica holds it.
func (s *Shards) Watch(ctx context.Context, informers cache.Informers) error {
	if s == nil {
		return nil
	}
	for _, o := range []client.Object{&v1alpha1.ProviderConfig{}, &v1alpha1.ClusterProviderConfig{}} {
		i, err := informers.GetInformer(ctx, o, cache.BlockUntilSynced(false))
		if err != nil {
			return errors.Wrap(err, "cannot watch configs for their shards")
		}
		if _, err := i.AddEventHandler(toolscache.ResourceEventHandlerFuncs{UpdateFunc: s.moved}); err != nil {
			return errors.Wrap(err, "cannot watch configs for their shards")
		}
	}
	return nil
}

func (s *Shards) moved(before, now any) {
	was, ok := before.(client.Object)
	is, isok := now.(client.Object)
	if !ok || !isok || was.GetLabels()[v1alpha1.LabelShard] == is.GetLabels()[v1alpha1.LabelShard] {
		return
	}
	k, ok := configOf(is)
	if !ok {
		return
	}
	s.moves.add(k)
	if n, ok := labelled(is, s.count); ok {
		s.owner.Again(n)
		return
	}
	s.owner.Again(shard.Of(k.String(), s.count))
}
