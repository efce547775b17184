// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A sighting is the resource version of the cluster, which one watcher requests for all whose connection was lost.
type sighting struct {
	// losses counts the watches that ended unexpectedly.
	losses atomic.Uint64
	// asking is held during a request. It guards version, the result of the last one, and at, the number of losses before it.
	asking  chan struct{}
	version string
	at      uint64
}

// get returns the version, from a request that began after the last loss.
func (s *sighting) get(ctx context.Context, ask func() (string, error)) (string, error) {
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	losses := s.losses.Load()
	if s.at == losses {
		return s.version, nil
	}
	version, err := ask()
	if err == nil {
		s.version, s.at = version, losses
	}
	return version, err
}

// A checkError is the error of the check of a watch that began. It does not answer the request for the watch.
type checkError struct{ err error }

// Error returns what failed.
func (e *checkError) Error() string {
	return "cannot check whether the cluster was restored from a backup: " + e.err.Error()
}

// Unwrap returns the error of the request.
func (e *checkError) Unwrap() error { return e.err }

// resume begins a watch from the last version. After an outage or a lost connection, it also checks that the resource versions of the cluster are
// not older than the one to resume from, because its storage was restored: an API server accepts such a watch, but sends nothing until it has
// reached the version.
func (w *watcher) resume(o metav1.ListOptions) (Stream, error) {
	stream, err := w.kind.request(w.context(), w.resource, o)
	if err != nil || !w.down && !w.lost {
		return stream, err
	}
	kept := false
	defer func() {
		if !kept { // Also if the check panics.
			stream.Stop()
		}
	}()
	if err := w.check(); err != nil {
		return nil, err
	}
	kept = true
	return stream, nil
}

// check returns a *checkError, or the error of a version that is too old. If only the connection was lost, the version that another kind has
// found is sufficient, unless it is older: not all kinds have the same storage.
func (w *watcher) check() error {
	newest, err := "", error(nil)
	if !w.down {
		newest, err = w.kind.cache.sighting.get(w.context(), w.newest)
	}
	if err == nil && (w.down || older(newest, w.version)) {
		newest, err = w.newest()
	}
	if err != nil {
		return &checkError{err}
	}
	if older(newest, w.version) {
		return apierrors.NewResourceExpired("the resource versions of the cluster went backwards")
	}
	return nil
}

// newest returns the resource version of the cluster. It sends a list request for at most one object.
func (w *watcher) newest() (string, error) {
	list, err := w.kind.cache.client.List(w.context(), w.resource, metav1.ListOptions{Limit: 1})
	if err != nil {
		return "", err
	}
	m, err := meta.ListAccessor(list)
	if err != nil {
		return "", err
	}
	return versionOf(m)
}
