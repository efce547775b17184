// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/record"
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

// TestMissingImage checks that a Deployment whose image is missing does not become available, that it keeps the old pods, and that it
// recovers.
func TestMissingImage(t *testing.T) {
	broken := strings.Replace(deployment, `"image": "x"`, `"image": "`+MissingImage+`x"`, 1)
	status := func(replicas, updated, unavailable, ready int64) map[string]any {
		out := map[string]any{
			"replicas": replicas, "updatedReplicas": updated, "unavailableReplicas": unavailable, "readyReplicas": ready, "availableReplicas": ready,
		}
		maps.DeleteFunc(out, func(_ string, n any) bool { return n == any(int64(0)) })
		return out
	}
	cases := map[string]struct {
		reason string
		bodies []string
		want   map[string]any
	}{
		"New":     {reason: "No pod runs.", bodies: []string{broken}, want: status(2, 2, 2, 0)},
		"Update":  {reason: "The old pods stay.", bodies: []string{deployment, broken}, want: status(3, 1, 1, 2)},
		"Recover": {reason: "The image exists.", bodies: []string{deployment, broken, deployment}, want: status(2, 2, 0, 2)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, Options{Delay: -1})
			at := c.of("apps", "deployments", "default", "a")
			for _, body := range tc.bodies {
				applyTo(t, c, at, body)
			}
			o, err := c.Get(at)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := o["status"].(map[string]any)
			delete(got, "conditions")
			tc.want["observedGeneration"] = int64(len(tc.bodies))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestObserve checks that an observer is called with what exists, and with each state of an object.
func TestObserve(t *testing.T) {
	c := newCluster(t, Options{Delay: -1})
	at := c.of("", "configmaps", "default", "a")
	set := func(value string) {
		applyTo(t, c, at, `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"version": "`+value+`"}}`)
	}
	var got []any
	set("1")
	c.Observe(func(k record.Key, o map[string]any) {
		if k.Resource == "configmaps" {
			got = append(got, nested(o, "data", "version"))
		}
	})
	set("2")
	set("2")
	set("3")
	c.Observe(nil)
	set("4")
	if diff := cmp.Diff([]any{"1", "2", "3"}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
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
