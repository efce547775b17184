// SPDX-License-Identifier: Apache-2.0

package events

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/internal/bytelru"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

const (
	// workers is the number of events that are written at the same time.
	workers = 4
	// maxBytes limits the size of all waiting events, in bytes. A quarter of it is for warnings only.
	maxBytes = 64 << 20
	// perEvent is the approximate size of an event without its message, in bytes.
	perEvent = 1 << 10
	// maxAge is how long an event can wait. API servers keep events for an hour by default.
	maxAge = time.Hour
	// maxForbidden is the number of attempts if the event is forbidden, for example by a quota.
	maxForbidden = 10
	// firstRetry and lastRetry are the shortest and the longest delay before an event is written again.
	firstRetry = time.Second
	lastRetry  = time.Minute
	// timeout is the timeout of a request.
	timeout = 30 * time.Second
	// drainFor is how long waiting events are written after the provider was asked to stop.
	drainFor = 5 * time.Second
	// maxMessage is the maximum length of a message, in bytes.
	maxMessage = 2048
	// maxSimilar is how many events of an object that differ only in their messages are written before they are combined, and
	// maxRepeats how many events of an object with a reason, before there is one in 5 minutes.
	maxSimilar = 10
	maxRepeats = 25
	// cacheSize is the number of objects and events whose repetitions are detected.
	cacheSize = 4096
)

// A Sink writes events. The typed client of client-go implements it.
type Sink interface {
	CreateWithEventNamespaceWithContext(ctx context.Context, event *corev1.Event) (*corev1.Event, error)
	PatchWithEventNamespaceWithContext(ctx context.Context, event *corev1.Event, data []byte) (*corev1.Event, error)
}

// A Queue contains the events that wait to be written, for each object. It is a runnable of the manager.
type Queue struct {
	sink   Sink
	scheme *runtime.Scheme
	log    logging.Logger
	// drop is called for each event that is not written.
	drop       func(cause string)
	now        func() time.Time
	correlator *record.EventCorrelator
	work       workqueue.TypedRateLimitingInterface[string]

	mu      sync.Mutex
	pending map[string][]*entry
	total   int
	// size is the size of the waiting events in bytes, and limit is its maximum.
	size, limit int64
	// producers is the number of running producers, and ended is signaled when it changes.
	producers int
	ended     *sync.Cond
}

// NewQueue returns a queue that writes to a sink, once it is started. It calls drop for each event that is not written, with the
// cause: Full, Expired, Rejected, Frequent or Stopped.
func NewQueue(sink Sink, scheme *runtime.Scheme, log logging.Logger, drop func(cause string)) *Queue {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, lastRetry)
	q := &Queue{
		sink: sink, scheme: scheme, log: log, drop: drop, now: time.Now, pending: map[string][]*entry{}, limit: bytelru.Scaled(maxBytes),
		correlator: record.NewEventCorrelatorWithOptions(record.CorrelatorOptions{
			LRUCacheSize: cacheSize, MaxEvents: maxSimilar, BurstSize: maxRepeats, SpamKeyFunc: keyOfReason, KeyFunc: keysOfSimilar,
		}),
		work: workqueue.NewTypedRateLimitingQueue(limiter),
	}
	q.ended = sync.NewCond(&q.mu)
	return q
}

// keyOf returns a key for the object of an event.
func keyOf(e *corev1.Event) string {
	o := &e.InvolvedObject
	return o.APIVersion + "/" + o.Kind + "/" + o.Namespace + "/" + o.Name + "/" + string(o.UID)
}

// keyOfReason returns a key for all events of an object with a reason, so that frequent events do not suppress events with other
// reasons.
func keyOfReason(e *corev1.Event) string { return keyOf(e) + "/" + e.Type + "/" + e.Reason }

// keysOfSimilar returns a key for similar events, and one for equal events among them. The correlator keeps the latter, so it is short.
func keysOfSimilar(e *corev1.Event) (similar, equal string) {
	similar, message := record.EventAggregatorByReasonFunc(e)
	sum := sha256.Sum256([]byte(message))
	return similar, string(sum[:16])
}

// sizeOf returns the approximate size of waiting events in bytes.
func sizeOf(in []*entry) (n int64) {
	for _, e := range in {
		n += perEvent + int64(len(e.event.Message))
	}
	return n
}

// NeedLeaderElection returns true: the manager stops the runnables of the leader last, all at the same time, and then releases the lease.
func (q *Queue) NeedLeaderElection() bool { return true }

// Start writes events until the context is done and all producers have stopped, and then for a few seconds those that are still waiting.
func (q *Queue) Start(ctx context.Context) error {
	// Requests must not end before the queue is drained.
	write, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				key, stopped := q.work.Get()
				if stopped {
					return
				}
				q.writeAll(write, key)
				q.work.Done(key)
			}
		})
	}
	<-ctx.Done()
	q.hurry()
	q.awaitProducers()
	timer := time.AfterFunc(drainFor, cancel)
	defer timer.Stop()
	q.hurry()
	q.work.ShutDownWithDrain()
	wg.Wait()
	q.work.ShutDown()
	q.abandon()
	return nil
}

// hurry ends the delays of all objects whose events wait for another attempt, or are being written.
func (q *Queue) hurry() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for key := range q.pending {
		q.work.Add(key)
	}
}

// abandon drops all events that are still waiting.
func (q *Queue) abandon() {
	q.mu.Lock()
	lost := q.total
	q.pending, q.total, q.size = map[string][]*entry{}, 0, 0
	q.mu.Unlock()
	if lost == 0 {
		return
	}
	q.log.Info("Stopped before all events were written", "lost", lost)
	for range lost {
		q.drop("Stopped")
	}
}

// enqueue adds an event.
func (q *Queue) enqueue(e *corev1.Event) {
	key := keyOf(e)
	var dropped int
	q.mu.Lock()
	limit := q.limit
	if e.Type == corev1.EventTypeNormal {
		limit = limit / 4 * 3
	}
	switch isFull := q.size+perEvent+int64(len(e.Message)) > limit; {
	case isFull && !merge(q.pending[key], e):
		dropped = 1
	case !isFull:
		count, size := len(q.pending[key]), sizeOf(q.pending[key])
		q.pending[key], dropped = add(q.pending[key], e, q.now())
		q.total += len(q.pending[key]) - count
		q.size += sizeOf(q.pending[key]) - size
	}
	q.mu.Unlock()
	for range dropped {
		q.drop("Full")
	}
	q.work.Add(key)
}

// take removes the first event of an object, or returns nil.
func (q *Queue) take(key string) *entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.pending[key]
	if len(all) == 0 {
		delete(q.pending, key)
		return nil
	}
	q.pending[key] = all[1:]
	q.total--
	q.size -= sizeOf(all[:1])
	return all[0]
}

// restore adds the first event of an object again after its write failed.
func (q *Queue) restore(key string, e *entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pending[key] = append([]*entry{e}, q.pending[key]...)
	q.total++
	q.size += sizeOf([]*entry{e})
}

// writeAll writes the events of an object, in order. If a write fails, it queues the object again.
func (q *Queue) writeAll(ctx context.Context, key string) {
	for e := q.take(key); e != nil; e = q.take(key) {
		if q.now().Sub(e.added) > maxAge {
			q.drop("Expired")
			q.work.Forget(key)
			continue
		}
		err := q.write(ctx, e)
		switch {
		case err == nil:
			q.work.Forget(key)
		case isFinal(err, e.attempts):
			q.log.Info("Cannot write an event", "object", key, "reason", e.event.Reason, "error", err.Error())
			q.drop("Rejected")
			q.work.Forget(key)
		default:
			q.restore(key, e)
			q.work.AddRateLimited(key)
			return
		}
	}
}

// write writes an event, or updates the count of an equal one. It drops the event if the object had too many with the reason.
func (q *Queue) write(ctx context.Context, e *entry) error {
	e.attempts++
	if e.result == nil {
		result, err := q.correlator.EventCorrelate(e.event)
		if err != nil {
			return err
		}
		e.result = result
	}
	if e.result.Skip {
		q.drop("Frequent")
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var written *corev1.Event
	var err error
	event := e.result.Event
	if event.Count > 1 {
		written, err = q.sink.PatchWithEventNamespaceWithContext(ctx, event, e.result.Patch)
	}
	// The control plane deletes events after a while.
	if event.Count <= 1 || notfound.Is(err) {
		event.ResourceVersion = ""
		written, err = q.sink.CreateWithEventNamespaceWithContext(ctx, event)
	}
	if e.attempts > 1 && kerrors.IsAlreadyExists(err) {
		// An earlier attempt succeeded, and its response was lost.
		written, err = event, nil
	}
	if err != nil {
		return err
	}
	q.correlator.UpdateState(written)
	return nil
}

// isFinal reports whether an event would be refused again.
func isFinal(err error, attempts int) bool {
	switch {
	case kerrors.IsForbidden(err):
		return attempts >= maxForbidden || kerrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
	case kerrors.IsAlreadyExists(err), kerrors.IsInvalid(err), kerrors.IsBadRequest(err), kerrors.IsRequestEntityTooLargeError(err), notfound.Is(err):
		return true
	}
	return false
}
