// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/panics"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

const (
	// shortestWatch is the minimum duration of a watch. The maximum is twice as long.
	shortestWatch = 10 * time.Minute

	firstPause = time.Second
	mostPause  = 30 * time.Second
	// deniedPause is the maximum pause for failures that only an administrator can fix: kinds that the cluster does not
	// serve or that the credentials may not watch.
	deniedPause = 5 * time.Minute
	// resumeFor is how long an interrupted watch is resumed from its last version. After that, its kind is listed again, which
	// shows whether the history of the cluster was rewritten, for example by a restored backup.
	resumeFor = 2 * time.Minute
	// steady is the duration of an attempt after which the pauses start from the shortest one again.
	steady = 2 * time.Minute
	// pageSize is the number of objects in a page of a list.
	pageSize = 500
)

// run runs the reflector until the context ends. It does not use the reflector's own loop, which logs each failure as an
// error and has pauses that cannot be interrupted.
func (k *kind) run(ctx context.Context, r Resource) {
	quiet := logr.Discard()
	ctx = klog.NewContext(ctx, quiet)
	var resumed resumption
	lw := &cache.ListWatch{
		// A panic in a list is caught here, because the reflector lists in another goroutine and would lose the stack.
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return panics.Value(k.subject(), func() (runtime.Object, error) { return k.list(ctx, r, o) })
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return k.watch(ctx, r, o, &resumed)
		},
	}
	reflector := cache.NewReflectorWithOptions(lw, nil, k, cache.ReflectorOptions{
		Logger:          &quiet,
		Name:            r.Resource,
		MinWatchTimeout: shortestWatch,
	})
	// The watch function below resumes a broken stream.
	reflector.MaxInternalErrorRetryDuration = resumeFor
	var pause time.Duration
	for {
		if !k.takeSlot(ctx) {
			return
		}
		k.begin()
		start := time.Now()
		attempt, abort := k.attemptContext(ctx)
		err := panics.Do(k.subject(), func() error { return reflector.ListAndWatchWithContext(attempt) })
		abort()
		k.returnSlot()
		if e := (*panics.Error)(nil); errors.As(err, &e) {
			k.fail(e)
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			k.cache.log.Debug("Cannot watch", "resource", r.GroupVersionResource.String(), "error", err.Error())
		}
		if time.Since(start) > steady {
			pause = 0
		}
		pause = nextPause(pause, k.lastError())
		select {
		case <-time.After(pause + rand.N(pause/2)): //nolint:gosec // Jitter needs no secrecy.
		case <-k.retryNow:
		case <-ctx.Done():
			return
		}
	}
}

// nextPause returns the pause before the next attempt, from the previous pause and the error of the last attempt. A kind
// that is not served is retried on request (see retry), and otherwise as rarely as a kind that may not be watched, so
// that an idle cluster gets few requests for a CRD that is never installed.
func nextPause(last time.Duration, err error) time.Duration {
	switch {
	case isNoKind(err), isTooMany(err):
		return deniedPause
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err), panics.Is(err):
		return min(max(2*last, firstPause), deniedPause)
	default:
		return min(max(2*last, firstPause), mostPause)
	}
}

// isListing reports whether the first list of the kind is in progress, and has not failed. The caller holds the lock.
func (k *kind) isListing() bool { return !k.synced && k.err == nil }

// whenListed calls a function, in a separate goroutine, when the first list of the kind is no longer in progress.
func (k *kind) whenListed(f func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.isListing() {
		go f()
		return
	}
	k.waiting = append(k.waiting, f)
}

// late returns the error of a kind that was not listed in time.
func (k *kind) late(err error) error {
	return errors.Wrapf(err, "the objects of kind %s were not listed in time", k.gk.Kind)
}

// lastError returns the error of the last attempt to list or watch, or nil if it succeeded.
func (k *kind) lastError() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

func (k *kind) list(ctx context.Context, r Resource, o metav1.ListOptions) (runtime.Object, error) {
	o.LabelSelector = k.cache.interpreter.Selector()
	o.Limit, o.Continue = pageSize, ""
	k.listBegins()
	mostRecent(&o)
	out, counted := &summaries{}, k.newTally()
	for {
		var err error
		if o.Continue, err = k.page(ctx, r, o, out, counted); isTooMany(err) {
			k.exceeded(err)
			return nil, err
		}
		if err != nil || o.Continue == "" {
			return out, k.answered(ctx, err)
		}
	}
}

// attemptContext returns a context for one attempt to list and watch, which abort cancels.
func (k *kind) attemptContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, abort := context.WithCancel(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.abort = abort
	return ctx, abort
}

func (k *kind) watch(ctx context.Context, r Resource, o metav1.ListOptions, resumed *resumption) (watch.Interface, error) {
	o.LabelSelector = k.cache.interpreter.Selector()
	if o.SendInitialEvents != nil {
		k.listBegins()
		o.ResourceVersion = ""
	}
	if o.SendInitialEvents == nil && o.ResourceVersion != "" {
		return k.resume(ctx, r, o, resumed)
	}
	w, err := k.cache.client.Watch(ctx, r, o)
	// An API server that does not support streaming lists responds that the options are invalid. The reflector then falls
	// back to a normal list.
	if o.SendInitialEvents != nil && apierrors.IsInvalid(err) {
		return nil, err
	}
	return w, k.answered(ctx, err)
}

// resume watches from the last version. While the server does not respond, it tries again from the same version, so that an
// outage does not cause all kinds of all clusters to be listed again.
func (k *kind) resume(ctx context.Context, r Resource, o metav1.ListOptions, resumed *resumption) (watch.Interface, error) {
	if resumed.stuck(o.ResourceVersion) {
		return nil, apierrors.NewResourceExpired("each watch from this version ends before its first event")
	}
	var pause time.Duration
	// If a server ends each watch immediately, one watch per second is started.
	wait := firstPause - time.Since(resumed.at)
	for start := time.Now(); ; {
		if !k.sleep(ctx, wait) {
			return nil, ctx.Err()
		}
		resumed.at = time.Now()
		w, err := k.cache.client.Watch(ctx, r, o)
		if err == nil && pause > 0 && k.wentBack(ctx, r, o.ResourceVersion) {
			w.Stop()
			return nil, apierrors.NewResourceExpired("the resource versions of the cluster went backwards")
		}
		if err == nil || isAnswer(err) || time.Since(start) > resumeFor {
			return w, k.answered(ctx, err)
		}
		if ctx.Err() != nil {
			return nil, err
		}
		k.fail(err)
		pause = nextPause(pause, err)
		wait = pause
		k.cache.log.Debug("Cannot continue a watch", "resource", r.GroupVersionResource.String(), "error", err.Error())
	}
}

// wentBack reports whether the resource versions of the cluster are older than the version to resume from, because its storage
// was restored during an outage. An API server accepts such a watch, but sends nothing until it has reached the version.
// wentBack sends a list request for at most one object.
func (k *kind) wentBack(ctx context.Context, r Resource, version string) bool {
	list, err := k.cache.client.List(ctx, r, metav1.ListOptions{Limit: 1})
	if err != nil {
		return false
	}
	m, err := meta.ListAccessor(list)
	return err == nil && older(m.GetResourceVersion(), version)
}

// isAnswer reports whether an error is a response of the API server.
func isAnswer(err error) bool {
	status := apierrors.APIStatus(nil)
	return errors.As(err, &status)
}

// sleep waits for the duration of a pause, or until the kind is requested. It returns false if the context ends.
func (k *kind) sleep(ctx context.Context, pause time.Duration) bool {
	if pause <= 0 {
		return ctx.Err() == nil
	}
	select {
	case <-time.After(pause):
	case <-k.retryNow:
	case <-ctx.Done():
		return false
	}
	k.begin()
	return true
}

// takeSlot waits for a slot for the first list of the kind. It returns false if the context ends.
func (k *kind) takeSlot(ctx context.Context) bool {
	release, ok := k.cache.slots.take(ctx)
	if !ok {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.listed = release
	return true
}

// returnSlot releases the slot, if the kind has one.
func (k *kind) returnSlot() {
	k.mu.Lock()
	f := k.listed
	k.listed = nil
	k.mu.Unlock()
	if f != nil {
		f()
	}
}

// mostRecent makes a list contain everything that was written before its request. By default, the reflector accepts an older
// state from the cache of an API server.
func mostRecent(o *metav1.ListOptions) {
	o.ResourceVersion, o.ResourceVersionMatch = "", ""
}

// answered records the result of a request, and returns the error for the reflector.
func (k *kind) answered(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if err == nil {
		k.wentWell()
		return nil
	}
	// The reflector handles resource versions that are too old or too new.
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		return err
	}
	err = k.confirmed(ctx, err)
	if ctx.Err() != nil {
		return err
	}
	k.fail(err)
	// The reflector retries errors of known types itself, with pauses of up to a minute that do not end with the context.
	return errors.New(err.Error())
}

// confirmed converts a 404 error to a *cluster.NoKindError if discovery confirms that the cluster does not serve the
// kind.
func (k *kind) confirmed(ctx context.Context, err error) error {
	if !notfound.Foreign(err) && !notfound.Is(err) {
		return err
	}
	k.mu.Lock()
	gvk := k.gvk
	k.mu.Unlock()
	served, serr := k.cache.client.Served(ctx, gvk)
	switch {
	case serr != nil:
		return serr
	case !served:
		return &cluster.NoKindError{GVK: gvk}
	}
	return notfound.Explain(err)
}

// page adds a page of a list to the summaries. It returns the token of the next page. The memory of the response counts until
// only the summaries are left.
func (k *kind) page(ctx context.Context, r Resource, o metav1.ListOptions, out *summaries, counted *tally) (string, error) {
	ctx, done := decoding.Hold(ctx)
	defer done()
	page, err := k.cache.client.List(ctx, r, o)
	if err != nil {
		return "", err
	}
	return out.add(counted, page)
}
