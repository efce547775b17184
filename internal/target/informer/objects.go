// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"unique"

	"k8s.io/apimachinery/pkg/util/resourceversion"

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
//
// A list replaces the known state, because earlier resource versions are not reliable: they decrease if the storage of the
// cluster is restored from a backup. Only the provider's own writes after the list began can be missing in the list. A local
// sequence number identifies these writes.
type objects struct {
	// known contains pointers because most kinds of most clusters have few objects, and a map allocates memory for eight values at once.
	known map[name]*known
	// gone contains the forgotten objects whose deletion events have not arrived yet. Without it, earlier events would add the
	// objects again.
	gone map[name]forgotten
	// members counts the known objects of each set.
	members map[string]int
	// writes counts the own writes. It is their sequence number. began is the number of the last write before the current list.
	writes, began uint64
	// listing is true from the beginning of a list to its end.
	listing bool
	// newest is the newest resource version of a list or an event.
	newest string
	// size is the size of all known objects, in bytes.
	size int64
}

// A known object is one of the cluster, as far as it is known.
type known struct {
	cluster.ObjectState

	// own is the sequence number of the last own write of the object, or zero if an event or a list has shown it.
	own uint64
}

// A forgotten object was deleted by a request of the provider.
type forgotten struct {
	uid string
	// at is the sequence number of the deletion.
	at uint64
}

func newObjects() objects {
	return objects{known: map[name]*known{}, gone: map[name]forgotten{}, members: map[string]int{}}
}

// begin records that a list is about to begin. Call it before the request is sent.
func (o *objects) begin() { o.began, o.listing = o.writes, true }

// put stores a state from a response to a write, unless a later state is known.
func (o *objects) put(n name, s cluster.ObjectState) {
	o.writes++
	if o.isOutdated(n, s) {
		return
	}
	delete(o.gone, n)
	o.set(n, s, o.writes)
}

// isOutdated reports whether a list or an event showed a later state of an object than s. An object that is not known although its kind was
// seen at a later version was deleted since, and no event will report that again. During a list, no event arrives, and the versions can
// be lower than before if the storage of the cluster was restored.
func (o *objects) isOutdated(n name, s cluster.ObjectState) bool {
	if have := o.known[n]; have != nil {
		return older(s.ResourceVersion, have.ResourceVersion)
	}
	_, forgotten := o.gone[n]
	return !forgotten && !o.listing && older(s.ResourceVersion, o.newest)
}

// set stores a state. If it is that of an own write, own is its sequence number, and otherwise zero.
func (o *objects) set(n name, s cluster.ObjectState, own uint64) {
	s = compact(s)
	o.size += sizeOf(n, &s)
	o.members[s.Set]++
	if have := o.known[n]; have != nil {
		o.size -= sizeOf(n, &have.ObjectState)
		o.removeMember(have.Set)
		have.ObjectState, have.own = s, own
		return
	}
	n.namespace = unique.Make(n.namespace).Value()
	o.known[n] = &known{s, own}
}

// state returns the known state of an object.
func (o *objects) state(n name) (cluster.ObjectState, bool) {
	have := o.known[n]
	if have == nil {
		return cluster.ObjectState{}, false
	}
	return have.ObjectState, true
}

// removeMember counts an object that no longer belongs to a set.
func (o *objects) removeMember(set string) {
	if o.members[set]--; o.members[set] == 0 {
		delete(o.members, set)
	}
}

// remove removes an object.
func (o *objects) remove(n name) {
	if have := o.known[n]; have != nil {
		o.size -= sizeOf(n, &have.ObjectState)
		o.removeMember(have.Set)
	}
	delete(o.known, n)
}

// forget removes an object that the API server reported as deleted.
func (o *objects) forget(n name) {
	o.writes++
	if s, ok := o.known[n]; ok {
		o.gone[n] = forgotten{uid: s.UID, at: o.writes}
		o.remove(n)
	}
}

// seen stores the object of an event. It returns the change, and false if no other client changed the object.
func (o *objects) seen(n name, s cluster.ObjectState) (change, bool) {
	o.saw(s.ResourceVersion)
	have, ok := o.state(n)
	if ok && older(s.ResourceVersion, have.ResourceVersion) {
		return change{}, false
	}
	if ok && have.ResourceVersion == s.ResourceVersion {
		// Responses to writes have no hash.
		have.Content = s.Content
		o.set(n, have, 0)
		return change{}, false
	}
	if f, dead := o.gone[n]; dead {
		if f.uid == s.UID {
			return change{}, false
		}
		delete(o.gone, n)
	}
	o.set(n, s, 0)
	if !ok {
		return change{name: n, now: &s}, true
	}
	return change{name: n, old: &have, now: &s}, !have.Same(s)
}

// deleted removes an object of a deletion event, which has the resource version of the deletion. Objects that lost the
// label of the selector also have such an event.
func (o *objects) deleted(n name, s cluster.ObjectState) (change, bool) {
	o.saw(s.ResourceVersion)
	have, ok := o.state(n)
	if ok && older(s.ResourceVersion, have.ResourceVersion) {
		return change{}, false
	}
	delete(o.gone, n)
	o.remove(n)
	return change{name: n, old: &have}, ok
}

// replaced replaces all objects with the objects of a list at a resource version. It only keeps the provider's own writes after
// the list began. rewritten is true if the version is older than a version that was seen before, because the storage of the
// cluster was restored, or because this is a different cluster. In this case, each object counts as changed.
func (o *objects) replaced(list map[name]cluster.ObjectState, resourceVersion string) (changes []change, rewritten bool) {
	rewritten = older(resourceVersion, o.newest)
	o.newest, o.listing = resourceVersion, false
	for n, f := range o.gone {
		if _, ok := list[n]; !ok || f.at <= o.began {
			delete(o.gone, n)
		}
	}
	for n, have := range o.known {
		if _, ok := list[n]; ok || have.own > o.began {
			continue
		}
		o.remove(n)
		changes = append(changes, change{name: n, old: &have.ObjectState})
	}
	for n, s := range list {
		if c, ok := o.listed(n, s, rewritten); ok {
			changes = append(changes, c)
		}
	}
	return changes, rewritten
}

// listed stores an object of a list. It returns the change, and false if no other client changed the object.
func (o *objects) listed(n name, s cluster.ObjectState, rewritten bool) (change, bool) {
	if f, dead := o.gone[n]; dead {
		if f.uid == s.UID {
			return change{}, false
		}
		delete(o.gone, n)
	}
	have, ok := o.state(n)
	// Both versions are from after the beginning of the list, so they can be compared.
	if ok && o.known[n].own > o.began && older(s.ResourceVersion, have.ResourceVersion) {
		return change{}, false
	}
	if ok && !rewritten && have.ResourceVersion == s.ResourceVersion && have.UID == s.UID {
		o.known[n].own = 0
		return change{}, false
	}
	o.set(n, s, 0)
	if !ok {
		return change{name: n, now: &s}, true
	}
	return change{name: n, old: &have, now: &s}, rewritten || !have.Same(s)
}

// clear removes all objects, because their kind is no longer served.
func (o *objects) clear() []change {
	changes := make([]change, 0, len(o.known))
	for n, have := range o.known {
		changes = append(changes, change{name: n, old: &have.ObjectState})
	}
	writes := o.writes
	*o = newObjects()
	o.writes = writes
	return changes
}

// saw records the resource version of an event.
func (o *objects) saw(resourceVersion string) {
	if o.newest == "" || older(o.newest, resourceVersion) {
		o.newest = resourceVersion
	}
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
