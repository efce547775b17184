// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/record"
)

// controllerManager is the field manager of what controllers write.
const controllerManager = "kube-controller-manager"

// A controller does what the controllers of a real cluster do. Its methods are called under the lock of the cluster.
type controller struct{ cluster *Cluster }

// run processes what changed until nothing is left. What the controllers change is processed, too.
func (c controller) run() {
	for len(c.cluster.changed) > 0 {
		batch := c.cluster.changed
		c.cluster.changed = nil
		for _, ch := range batch {
			c.reconcileCRD(ch)
			if c.cluster.options.NoControllers {
				continue
			}
			c.collect(ch)
			switch {
			case ch.uid != "":
				c.finalizeNamespace(ch.Namespace)
			case ch.GroupResource.String() == "namespaces":
				c.reconcileNamespace(ch.Name)
			default:
				c.reconcileWorkload(ch.Key)
				c.deleteForeground(ch.Key)
			}
		}
	}
	c.cluster.changed = nil
}

// target returns the target for an object, or false if its kind is not served anymore.
func (c controller) target(k record.Key) (Target, bool) {
	kind := c.cluster.Kinds().Of(k.GroupResource)
	return Target{Kind: kind, Namespace: k.Namespace, Name: k.Name}, kind != nil
}

// deleteQuietly deletes an object as a controller does.
func (c controller) deleteQuietly(k record.Key) {
	t, ok := c.target(k)
	if !ok {
		return
	}
	background := metav1.DeletePropagationBackground
	//nolint:dogsled // It fails only if the object is gone.
	_, _, _ = c.cluster.delete(t, &metav1.DeleteOptions{PropagationPolicy: &background})
}

// collect deletes an object whose owners do not exist, and the dependents of a deleted object.
func (c controller) collect(ch changed) {
	if ch.uid == "" {
		if r := c.cluster.store.Get(ch.Key); r != nil && c.isOrphan(r) {
			c.deleteQuietly(ch.Key)
		}
		return
	}
	for _, k := range c.cluster.store.All() {
		r := c.cluster.store.Get(k)
		if r != nil && slices.Contains(ownersOf(r), ch.uid) && c.isOrphan(r) {
			c.deleteQuietly(k)
		}
	}
}

// isOrphan reports whether an object has owners, and none of them exists.
func (c controller) isOrphan(r *record.Record) bool {
	owners := ownersOf(r)
	if len(owners) == 0 {
		return false
	}
	for _, k := range c.cluster.store.All() {
		if o := c.cluster.store.Get(k); o != nil && slices.Contains(owners, o.UID()) {
			return false
		}
	}
	return true
}

// ownersOf returns the UIDs of the owners of an object.
func ownersOf(r *record.Record) []string {
	refs, _ := r.Metadata()["ownerReferences"].([]any)
	var out []string
	for _, ref := range refs {
		m, _ := ref.(map[string]any)
		uid, _ := m["uid"].(string)
		out = append(out, uid)
	}
	return out
}

// deleteForeground deletes the dependents of an object that is deleted in the foreground, and then the object. It orphans the
// dependents if the finalizer for this is set.
func (c controller) deleteForeground(k record.Key) {
	r := c.cluster.store.Get(k)
	t, ok := c.target(k)
	if r == nil || !ok {
		return
	}
	object := t.view(r)
	finalizers, _ := nested(object, "metadata", "finalizers").([]any)
	claim := slices.Contains(finalizers, any(finalizerOfClaims))
	foreground := slices.Contains(finalizers, any(metav1.FinalizerDeleteDependents))
	orphan := slices.Contains(finalizers, any(metav1.FinalizerOrphanDependents))
	if !isDeleting(object) || !foreground && !orphan && !claim {
		return
	}
	c.releaseDependents(r.UID(), foreground)
	metadataOf(object)["finalizers"] = slices.DeleteFunc(finalizers, func(f any) bool {
		return f == any(metav1.FinalizerDeleteDependents) || f == any(metav1.FinalizerOrphanDependents) || f == any(finalizerOfClaims)
	})
	mustWrite(c.cluster.replace(t, t.view(r), object, Write{Manager: controllerManager}))
}

// releaseDependents deletes the dependents of an owner, or orphans them.
func (c controller) releaseDependents(uid string, remove bool) {
	for _, k := range c.cluster.store.All() {
		r := c.cluster.store.Get(k)
		if r == nil || !slices.Contains(ownersOf(r), uid) {
			continue
		}
		if remove {
			c.deleteQuietly(k)
			continue
		}
		c.disown(k, r, uid)
	}
}

// disown removes an owner from an object.
func (c controller) disown(k record.Key, r *record.Record, uid string) {
	t, ok := c.target(k)
	if !ok {
		return
	}
	object := t.view(r)
	refs, _ := nested(object, "metadata", "ownerReferences").([]any)
	metadataOf(object)["ownerReferences"] = slices.DeleteFunc(refs, func(ref any) bool {
		m, _ := ref.(map[string]any)
		return m["uid"] == any(uid)
	})
	mustWrite(c.cluster.replace(t, t.view(r), object, Write{Manager: controllerManager}))
}

// mustWrite panics if a write of a controller failed. It holds the lock and has just read the object, so this would be a bug of the
// simulation, which a test must not overlook.
func mustWrite(_ map[string]any, err error) {
	if err != nil {
		panic("a controller of a simulated cluster cannot write: " + err.Error())
	}
}
