// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/panics"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

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

// isSteady reports whether the kind is in sync or is not watched.
func (k *kind) isSteady() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.gvk.Empty() || k.synced && k.err == nil
}

// park ends the watch and forgets the objects. The kind stores nothing from then on.
func (k *kind) park() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.life.end()
	k.objects.clear()
	k.count()
	k.synced, k.err, k.failed = false, errParked, k.attempt
	k.parked = true
	k.broadcast()
}

// whenListed calls a function in a separate goroutine after the first list of the kind has ended.
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

// list lists the objects in pages. It returns everything that was written before its request. By default, a list can be older.
func (k *kind) list(ctx context.Context, r Resource) (*tally, error) {
	o := metav1.ListOptions{LabelSelector: k.cache.interpreter.Selector(), Limit: pageSize}
	k.listBegins()
	counted := k.newTally()
	for {
		var err error
		if o.Continue, err = k.page(ctx, r, o, counted); isTooMany(err) {
			k.exceeded(err)
			return nil, err
		}
		if err != nil || o.Continue == "" {
			return counted, k.answered(ctx, err)
		}
	}
}

// watch begins a watch with a list.
func (k *kind) watch(ctx context.Context, r Resource, o metav1.ListOptions) (Stream, error) {
	k.listBegins()
	s, err := k.request(ctx, r, o)
	// An API server that does not support streaming lists responds that the options are invalid. A normal list follows.
	if apierrors.IsInvalid(err) {
		return nil, err
	}
	return s, k.answered(ctx, err)
}

// request sends the request for a watch.
func (k *kind) request(ctx context.Context, r Resource, o metav1.ListOptions) (Stream, error) {
	o.LabelSelector = k.cache.interpreter.Selector()
	return k.cache.client.Watch(ctx, r, o)
}

// isAnswer reports whether an error is a response of the API server.
func isAnswer(err error) bool {
	status, check := apierrors.APIStatus(nil), (*checkError)(nil)
	return errors.As(err, &status) && !errors.As(err, &check)
}

// isRefused reports whether a request failed only because the API server rejects the credentials, or was not sent because of that. While
// it does so, its data is not restored from a backup.
func isRefused(err error) bool {
	refused := interface{ Unauthorized() bool }(nil)
	return apierrors.IsUnauthorized(err) || errors.As(err, &refused) && refused.Unauthorized()
}

// takeSlot waits for a slot for the first list of the kind. It returns false if the context ends.
func (k *kind) takeSlot(ctx context.Context) bool {
	k.mu.Lock()
	k.queued = true
	k.mu.Unlock()
	release, ok := k.cache.line.Take(ctx, slotTime)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.queued, k.listed = false, release
	return ok
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

// answered records the result of a request, and returns its error.
func (k *kind) answered(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if err == nil {
		k.wentWell()
		return nil
	}
	// The kind is listed again after a version that is too old or too new.
	if isExpired(err) {
		return err
	}
	err = k.confirmed(ctx, err)
	if ctx.Err() != nil {
		return err
	}
	k.fail(err)
	return err
}

// isExpired reports whether a resource version is too old, or too new.
func isExpired(err error) bool {
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
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

// page adds a page of a list. It returns the token of the next page. The memory of the response counts until only the states are left.
func (k *kind) page(ctx context.Context, r Resource, o metav1.ListOptions, counted *tally) (string, error) {
	ctx, done := decoding.Hold(ctx)
	defer done()
	page, err := k.cache.client.List(ctx, r, o)
	if err != nil {
		return "", err
	}
	return counted.page(page)
}
