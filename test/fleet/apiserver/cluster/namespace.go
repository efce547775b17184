// SPDX-License-Identifier: Apache-2.0

package cluster

// reconcileNamespace gives a new namespace its ServiceAccount, and deletes the content of one that is being deleted.
func (c controller) reconcileNamespace(name string) {
	ns := Target{Kind: c.cluster.kindOf("", "namespaces"), Name: name}
	r := c.cluster.store.Get(ns.key())
	if r == nil {
		return
	}
	if !isDeleting(ns.view(r)) {
		account := Target{Kind: c.cluster.kindOf("", "serviceaccounts"), Namespace: name, Name: "default"}
		if c.cluster.store.Get(account.key()) == nil {
			object := map[string]any{
				"apiVersion": "v1", "kind": account.Kind.Kind, "metadata": map[string]any{"name": account.Name, "namespace": name},
			}
			mustWrite(c.cluster.create(account, object, Write{Manager: controllerManager}))
		}
		return
	}
	for _, k := range c.cluster.store.All() {
		if k.Namespace == name {
			c.deleteQuietly(k)
		}
	}
	c.finalizeNamespace(name)
}

// finalizeNamespace removes a namespace that is being deleted and is empty.
func (c controller) finalizeNamespace(name string) {
	ns := Target{Kind: c.cluster.kindOf("", "namespaces"), Name: name}
	r := c.cluster.store.Get(ns.key())
	if name == "" || r == nil || !isDeleting(ns.view(r)) {
		return
	}
	for _, k := range c.cluster.store.All() {
		if k.Namespace == name {
			return
		}
	}
	object := ns.view(r)
	delete(child(object, "spec"), "finalizers")
	if hasFinalizers(object) {
		ns.Subresource = "finalize"
		mustWrite(c.cluster.put(ns, object))
		return
	}
	c.cluster.remove(ns, r.UID())
}

// reconcileCRD establishes a CRD, or removes one that is being deleted and its custom resources.
func (c controller) reconcileCRD(ch changed) {
	crds := Target{Kind: c.cluster.kindOf("apiextensions.k8s.io", "customresourcedefinitions"), Name: ch.Name}
	if ch.GroupResource != crds.Kind.GroupResource() {
		if ch.uid != "" {
			crds.Name = ch.GroupResource.String()
			c.removeCRD(crds)
		}
		return
	}
	if c.removeCRD(crds) || ch.uid != "" {
		return
	}
	r := c.cluster.store.Get(crds.key())
	if r == nil {
		return
	}
	object := crds.view(r)
	status := child(object, "status")
	if isDeleting(object) {
		return
	}
	old := crds.view(r)
	status["acceptedNames"] = clone(child(child(object, "spec"), "names"))
	setCondition(object, "NamesAccepted", "NoConflicts", "no conflicts found")
	setCondition(object, "Established", "InitialNamesAccepted", "the initial names have been accepted")
	crds.Subresource = "status"
	mustWrite(c.cluster.change(crds, old, object, nil, Write{Manager: "kube-apiserver"}))
	c.serveCRDs()
}

// removeCRD deletes the custom resources of a CRD that is being deleted, and the CRD when they are gone. It reports whether the CRD
// is gone.
func (c controller) removeCRD(t Target) bool {
	r := c.cluster.store.Get(t.key())
	if r == nil || !isDeleting(t.view(r)) {
		return false
	}
	of, found := crdResource(t.view(r))
	if !found {
		return false
	}
	for _, k := range c.cluster.store.All() {
		if k.GroupResource == of {
			c.deleteQuietly(k)
		}
	}
	for _, k := range c.cluster.store.All() {
		if k.GroupResource == of {
			return false
		}
	}
	c.cluster.remove(t, r.UID())
	c.serveCRDs()
	return true
}
