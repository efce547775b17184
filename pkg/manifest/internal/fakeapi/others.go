// SPDX-License-Identifier: Apache-2.0

package fakeapi

import (
	"net/http"
	"net/url"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// The functions below act as clients other than the engine. Their requests are not logged. They panic if a request fails, because
// that is an error in the test.

// Parse returns an object from YAML.
func Parse(text string) *unstructured.Unstructured {
	b, err := yaml.YAMLToJSON([]byte(text))
	must(err)
	u := &unstructured.Unstructured{}
	must(u.UnmarshalJSON(b))
	return u
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// CountFrom sets the resource version of the next write.
func (c *Cluster) CountFrom(version int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.revision = version - 1
}

// Create creates an object as a manager that does not use server-side apply.
func (c *Cluster) Create(manager, text string) cluster.ObjectRef {
	u := Parse(text)
	r := c.others(object.RefOf(u))
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.updated(r, u, manager, "")
	must(err)
	return r.ref
}

// Apply applies an object as a manager that uses server-side apply.
func (c *Cluster) Apply(manager, text string) cluster.ObjectRef {
	u := Parse(text)
	r := c.others(object.RefOf(u))
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.applied(r, u, manager)
	must(err)
	return r.ref
}

// Edit changes an object as a manager that does not use server-side apply.
func (c *Cluster) Edit(manager string, ref cluster.ObjectRef, change func(u *unstructured.Unstructured)) {
	c.edit(manager, "", ref, change)
}

// Set sets a field of an object as a manager that does not use server-side apply.
func (c *Cluster) Set(manager string, ref cluster.ObjectRef, v any, path ...string) {
	c.edit(manager, "", ref, func(u *unstructured.Unstructured) { must(unstructured.SetNestedField(u.Object, v, path...)) })
}

// Scale sets the replicas of an object through its subresource scale.
func (c *Cluster) Scale(manager string, ref cluster.ObjectRef, replicas int64) {
	c.edit(manager, "scale", ref, func(u *unstructured.Unstructured) {
		must(unstructured.SetNestedField(u.Object, replicas, "spec", "replicas"))
	})
}

// Establish sets the status of an established CRD.
func (c *Cluster) Establish(ref cluster.ObjectRef) { c.edit("apiserver", "status", ref, establish) }

func (c *Cluster) edit(manager, subresource string, ref cluster.ObjectRef, change func(u *unstructured.Unstructured)) {
	r := c.others(ref)
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.objects[ref].DeepCopy()
	change(u)
	_, err := c.updated(r, u, manager, subresource)
	must(err)
}

// Delete deletes an object. The object stays as long as it has finalizers.
func (c *Cluster) Delete(ref cluster.ObjectRef) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.terminate(ref)
}

// Finish removes an object, even if it has finalizers.
func (c *Cluster) Finish(ref cluster.ObjectRef) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.revision++
	delete(c.objects, ref)
}

// others returns a request for an object that another client sends.
func (c *Cluster) others(ref cluster.ObjectRef) *request {
	c.mu.Lock()
	defer c.mu.Unlock()
	for gvk, m := range servedBy(c.objects) {
		if gvk.GroupKind() == ref.GroupKind() {
			return &request{method: http.MethodPatch, gvk: gvk, mapping: m, ref: ref, query: url.Values{"force": {"true"}}}
		}
	}
	panic("the kind of " + ref.String() + " is not served")
}
