// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"crypto/sha256"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// summarize returns the name and the state of an object from a list or a watch.
func (k *kind) summarize(obj any) (n name, s cluster.ObjectState, err error) {
	i, examined := k.cache.interpreter, k.examined.Load()
	switch o := obj.(type) {
	case *unstructured.Unstructured:
		n, s = name{o.GetNamespace(), o.GetName()}, i.State(o)
		if examined {
			s.Content = i.Content(o)
		}
	case *metav1.PartialObjectMetadata:
		n, s = name{o.Namespace, o.Name}, i.MetadataState(o)
		if examined {
			sum := sha256.Sum256([]byte(o.ResourceVersion))
			s.Content = [6]byte(sum[:])
		}
	default:
		err = errors.Errorf("cannot read an object of type %T", obj)
	}
	return n, s, err
}

// page adds the objects of a page of a list. It returns the token of the next page, which is empty after the last one.
func (t *tally) page(page runtime.Object) (next string, err error) {
	m, err := meta.ListAccessor(page)
	if err != nil {
		return "", err
	}
	before := len(t.states)
	if err := meta.EachListItem(page, t.object); err != nil {
		return "", err
	}
	if t.version, err = versionOf(m); err != nil {
		return "", err
	}
	next = m.GetContinue()
	if next != "" && len(t.states) == before {
		return "", errors.New("the API server returned an empty page of a list that has more pages")
	}
	return next, nil
}

// object adds an object.
func (t *tally) object(obj runtime.Object) error {
	n, s, err := t.kind.summarize(obj)
	if err != nil {
		return err
	}
	return t.add(n, &s)
}

// event adds or removes the object of an event of a watch that begins with a list. It returns an error if there are too many, and ignores
// objects that cannot be read.
func (t *tally) event(e watch.Event) error {
	switch e.Type {
	case watch.Added, watch.Modified:
		if err := t.object(e.Object); isTooMany(err) {
			return err
		}
	case watch.Deleted:
		if n, _, err := t.kind.summarize(e.Object); err == nil {
			t.remove(n)
		}
	case watch.Bookmark, watch.Error:
	}
	return nil
}
