// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// A name identifies an object among those of its kind.
type name struct{ namespace, name string }

func nameOf(k cluster.ObjectRef) name {
	return name{namespace: k.Namespace, name: k.Name}
}

// A change is a change of an object by another client.
type change struct {
	name     name
	old, now *cluster.ObjectState
}

// objects are the objects of one kind. The caller of their methods holds a lock.
type objects struct {
	known map[name]cluster.ObjectState
	// gone contains the UIDs of forgotten objects whose deletion events have not arrived yet. Without it, earlier events
	// would add the objects again.
	gone map[name]string
}

func newObjects() objects {
	return objects{known: map[name]cluster.ObjectState{}, gone: map[name]string{}}
}

// put stores a state from a response to a write.
func (o *objects) put(n name, s cluster.ObjectState) {
	if have, ok := o.known[n]; ok && older(s.ResourceVersion, have.ResourceVersion) {
		return
	}
	delete(o.gone, n)
	o.known[n] = compact(s)
}

// forget removes an object that the API server reported as deleted.
func (o *objects) forget(n name) {
	if s, ok := o.known[n]; ok {
		o.gone[n] = s.UID
		delete(o.known, n)
	}
}

// seen stores an object of an event or a list. It returns the change, and false if another client did not change the
// object.
func (o *objects) seen(n name, s cluster.ObjectState) (change, bool) {
	have, ok := o.known[n]
	if ok && (have.ResourceVersion == s.ResourceVersion || older(s.ResourceVersion, have.ResourceVersion)) {
		return change{}, false
	}
	if uid, dead := o.gone[n]; dead {
		if uid == s.UID {
			return change{}, false
		}
		delete(o.gone, n)
	}
	o.known[n] = compact(s)
	if !ok {
		return change{name: n, now: &s}, true
	}
	return change{name: n, old: &have, now: &s}, !have.Same(s)
}

// deleted removes an object of a deletion event, which has the resource version of the deletion. Objects that lost the
// label of the selector also have such an event.
func (o *objects) deleted(n name, s cluster.ObjectState) (change, bool) {
	have, ok := o.known[n]
	if ok && older(s.ResourceVersion, have.ResourceVersion) {
		return change{}, false
	}
	delete(o.gone, n)
	delete(o.known, n)
	return change{name: n, old: &have}, ok
}

// replaced replaces all objects with those of a list at a resource version. It keeps other objects only if they are newer
// than the list.
func (o *objects) replaced(list map[name]cluster.ObjectState, resourceVersion string) []change {
	var changes []change
	for n := range o.gone {
		if _, ok := list[n]; !ok {
			delete(o.gone, n)
		}
	}
	for n, have := range o.known {
		if _, ok := list[n]; ok || older(resourceVersion, have.ResourceVersion) {
			continue
		}
		delete(o.known, n)
		changes = append(changes, change{name: n, old: &have})
	}
	for n, s := range list {
		if c, ok := o.seen(n, s); ok {
			changes = append(changes, c)
		}
	}
	return changes
}

// older reports whether resource version a is before b. If one of them is not a number, as in some aggregated API
// servers, the result is false, and the last update wins.
func older(a, b string) bool {
	c, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && c < 0
}

// compact shares strings that many states have in common.
func compact(s cluster.ObjectState) cluster.ObjectState {
	s.Set = unique.Make(s.Set).Value()
	s.Owned = unique.Make(s.Owned).Value()
	return s
}

// A summary is the state of an object on its way from the reflector's temporary store to the cache. Its metadata contains
// only the name, which that store requires.
type summary struct {
	metav1.ObjectMeta

	cluster.ObjectState
}

// summarize returns the name and the state of an object from a list or a watch.
func summarize(i cluster.Interpreter, obj any) (name, cluster.ObjectState, error) {
	switch o := obj.(type) {
	case *summary:
		return name{o.Namespace, o.Name}, o.ObjectState, nil
	case *unstructured.Unstructured:
		return name{o.GetNamespace(), o.GetName()}, i.State(o), nil
	case *metav1.PartialObjectMetadata:
		return name{o.Namespace, o.Name}, i.MetadataState(o), nil
	}
	return name{}, cluster.ObjectState{}, errors.Errorf("cannot read an object of type %T", obj)
}

// shrink returns a function that converts objects to summaries, so that the reflector's temporary store does not contain
// whole objects.
func shrink(i cluster.Interpreter) func(obj any) (any, error) {
	return func(obj any) (any, error) {
		n, s, err := summarize(i, obj)
		if err != nil {
			return nil, err
		}
		return &summary{ObjectMeta: metav1.ObjectMeta{Namespace: n.namespace, Name: n.name}, ObjectState: s}, nil
	}
}
