// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/kubernetes"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster/connect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver"
)

// bundleOf returns a bundle of a chart in a namespace, whose objects are ready without a controller.
func bundleOf(namespace, version string) *manifest.Bundle {
	objects := fmt.Sprintf(`apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {version: %q}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: runner}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: runner}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}], selector: {app: web}}
`, version)
	files := []source.File{
		{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: web\nversion: " + version + "\n")},
		{Name: "templates/objects.yaml", Data: []byte(objects)},
	}
	layer := source.Layer{Digest: version, Fetch: func(context.Context) (source.Content, error) {
		return source.Content{Digest: version, Files: func() ([]source.File, error) { return files, nil }}, nil
	}}
	return &manifest.Bundle{Name: namespace, Owner: "a test", Installs: []manifest.Install{{Layer: layer, Name: "web", Namespace: namespace}}}
}

// A life is what a module does to a cluster from its install to its removal. How often objects are read depends on how fast the
// watches are, so reads are not part of it.
type life struct {
	Writes map[apiserver.Call]int
	// Errors has the number of responses by status code, except success and 404.
	Errors map[int]int
}

// live installs, upgrades and removes a module, and returns the calls.
func live(t *testing.T, s *apiserver.Server, name, namespace string) life {
	t.Helper()
	// Views share the namespace of the inventories, so that only the first one would create it.
	inventories := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: manifest.DefaultNamespace}}
	if _, err := clientOf(t, s, name).CoreV1().Namespaces().Create(t.Context(), inventories, metav1.CreateOptions{}); err != nil && !kerrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	s.ResetCounts()
	c, err := connect.New(s.Config(name))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// Requests at the same time that need the same namespace would each create it.
	e := manifest.New(manifest.WithConcurrency(1))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for _, version := range []string{"1.0.0", "2.0.0"} {
		o, err := e.Install(ctx, c, bundleOf(namespace, version), manifest.Wait())
		if err != nil || o.State != manifest.Ready {
			t.Fatalf("cannot install %s in %s: %s %v", version, name, o.State, err)
		}
		writes := s.Count(name).Writes
		if _, err := e.Apply(ctx, c, bundleOf(namespace, version)); err != nil {
			t.Fatal(err)
		}
		if more := s.Count(name).Writes - writes; more != 0 {
			t.Errorf("%s: an apply without a change must not write, and wrote %d times", name, more)
		}
	}
	if _, err := e.Uninstall(ctx, c, bundleOf(namespace, "2.0.0"), manifest.Wait()); err != nil {
		t.Fatalf("cannot remove from %s: %v", name, err)
	}
	n := s.Count(name)
	maps.DeleteFunc(n.Requests, func(c apiserver.Call, _ int) bool { return slices.Contains([]string{"get", "list", "watch"}, c.Verb) })
	maps.DeleteFunc(n.Codes, func(code, _ int) bool { return code < http.StatusBadRequest || code == http.StatusNotFound })
	return life{Writes: n.Requests, Errors: n.Codes}
}

// TestCallsOfEngine checks that the calls of the engine get the same answers from the simulated clusters as from a real one: it makes
// the same writes to both, and gets no error from either.
func TestCallsOfEngine(t *testing.T) {
	s := startViews(t, "v1", "v2")
	if err := s.AddCluster("simulated"); err != nil {
		t.Fatal(err)
	}
	// The real cluster keeps the namespaces.
	one, two := "calls-"+rand.String(8), "calls-"+rand.String(8)
	want := live(t, s, "v1", one)
	if len(want.Writes) == 0 || len(want.Errors) > 0 {
		t.Errorf("want writes and no errors on the real cluster, got %+v", want)
	}
	if diff := cmp.Diff(want, live(t, s, "v2", two)); diff != "" {
		t.Fatalf("two modules on the real cluster: -first, +second:\n%s", diff)
	}
	if diff := cmp.Diff(want, live(t, s, "simulated", one)); diff != "" {
		t.Errorf("-real, +simulated:\n%s", diff)
	}
	if got := s.Unknown(); len(got) > 0 {
		t.Errorf("unknown calls: %v", got)
	}
}

// TestView checks that views of one cluster look like different clusters.
func TestView(t *testing.T) {
	s := startViews(t, "v1", "v2")
	uids := map[string]bool{}
	for _, name := range []string{"v1", "v2"} {
		k := clientOf(t, s, name)
		system, err := k.CoreV1().Namespaces().Get(t.Context(), metav1.NamespaceSystem, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		uids[string(system.UID)] = true
		own := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "of-" + name}}
		if _, err := k.CoreV1().ConfigMaps("default").Create(t.Context(), own, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		all, err := k.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{})
		if err != nil || len(all.Items) != 1 || all.Items[0].Name != own.Name {
			t.Errorf("%s: a list must show the own object only, and shows %d: %v", name, len(all.Items), err)
		}
	}
	if len(uids) != 2 {
		t.Errorf("each view must have a UID of its own, got %v", uids)
	}
	other := s.Config("v1")
	other.BearerToken = s.Config("v2").BearerToken
	k, err := kubernetes.NewForConfig(other)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("the token of another cluster must be rejected")
	}
}

// clientOf returns a client of a cluster that sends JSON, as the engine does.
func clientOf(t *testing.T, s *apiserver.Server, name string) kubernetes.Interface {
	t.Helper()
	c := s.Config(name)
	c.ContentType = "application/json"
	k, err := kubernetes.NewForConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// startViews returns a server with views of the real cluster.
func startViews(t *testing.T, names ...string) *apiserver.Server {
	t.Helper()
	s, err := apiserver.Start(t.Context(), apiserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	for _, name := range names {
		if err := s.AddView(name, backend); err != nil {
			t.Fatal(err)
		}
	}
	return s
}
