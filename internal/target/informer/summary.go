// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"crypto/sha256"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// A summary is the state of an object on its way from the reflector's temporary store to the cache. Its metadata contains
// only the name, which that store requires.
type summary struct {
	metav1.ObjectMeta

	cluster.ObjectState
}

// summarize returns the name and the state of an object from a list or a watch.
func (k *kind) summarize(obj any) (n name, s cluster.ObjectState, err error) {
	i, examined := k.cache.interpreter, k.examined.Load()
	switch o := obj.(type) {
	case *summary:
		n, s = name{o.Namespace, o.Name}, o.ObjectState
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

// GetObjectKind returns an empty kind.
func (s *summary) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject returns a copy.
func (s *summary) DeepCopyObject() runtime.Object {
	out := *s
	return &out
}

// summaries contains the objects of a list. The reflector gets only their states.
type summaries struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []summary
}

// DeepCopyObject returns a copy.
func (s *summaries) DeepCopyObject() runtime.Object {
	out := *s
	out.Items = append([]summary(nil), s.Items...)
	return &out
}

// add adds the objects of a page. It returns the token of the next page, which is empty after the last one.
func (s *summaries) add(t *tally, page runtime.Object) (next string, err error) {
	m, err := meta.ListAccessor(page)
	if err != nil {
		return "", err
	}
	before := len(s.Items)
	if err := meta.EachListItem(page, func(obj runtime.Object) error {
		item, err := t.shrink(obj)
		if err == nil {
			s.Items = append(s.Items, *item)
		}
		return err
	}); err != nil {
		return "", err
	}
	s.SetResourceVersion(m.GetResourceVersion())
	next = m.GetContinue()
	if next != "" && len(s.Items) == before {
		return "", errors.New("the API server returned an empty page of a list that has more pages")
	}
	return next, nil
}

// shrink counts an object of a list, and returns its summary.
func (t *tally) shrink(obj any) (*summary, error) {
	n, s, err := t.kind.summarize(obj)
	if err != nil {
		return nil, err
	}
	if err := t.add(n, &s); err != nil {
		return nil, err
	}
	return &summary{ObjectMeta: metav1.ObjectMeta{Namespace: n.namespace, Name: n.name}, ObjectState: s}, nil
}
