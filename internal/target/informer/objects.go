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

// A name of an object among those of its kind.
type name struct{ namespace, name string }

func nameOf(k cluster.ObjectRef) name {
	return name{namespace: k.Namespace, name: k.Name}
}

// A change that others made.
type change struct {
	name     name
	old, now *cluster.ObjectState
}

// objects of one kind. The caller holds a lock.
type objects struct {
	known map[name]cluster.ObjectState
	// gone are the UIDs of objects that were forgotten and whose deletion the watch has yet to bring. Events that were
	// on their way would bring them back.
	gone map[name]string
}

func newObjects() objects {
	return objects{known: map[name]cluster.ObjectState{}, gone: map[name]string{}}
}

// put what we learned ourselves.
func (o *objects) put(n name, s cluster.ObjectState) {
	if have, ok := o.known[n]; ok && older(s.ResourceVersion, have.ResourceVersion) {
		return
	}
	delete(o.gone, n)
	o.known[n] = compact(s)
}

// forget what we know to be gone.
func (o *objects) forget(n name) {
	if s, ok := o.known[n]; ok {
		o.gone[n] = s.UID
		delete(o.known, n)
	}
}

// seen by a watch or a listing.
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

// deleted by an event, which carries the resource version of the deletion. An object that only lost our label is also
// reported as deleted.
func (o *objects) deleted(n name, s cluster.ObjectState) (change, bool) {
	have, ok := o.known[n]
	if ok && older(s.ResourceVersion, have.ResourceVersion) {
		return change{}, false
	}
	delete(o.gone, n)
	delete(o.known, n)
	return change{name: n, old: &have}, ok
}

// replaced by a listing of a resource version. What is not in it is gone, unless we know it to be newer than the
// listing.
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

// older says that resource version a is from before b. It is false if one of them is not a number, as from some
// aggregated API servers; then the last one wins.
func older(a, b string) bool {
	c, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && c < 0
}

// compact shares the texts that many summaries have in common.
func compact(s cluster.ObjectState) cluster.ObjectState {
	s.Set = unique.Make(s.Set).Value()
	s.Owned = unique.Make(s.Owned).Value()
	return s
}

// A summary of an object that is on its way from the reflector's own store to ours. It has just enough metadata for the
// store to find its name.
type summary struct {
	metav1.ObjectMeta

	cluster.ObjectState
}

// summarize converts an object from a list or a watch to its summary.
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

// shrink returns a function for the reflector, so that its own store does not hold whole objects while it lists.
func shrink(i cluster.Interpreter) func(obj any) (any, error) {
	return func(obj any) (any, error) {
		n, s, err := summarize(i, obj)
		if err != nil {
			return nil, err
		}
		return &summary{ObjectMeta: metav1.ObjectMeta{Namespace: n.namespace, Name: n.name}, ObjectState: s}, nil
	}
}
