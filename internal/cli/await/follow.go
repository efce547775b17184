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

// relisting is how soon objects are listed again when a watch has ended.
func relisting() wait.Backoff {
	return wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 6, Cap: 5 * time.Second}
}

// Objects by namespace and name.
type Objects map[types.NamespacedName]client.Object

// A Follower follows what a list has, by a watch. Unlike client-go's UntilWithSync and RetryWatcher, which log why a list or a watch
// fails and try again, it ends where the API server refuses either, and tells what the trouble is meanwhile.
type Follower struct {
	Client client.WithWatch
	// List returns an empty list of the kind.
	List    func() client.ObjectList
	Options []client.ListOption
	// trouble is told why the objects cannot be seen for now. May be nil.
	trouble func(err error)
}

// follow calls look with what there is now, and again after each change, until it is done or fails. A watch that
// expires or breaks is replaced by a new list and a new watch, however long the server is away. What keeps the first list from
// being read is an error, and so is a refusal. The objects belong to follow and are not changed after look was called with them.
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

// A blindError says that a look failed because something else could not be seen.
type blindError struct{ error }

// Unwrap returns the cause.
func (e *blindError) Unwrap() error { return e.error }

// Blind marks the error of a judge that cannot see for now what it needs besides the objects. They are listed again then, and
// the judge is asked again.
func Blind(err error) error { return &blindError{err} }

func isBlind(err error) bool {
	return errors.As(err, new(*blindError))
}

// session is one list and one watch. lasted says that the watch told something, done that look needs no more.
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

// hear what a watch tells until it ends.
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
