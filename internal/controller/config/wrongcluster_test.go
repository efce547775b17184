// SPDX-License-Identifier: Apache-2.0

package config

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// manifestIn returns a Manifest of the config that is installed in the cluster with a UID.
func manifestIn(name, uid string) *v1alpha1.Manifest {
	m := &v1alpha1.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name}}
	m.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: "c"}
	m.Status.AtProvider.ClusterUID = uid
	return m
}

// TestWrongCluster checks that a config that leads to another cluster than its Manifests says so, with both UIDs, until they are back
// or may move, even if the provider starts again.
func TestWrongCluster(t *testing.T) {
	wrong := func(name string) reported {
		message := "the credentials are for the cluster with UID b, but Manifest n/" + name + " is installed in the cluster with UID a: restore the " +
			"credentials, or, to continue in the other cluster, set the annotation kyma.m.crossplane.io/cluster-changed of the Manifest to b"
		return reported{Conditions: stalled("WrongCluster", message), Version: "v1.36.3", UID: "b", Endpoint: "a:6443"}
	}
	right := func(uid string) reported {
		r := up("v1.36.3")
		r.UID = uid
		return r
	}
	b := newReachableBench(t)
	web := manifestIn("web", "a")
	other := manifestIn("other", "a")
	other.Spec.ProviderConfigReference.Name = "another"
	for _, m := range []*v1alpha1.Manifest{web, manifestIn("api", "a"), manifestIn("new", ""), other} {
		if err := b.client.Create(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	move := func(name, to string) {
		m := &v1alpha1.Manifest{}
		if err := b.client.Get(t.Context(), types.NamespacedName{Namespace: "n", Name: name}, m); err != nil {
			t.Fatal(err)
		}
		m.Annotations = map[string]string{v1alpha1.AnnotationClusterChanged: to}
		if err := b.client.Update(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	b.connection.outcome = connected()
	b.attempts.Connected("user", &Config{Kind: v1alpha1.ProviderConfigKind, Namespace: "n", Name: "c"}, b.connection)
	for _, step := range []struct {
		reason string
		do     func()
		want   reported
		wait   time.Duration
	}{
		{reason: "The connection leads to the cluster of the Manifests.", do: func() { b.connection.uid = "a" }, want: right("a")},
		{reason: "The connection leads to another cluster.", do: func() { b.connection.uid = "b" }, want: wrong("api"), wait: recheckAfter},
		{reason: "A Manifest that may move to a third cluster is still elsewhere.", do: func() { move("api", "c") }, want: wrong("api"), wait: recheckAfter},
		{reason: "One of the Manifests may be moved.", do: func() { move("api", "b") }, want: wrong("web"), wait: recheckAfter},
		{reason: "All Manifests may be moved.", do: func() { move("web", "b") }, want: right("b")},
		{reason: "The connection leads to the first cluster again.", do: func() { b.connection.uid = "a" }, want: right("a")},
	} {
		b.now = b.now.Add(time.Minute)
		step.do()
		wait := b.reconcile(t)
		if diff := cmp.Diff(step.want, reportedBy(&b.config(t).Status)); diff != "" {
			t.Errorf("\n%s\nReconcile(...): -want, +got:\n%s", step.reason, diff)
		}
		if wait != step.wait {
			t.Errorf("\n%s\nReconcile(...): want the next pass after %s, got %s", step.reason, step.wait, wait)
		}
		b.writes = 0
		if b.reconcile(t); b.writes != 0 {
			t.Errorf("\n%s\nthe second pass writes %d times", step.reason, b.writes)
		}
	}
}
