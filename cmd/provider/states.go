// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/history"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/sharding"
	"github.com/crossplane-contrib/provider-kyma/internal/metrics"
)

// retryStates is the time after which a watch for the metrics is tried again.
const retryStates = 10 * time.Second

// states is a runnable of the manager that updates the metrics of the managed resources of one kind for each change. The recorder of
// crossplane-runtime isn't used, because it copies all of them at each interval, and confuses those with the same name in different
// namespaces.
type states struct {
	cache   cache.Informers
	log     logging.Logger
	kind    client.Object
	objects *metrics.Objects
	// history records the changes of Manifests. It is nil for other kinds.
	history *history.Recorder
	// shards decides which objects are counted. It is nil if all are.
	shards *sharding.Shards
	// reader reads the cache.
	reader client.Reader
	// mu is held while the objects in the cache are counted again, or one changes.
	mu sync.Mutex
}

// Start updates the metrics until the context is done. An error of the API server does not end the manager.
func (s *states) Start(ctx context.Context) error {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := s.run(ctx); err != nil && ctx.Err() == nil {
			s.log.Info("Cannot watch managed resources for their metrics, retrying", "error", err)
		}
	}, retryStates)
	return nil
}

// run updates the metrics until the context is done.
func (s *states) run(ctx context.Context) error {
	informer, err := s.cache.GetInformer(ctx, s.kind, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	registration, err := informer.AddEventHandler(s)
	if err != nil {
		return err
	}
	changed := make(chan struct{}, 1)
	change := func() {
		select {
		case changed <- struct{}{}:
		default: // The next count includes this change.
		}
	}
	s.shards.OnChange(change)
	s.shards.OnMove(change)
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-changed:
			s.recount(ctx)
		}
	}
	err = informer.RemoveEventHandler(registration)
	s.objects.Reset()
	s.history.Reset()
	return err
}

// recount begins to count the objects that belong to this process now, and forgets those that belong to another one. The metrics of
// several replicas thus add up. What was counted before stays, with its history.
func (s *states) recount(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.list()
	if err := s.reader.List(ctx, all, client.UnsafeDisableDeepCopy); err != nil || ctx.Err() != nil {
		s.log.Info("Cannot count the managed resources of shards", "error", err)
		return
	}
	err := meta.EachListItem(all, func(o runtime.Object) error {
		mg, ok := o.(resource.Managed)
		switch {
		case !ok:
		case !s.shards.Owns(ctx, mg):
			s.forget(mg)
		case !s.objects.Has(mg.GetUID()):
			s.set(mg, true)
		}
		return nil
	})
	if err != nil {
		s.log.Info("Cannot count the objects of a shard", "error", err)
	}
}

// list returns an empty list of the kind.
func (s *states) list() client.ObjectList {
	if _, ok := s.kind.(*v1alpha1.Kyma); ok {
		return &v1alpha1.KymaList{}
	}
	return &v1alpha1.ManifestList{}
}

// OnAdd counts a new object.
func (s *states) OnAdd(o any, existed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if mg, ok := o.(resource.Managed); ok && s.shards.Owns(context.Background(), mg) {
		s.set(mg, existed)
	}
}

func (s *states) set(mg resource.Managed, existed bool) {
	s.objects.Set(measured(mg), existed)
	if m, ok := mg.(*v1alpha1.Manifest); ok {
		s.history.Set(m, existed)
	}
}

func (s *states) delete(mg resource.Managed) {
	s.objects.Delete(mg.GetUID())
	if m, ok := mg.(*v1alpha1.Manifest); ok {
		s.history.Delete(m)
	}
}

// forget no longer counts an object that belongs to another process.
func (s *states) forget(mg resource.Managed) {
	s.objects.Forget(mg.GetUID())
	if m, ok := mg.(*v1alpha1.Manifest); ok {
		s.history.Forget(m)
	}
}

// OnUpdate counts an object with its current state. An object that was recreated while the watch was interrupted is another one. One that
// was not counted before existed for another process.
func (s *states) OnUpdate(before, now any) {
	a, ok := before.(resource.Managed)
	b, is := now.(resource.Managed)
	if !ok || !is {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.GetUID() != b.GetUID() {
		s.delete(a)
	}
	if !s.shards.Owns(context.Background(), b) {
		s.forget(b)
		return
	}
	s.set(b, a.GetUID() == b.GetUID())
}

// OnDelete no longer counts an object.
func (s *states) OnDelete(o any) {
	if unknown, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
		o = unknown.Obj
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if mg, ok := o.(resource.Managed); ok {
		s.delete(mg)
	}
}

// measured returns what the metrics need of a managed resource.
func measured(mg resource.Managed) metrics.Object {
	synced := mg.GetCondition(xpv2.TypeSynced).Status
	o := metrics.Object{
		UID: mg.GetUID(), Created: mg.GetCreationTimestamp().Time, Reconciled: synced != corev1.ConditionUnknown,
		Synced: synced == corev1.ConditionTrue, Ready: mg.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue,
	}
	if at := mg.GetDeletionTimestamp(); at != nil {
		o.Deleted = at.Time
	}
	if m, ok := mg.(*v1alpha1.Manifest); ok {
		at := &m.Status.AtProvider
		o.Module = &metrics.Module{
			Name: m.Labels[v1alpha1.LabelModuleName], Channel: m.Labels[v1alpha1.LabelChannel], Version: at.Version, State: string(at.State),
		}
		if at.State == "" {
			o.Module.State = string(v1alpha1.StateProcessing)
		}
	}
	return o
}
