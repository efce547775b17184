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

// What others do in the cluster, beside the engine. It is not logged, and panics where it is not possible: the test is wrong then.

// Parse returns an object that is written as YAML.
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

// Create an object as a manager does with another request than server-side apply.
func (c *Cluster) Create(manager, text string) cluster.ObjectRef {
	u := Parse(text)
	r := c.others(object.RefOf(u))
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.updated(r, u, manager, "")
	must(err)
	return r.ref
}

// Apply an object as a manager that uses server-side apply.
func (c *Cluster) Apply(manager, text string) cluster.ObjectRef {
	u := Parse(text)
	r := c.others(object.RefOf(u))
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.applied(r, u, manager)
	must(err)
	return r.ref
}

// Edit an object as a manager does.
func (c *Cluster) Edit(manager string, ref cluster.ObjectRef, change func(u *unstructured.Unstructured)) {
	c.edit(manager, "", ref, change)
}

// Set a field of an object as a manager does.
func (c *Cluster) Set(manager string, ref cluster.ObjectRef, v any, path ...string) {
	c.edit(manager, "", ref, func(u *unstructured.Unstructured) { must(unstructured.SetNestedField(u.Object, v, path...)) })
}

// Scale an object through its subresource.
func (c *Cluster) Scale(manager string, ref cluster.ObjectRef, replicas int64) {
	c.edit(manager, "scale", ref, func(u *unstructured.Unstructured) {
		must(unstructured.SetNestedField(u.Object, replicas, "spec", "replicas"))
	})
}

// Establish a CRD.
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

// Delete an object. It stays as long as it has finalizers.
func (c *Cluster) Delete(ref cluster.ObjectRef) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.terminate(ref)
}

// Finish the deletion of an object, whatever its finalizers.
func (c *Cluster) Finish(ref cluster.ObjectRef) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.revision++
	delete(c.objects, ref)
}

// others returns a request of others for an object.
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
