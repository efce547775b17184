// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// patience is the timeout for actions that should take milliseconds.
const patience = time.Minute

// start starts a server with the kind Site, and the operator.
func start(t *testing.T) client.Client {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	server, err := controlplane.Start(t.Context(), controlplane.Options{Name: "operator"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	c, err := server.Client()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Create(t.Context(), objectIn(t, "crd.yaml")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the kind is served", func() bool {
		sites := &unstructured.UnstructuredList{}
		sites.SetGroupVersionKind(siteKind)
		return c.List(t.Context(), sites) == nil
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		done <- run(ctx, server.Config(), ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return c
}

func objectIn(t *testing.T, file string) *unstructured.Unstructured {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(b, &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); <-time.After(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timed out waiting until %s", what)
		}
	}
}

func TestOperator(t *testing.T) {
	c := start(t)
	ctx := t.Context()
	site := objectIn(t, "site.yaml")
	key := client.ObjectKeyFromObject(site)
	page, server := &corev1.ConfigMap{}, &appsv1.Deployment{}
	status := func() map[string]string {
		now := newSite()
		if err := c.Get(ctx, key, now); err != nil {
			return map[string]string{"error": err.Error()}
		}
		s, _, _ := unstructured.NestedStringMap(now.Object, "status")
		return s
	}
	says := func(text string) func() bool {
		return func() bool { return c.Get(ctx, key, page) == nil && page.Data["index.html"] == text }
	}

	if err := c.Create(ctx, site); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the objects are there", func() bool { return says("Hello, world")() && c.Get(ctx, key, server) == nil })
	if page.Labels["example.org/site"] != "default.welcome" || server.Labels["example.org/site"] != "default.welcome" {
		t.Errorf("all objects must have the label of the transform: %v, %v", page.Labels, server.Labels)
	}
	if got := server.Labels[manifest.LabelManagedBy]; got != operator {
		t.Errorf("the label of the engine must name the operator, got %q", got)
	}
	eventually(t, "the site waits for a replica", func() bool {
		return maps.Equal(status(), map[string]string{"state": "Processing", "message": "welcome: Deployment default/welcome: no replica is available yet"})
	})

	// One of two replicas is enough, according to the operator's own rule.
	server.Status.Replicas, server.Status.AvailableReplicas, server.Status.ReadyReplicas = 2, 1, 1
	if err := c.Status().Update(ctx, server); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the site is ready", func() bool { return maps.Equal(status(), map[string]string{"state": "Ready", "message": ""}) })

	change := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"text":"Good bye"}}`))
	if err := c.Patch(ctx, site, change); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the page has the new text", says("Good bye"))

	page.Data["index.html"] = "someone was here"
	if err := c.Update(ctx, page); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the page is repaired", says("Good bye"))
	if err := c.Delete(ctx, page); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the page is back", says("Good bye"))

	if err := c.Delete(ctx, site); err != nil {
		t.Fatal(err)
	}
	gone := func(o client.Object) func() bool {
		return func() bool { return kerrors.IsNotFound(c.Get(ctx, key, o)) }
	}
	eventually(t, "the site is gone", gone(newSite()))
	for _, o := range []client.Object{page, server} {
		if !gone(o)() {
			t.Errorf("%T must be gone before the site is", o)
		}
	}
	secrets := &corev1.SecretList{}
	if err := c.List(ctx, secrets); err != nil {
		t.Fatal(err)
	}
	for i := range secrets.Items {
		if name := secrets.Items[i].Name; strings.Contains(name, "welcome") {
			t.Errorf("Secret %s is left behind", name)
		}
	}
}
