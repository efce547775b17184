// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// target returns the target for an object of a kind.
func (c *Cluster) of(group, resource, namespace, name string) Target {
	return Target{Kind: c.kindOf(group, resource), Namespace: namespace, Name: name}
}

func applyTo(t *testing.T, c *Cluster, at Target, body string) map[string]any {
	t.Helper()
	o := map[string]any{}
	if err := utiljson.Unmarshal([]byte(body), &o); err != nil {
		t.Fatal(err)
	}
	out, _, err := c.Apply(at, o, Write{Manager: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func newCluster(t *testing.T, o Options) *Cluster {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const deployment = `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": {"replicas": 2, "selector": {"matchLabels":
	{"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}}}`

// TestWorkload checks that a workload becomes available, at once or later, and that this ends.
func TestWorkload(t *testing.T) {
	for name, delay := range map[string]time.Duration{"AtOnce": -1, "Later": time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, Options{Delay: delay})
			at := c.of("apps", "deployments", "default", "a")
			applyTo(t, c, at, deployment)
			for {
				got, err := c.Get(at)
				if err != nil {
					t.Fatal(err)
				}
				if nested(got, "status", "availableReplicas") == any(int64(2)) && nested(got, "status", "observedGeneration") == any(int64(1)) {
					break
				}
				if t.Context().Err() != nil || delay < 0 {
					t.Fatalf("not available: %v", got["status"])
				}
				time.Sleep(time.Millisecond)
			}
			before := c.Store().Version()
			applyTo(t, c, at, deployment)
			if after := c.Store().Version(); after != before {
				t.Errorf("an apply without a change wrote %d versions", after-before)
			}
		})
	}
}

// TestGarbageCollection checks what is deleted with an owner or a namespace.
func TestGarbageCollection(t *testing.T) {
	c := newCluster(t, Options{Delay: -1})
	owner := applyTo(t, c, c.of("", "configmaps", "default", "owner"), `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner"}}`)
	of := func(name, uid string) {
		applyTo(t, c, c.of("", "configmaps", "default", name), `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "`+name+`",
			"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "`+uid+`"}]}}`)
	}
	of("dependent", textOf(owner, "uid"))
	of("orphan", "none")
	names := func() (out []string) {
		l, err := c.List(c.of("", "configmaps", "", ""), ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range l.Keys {
			out = append(out, k.Namespace+"/"+k.Name)
		}
		return out
	}
	if diff := cmp.Diff([]string{"default/dependent", "default/owner"}, names()); diff != "" {
		t.Errorf("an object whose owner does not exist must be deleted: -want, +got:\n%s", diff)
	}
	foreground := metav1.DeletePropagationForeground
	if _, _, err := c.Delete(c.of("", "configmaps", "default", "owner"), &metav1.DeleteOptions{PropagationPolicy: &foreground}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string(nil), names()); diff != "" {
		t.Errorf("dependents must be deleted: -want, +got:\n%s", diff)
	}
	ns := c.of("", "namespaces", "", "n")
	applyTo(t, c, ns, `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}`)
	applyTo(t, c, c.of("", "configmaps", "n", "a"), `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "finalizers": ["x.io/a"]}}`)
	if _, _, err := c.Delete(ns, &metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get(ns); err != nil || !isDeleting(got) {
		t.Errorf("the namespace must wait for its content: %v %v", got, err)
	}
	if _, err := c.Patch(c.of("", "configmaps", "n", "a"), "application/merge-patch+json", []byte(`{"metadata": {"finalizers": null}}`), Write{Manager: "test"}); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get(ns); err == nil {
		t.Errorf("the namespace must be gone: %v", got)
	}
}

// TestForgotten checks that a page of a version that is not known anymore fails.
func TestForgotten(t *testing.T) {
	c := newCluster(t, Options{History: 4, Delay: -1})
	all := c.of("", "namespaces", "", "")
	l, err := c.List(all, ListOptions{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.List(all, ListOptions{Limit: 1, Continue: l.Continue}); err != nil {
		t.Error(err)
	}
	applyTo(t, c, c.of("", "namespaces", "", "x"), `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}}`)
	c.Store().Expire()
	if _, err := c.List(all, ListOptions{Limit: 1, Continue: l.Continue}); err == nil {
		t.Error("want the error of an expired token")
	}
}
