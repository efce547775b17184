// SPDX-License-Identifier: Apache-2.0

package kymaset

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/priority"
	"github.com/crossplane-contrib/provider-kyma/internal/kymaset"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// finalizer keeps a KymaSet until its Kymas are removed.
const finalizer = "kyma.m.crossplane.io/kymaset"

const (
	// spacing is the time in which the outcomes of clusters are merged to one write of the status.
	spacing = time.Second
	// again is the interval at which a missing permission or CRD is checked.
	again = 15 * time.Second
	// soon is the time after which a cache is read again that was not complete, or behind.
	soon = 250 * time.Millisecond
)

// sets reconciles KymaSets: it queues their clusters, and writes their status.
type sets struct {
	client client.Client
	server client.Reader
	fleet  *fleet
	// enqueue queues requests.
	enqueue *enqueuer
	// poll is the interval after which all clusters of a KymaSet are queued again, which costs no request.
	poll   time.Duration
	record event.Recorder

	mu     sync.Mutex
	passes map[string]*pass
}

// A pass is the last pass over all clusters of a KymaSet.
type pass struct {
	uid        types.UID
	generation int64
	// begun is the time of the pass. It is zero before the first one, and if another one is due.
	begun time.Time
	// deleting is true if the KymaSet was being deleted then.
	deleting bool
	tally    *kymaset.Tally
}

// An enqueuer queues requests of this controller.
type enqueuer struct {
	mu    sync.Mutex
	queue priority.Queue
}

// start stores the queue of the controller.
func (e *enqueuer) start(q priority.Queue) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.queue = q
}

// add queues a request with the priority of a rollout after a delay.
func (e *enqueuer) add(r reconcile.Request, after time.Duration) {
	e.mu.Lock()
	q := e.queue
	e.mu.Unlock()
	if q != nil {
		priority.With(priority.Rollout, q).AddAfter(r, after)
	}
}

// report records the outcome of a cluster, and queues its KymaSet if it changed.
func (s *sets) report(set *v1alpha1.KymaSet, key types.NamespacedName, o *kymaset.Outcome) {
	t := s.passOf(set).tally
	var changed bool
	if o == nil {
		changed = t.Remove(key)
	} else {
		changed = t.Set(key, *o)
	}
	if changed || meta.WasDeleted(set) {
		s.enqueue.add(setRequest(set.Name), spacing)
	}
}

// passOf returns the pass of a KymaSet. A KymaSet that was recreated has another one.
func (s *sets) passOf(set *v1alpha1.KymaSet) *pass {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.passes[set.Name]
	if !ok || p.uid != set.UID {
		p = &pass{uid: set.UID, tally: kymaset.NewTally()}
		s.passes[set.Name] = p
	}
	return p
}

// invalidate makes a pass over each KymaSet due. Another replica may have worked on them.
func (s *sets) invalidate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.passes {
		p.begun = time.Time{}
	}
}

func (s *sets) drop(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.passes, name)
}

// reconcile reconciles a KymaSet.
func (s *sets) reconcile(ctx context.Context, name string) (reconcile.Result, error) {
	set := &v1alpha1.KymaSet{}
	err := s.client.Get(ctx, types.NamespacedName{Name: name}, set)
	if notfound.Is(err) {
		s.drop(name)
		return reconcile.Result{}, nil
	}
	switch {
	case err != nil:
		return reconcile.Result{}, errors.Wrapf(err, "cannot get KymaSet %s", name)
	case meta.WasDeleted(set):
		return s.finish(ctx, set)
	case !meta.FinalizerExists(set, finalizer):
		// The event of this write continues.
		return s.patch(ctx, set, meta.AddFinalizer)
	}
	before := set.DeepCopy()
	wait, complete, err := s.advance(ctx, set)
	var blocked *blockedError
	switch {
	case errors.Is(err, errSyncing):
		return reconcile.Result{RequeueAfter: soon}, nil
	case errors.As(err, &blocked):
		setConditions(set, err, false)
		wait = again
	case err != nil:
		return reconcile.Result{}, err
	case wait < 0:
		return reconcile.Result{}, s.update(ctx, before, set)
	case !complete && before.Status.ObservedGeneration == set.Generation:
		return reconcile.Result{RequeueAfter: wait}, nil // After a restart, the status stays as it is until all clusters are checked.
	default:
		setConditions(set, nil, false)
	}
	if err := s.update(ctx, before, set); err != nil {
		return conflictLater(err)
	}
	return reconcile.Result{RequeueAfter: wait}, nil
}

// advance queues the clusters of a KymaSet if a pass is due, and writes the counts to its status in memory. It returns the time until
// the next pass, which is negative if only a change of the KymaSet helps, and whether all clusters were checked.
func (s *sets) advance(ctx context.Context, set *v1alpha1.KymaSet) (time.Duration, bool, error) {
	selection, err := kymaset.SelectionOf(set)
	if err != nil {
		setConditions(set, err, true)
		return -1, false, nil
	}
	if err := s.fleet.access.ensure(ctx, selection); err != nil {
		return 0, false, err
	}
	p := s.passOf(set)
	s.mu.Lock()
	due := p.generation != set.Generation || time.Since(p.begun) >= s.poll
	s.mu.Unlock()
	if due {
		if err := s.begin(ctx, set, p, selection); err != nil {
			return 0, false, err
		}
	}
	s.mu.Lock()
	wait := max(spacing, s.poll-time.Since(p.begun))
	s.mu.Unlock()
	complete := p.tally.Report(&set.Status, maxFailures)
	return wait, complete, nil
}

// begin queues all clusters that a KymaSet selects or manages.
func (s *sets) begin(ctx context.Context, set *v1alpha1.KymaSet, p *pass, selection kymaset.Selection) error {
	members, err := s.fleet.members(ctx, selection)
	if err != nil {
		return err
	}
	owned, err := s.fleet.owned(ctx, set, false)
	if err != nil {
		return err
	}
	p.tally.Begin(set.Generation, members)
	s.mu.Lock()
	p.generation, p.begun = set.Generation, time.Now()
	s.mu.Unlock()
	s.queueAll(members)
	s.queueAll(owned)
	return nil
}

func (s *sets) queueAll(keys []types.NamespacedName) {
	for _, k := range keys {
		s.enqueue.add(reconcile.Request{NamespacedName: k}, 0)
	}
}

// finish removes or releases all Kymas of a KymaSet that is being deleted. Its finalizer goes when the API server itself has none.
func (s *sets) finish(ctx context.Context, set *v1alpha1.KymaSet) (reconcile.Result, error) {
	if !meta.FinalizerExists(set, finalizer) {
		return reconcile.Result{}, nil
	}
	owned, err := s.fleet.owned(ctx, set, true)
	if err != nil {
		return reconcile.Result{}, err
	}
	if len(owned) > 0 {
		if s.isQueueingDue(set) {
			s.queueAll(owned)
		}
		before := set.DeepCopy()
		setDeleting(set, len(owned))
		return reconcile.Result{RequeueAfter: again}, s.update(ctx, before, set)
	}
	known, err := s.owns(ctx, set)
	if err != nil || known {
		return reconcile.Result{RequeueAfter: soon}, err
	}
	return s.patch(ctx, set, meta.RemoveFinalizer)
}

// isQueueingDue reports whether the clusters of a KymaSet that is being deleted must be queued.
func (s *sets) isQueueingDue(set *v1alpha1.KymaSet) bool {
	p := s.passOf(set)
	s.mu.Lock()
	defer s.mu.Unlock()
	due := !p.deleting || time.Since(p.begun) >= again
	if due {
		p.deleting, p.begun = true, time.Now()
	}
	return due
}

// patch changes the finalizers of a KymaSet. An update would also write its spec as this version of the provider encodes it.
func (s *sets) patch(ctx context.Context, set *v1alpha1.KymaSet, change func(metav1.Object, string)) (reconcile.Result, error) {
	base := set.DeepCopy()
	change(set, finalizer)
	err := s.client.Patch(ctx, set, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
	return conflictLater(errors.Wrapf(notfound.Ignore(err), "cannot change the finalizers of KymaSet %s", set.Name))
}

// owns reports whether the API server has objects of a KymaSet. The cache may not have them yet.
func (s *sets) owns(ctx context.Context, set *v1alpha1.KymaSet) (bool, error) {
	kymas, configs := &v1alpha1.KymaList{}, &v1alpha1.ProviderConfigList{}
	for _, l := range []client.ObjectList{kymas, configs} {
		if err := s.server.List(ctx, l, client.MatchingLabels{v1alpha1.LabelKymaSet: set.Name}); err != nil {
			return true, errors.Wrapf(notfound.Explain(err), "cannot list the objects of KymaSet %s", set.Name)
		}
	}
	for i := range kymas.Items {
		if kymaset.IsOf(&kymas.Items[i], set) {
			return true, nil
		}
	}
	for i := range configs.Items {
		if kymaset.IsOf(&configs.Items[i], set) {
			return true, nil
		}
	}
	return false, nil
}

// update writes the status of a KymaSet if it changed, and records an event.
func (s *sets) update(ctx context.Context, before, set *v1alpha1.KymaSet) error {
	if equality.Semantic.DeepEqual(before.Status, set.Status) {
		return nil
	}
	if err := s.client.Status().Update(ctx, set); err != nil {
		return errors.Wrapf(notfound.Ignore(err), "cannot update the status of KymaSet %s", set.Name)
	}
	if e, ok := eventOf(&before.Status, &set.Status); ok {
		s.record.Event(set, e)
	}
	return nil
}

// conflictLater requeues after a conflict, which means that the cache was behind.
func conflictLater(err error) (reconcile.Result, error) {
	if kerrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: soon}, nil
	}
	return reconcile.Result{}, err
}
