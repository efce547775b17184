// SPDX-License-Identifier: Apache-2.0

package await

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	kmeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// relisting returns the backoff for listing objects again after a watch has ended.
func relisting() wait.Backoff {
	return wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 6, Cap: 5 * time.Second}
}

// Objects holds the current objects of a Follower, keyed by namespace and name.
type Objects map[types.NamespacedName]client.Object

// A Follower lists and watches the objects of one kind. It ends if the API server refuses a request, and reports other errors
// while it retries. UntilWithSync of client-go v0.37 only logs errors, and never ends because of one. Its RetryWatcher ends if a
// watch is forbidden or unauthorized, but also only logs the errors that it retries, and can't start a watch whose resource
// version has expired.
type Follower struct {
	Client client.WithWatch
	// List returns an empty list of the kind.
	List func() client.ObjectList
	// Options restrict the list and the watch.
	Options []client.ListOption
	// trouble is called with each error that is retried. It can be nil.
	trouble func(err error)
}

// follow calls look with the current objects, and again after each change, until look reports done or fails. If a watch expires
// or breaks, follow lists and watches again, and retries while the server is unavailable. It fails if the first list fails, or if
// the API server refuses a request. look must not keep or change the map, because follow updates it. The objects in it never
// change.
func (f *Follower) follow(ctx context.Context, look func(Objects) (done bool, err error)) error {
	pause := relisting()
	for seen := false; ; {
		lasted, done, err := f.session(ctx, &seen, look)
		switch {
		case done:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && (!seen || command.Refused(err)):
			return err
		}
		if err != nil && f.trouble != nil {
			f.trouble(err)
		}
		if lasted {
			pause = relisting()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause.Step()):
		}
	}
}

// A blindError marks an error as temporary: look could not read another object that it needs.
type blindError struct{ error }

// Unwrap returns the wrapped error.
func (e *blindError) Unwrap() error { return e.error }

// Blind marks the error of a check as temporary: the function could not read something besides the objects. The
// Follower then lists the objects again and calls the function again.
func Blind(err error) error { return &blindError{err} }

// isBlind reports whether Blind has marked an error.
func isBlind(err error) bool {
	return errors.As(err, new(*blindError))
}

// session lists the objects once and watches until the watch ends. lasted reports whether the watch delivered an event, done
// whether follow must return err. session sets seen to true after it has read the list.
func (f *Follower) session(ctx context.Context, seen *bool, look func(Objects) (bool, error)) (lasted, done bool, err error) {
	l := f.List()
	if err := f.Client.List(ctx, l, f.Options...); err != nil {
		return false, false, err
	}
	*seen = true
	all := Objects{}
	items, err := kmeta.ExtractList(l)
	if err != nil {
		return false, true, errors.Wrap(err, "cannot read a list")
	}
	for _, i := range items {
		if o, ok := i.(client.Object); ok {
			all[client.ObjectKeyFromObject(o)] = o
		}
	}
	if done, err := look(all); done || err != nil {
		return false, !isBlind(err), err
	}
	from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: l.GetResourceVersion()}}
	w, err := f.Client.Watch(ctx, f.List(), append([]client.ListOption{from}, f.Options...)...)
	if err != nil {
		return false, false, err
	}
	defer w.Stop()
	return f.hear(ctx, w, all, look)
}

// hear calls look after each event of a watch, until the watch ends. For the results, see session.
func (f *Follower) hear(ctx context.Context, w watch.Interface, all Objects, look func(Objects) (bool, error)) (lasted, done bool, err error) {
	for {
		select {
		case <-ctx.Done():
			return lasted, true, ctx.Err()
		case e, ok := <-w.ResultChan():
			if !ok {
				return lasted, false, nil
			}
			if e.Type == watch.Error {
				return lasted, false, kerrors.FromObject(e.Object)
			}
			o, ok := e.Object.(client.Object)
			if !ok || e.Type == watch.Bookmark {
				continue
			}
			lasted = true
			all[client.ObjectKeyFromObject(o)] = o
			if e.Type == watch.Deleted {
				delete(all, client.ObjectKeyFromObject(o))
			}
			if done, err := look(all); done || err != nil {
				return lasted, !isBlind(err), err
			}
		}
	}
}
