// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

const (
	// shortestWatch is asked for; the longest is twice that.
	shortestWatch = 10 * time.Minute

	firstPause = time.Second
	mostPause  = 30 * time.Second
	// deniedPause is for what only an administrator can repair: kinds that are not served or may not be watched.
	deniedPause = 5 * time.Minute
	// steady is how long an attempt lasts after which pauses are short again.
	steady = 2 * time.Minute
)

// run the reflector until the context ends. Its own loop is not used: it logs each failure as an error, and its pauses
// cannot be ended.
func (k *kind) run(ctx context.Context, r Resource) {
	quiet := logr.Discard()
	ctx = klog.NewContext(ctx, quiet)
	lw := &cache.ListWatch{
		ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return k.list(ctx, r, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return k.watch(ctx, r, o) },
	}
	reflector := cache.NewReflectorWithOptions(lw, nil, k, cache.ReflectorOptions{
		Logger:          &quiet,
		Name:            r.Resource,
		MinWatchTimeout: shortestWatch,
	})
	var pause time.Duration
	for {
		k.begin()
		start := time.Now()
		err := reflector.ListAndWatchWithContext(ctx)
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

// nextPause returns how long to wait before the next attempt, given the wait before the last one and the error it ended
// with. A kind that is not served is asked for when a caller wants it (see retry), and otherwise as rarely as one that
// may not be watched: a cluster at rest is not asked for a CRD that no one installs.
func nextPause(last time.Duration, err error) time.Duration {
	switch {
	case isNoKind(err):
		return deniedPause
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return min(max(2*last, firstPause), deniedPause)
	default:
		return min(max(2*last, firstPause), mostPause)
	}
}

// lastError returns the error of the last attempt to list or watch, or nil if it succeeded.
func (k *kind) lastError() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

func (k *kind) list(ctx context.Context, r Resource, o metav1.ListOptions) (runtime.Object, error) {
	o.LabelSelector = k.cache.interpreter.Selector()
	list, err := k.cache.client.List(ctx, r, o)
	return list, k.answered(ctx, err)
}

func (k *kind) watch(ctx context.Context, r Resource, o metav1.ListOptions) (watch.Interface, error) {
	o.LabelSelector = k.cache.interpreter.Selector()
	w, err := k.cache.client.Watch(ctx, r, o)
	// An API server that does not know how to list by watching says that the options are not valid. The reflector then
	// lists in the old way.
	if o.SendInitialEvents != nil && apierrors.IsInvalid(err) {
		return nil, err
	}
	return w, k.answered(ctx, err)
}

// answered notes how a request went, and returns the error for the reflector.
func (k *kind) answered(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if err == nil {
		k.wentWell()
		return nil
	}
	// The reflector knows what to do about a resource version that is too old or too new.
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		return err
	}
	err = k.confirmed(ctx, err)
	if ctx.Err() != nil {
		return err
	}
	k.fail(err)
	// Errors that it recognises, it retries by itself, in pauses that last up to a minute and do not end with the
	// context.
	return errors.New(err.Error())
}

// confirmed is the error of a kind that is not found: that the cluster does not serve it, if the cluster says so.
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
