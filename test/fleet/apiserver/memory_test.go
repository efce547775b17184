// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/cluster"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/kinds"
)

// module has the objects of a module, with its name as NAME: the resource and the object.
var module = map[string]string{
	"apps/v1 deployments": `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "NAME", "labels": {"app": "NAME"}}, "spec": {"selector":
		{"matchLabels": {"app": "NAME"}}, "template": {"metadata": {"labels": {"app": "NAME"}}, "spec": {"serviceAccountName": "NAME", "containers": [{
		"name": "manager", "image": "r.example.org/NAME:1.0", "args": ["--leader-elect"], "ports": [{"containerPort": 8080, "name": "http"}],
		"resources": {"requests": {"cpu": "10m", "memory": "64Mi"}}, "readinessProbe": {"httpGet": {"path": "/ready", "port": 8081}}}]}}}}`,
	"v1 serviceaccounts": `{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "NAME"}}`,
	"v1 configmaps":      `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "NAME"}, "data": {"config.yaml": "a: b\nc: d\n"}}`,
	"v1 services": `{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "NAME"}, "spec": {"selector": {"app": "NAME"}, "ports": [{"port": 80,
		"targetPort": "http"}]}}`,
	"rbac.authorization.k8s.io/v1 roles": `{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "NAME"}, "rules": [
		{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]}`,
}

// install applies three modules of five objects to a cluster, and creates two Secrets for each, as large as those of the engine. They
// are different in each cluster.
func install(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	write := func(resource, name, body string) {
		version, plural, _ := strings.Cut(resource, " ")
		gv, err := schema.ParseGroupVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		o := map[string]any{}
		if err := utiljson.Unmarshal([]byte(body), &o); err != nil {
			t.Fatal(err)
		}
		at := cluster.Target{Kind: c.Kinds().Find(kinds.Path{GroupVersion: gv, Resource: plural}), Namespace: "default", Name: name}
		if _, _, err := c.Apply(at, o, cluster.Write{Manager: "provider-kyma"}); err != nil {
			t.Fatal(err)
		}
	}
	for m := range 3 {
		name := fmt.Sprintf("module-%d", m)
		for resource, body := range module {
			write(resource, name, strings.ReplaceAll(body, "NAME", name))
		}
		for _, suffix := range []string{"inventory", "release"} {
			const size = 2000
			random := make([]byte, size)
			for i := range random {
				random[i] = byte('A' + rand.N(26))
			}
			write("v1 secrets", name+"-"+suffix, fmt.Sprintf(
				`{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "%s-%s"}, "data": {"x": "%s"}}`, name, suffix, random))
		}
	}
}

// TestMemory checks how much memory a cluster at rest needs, and that it needs no goroutine.
func TestMemory(t *testing.T) {
	const clusters, most = 200, 60 << 10
	s, err := Start(t.Context(), Options{Cluster: cluster.Options{Delay: -1}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	add := func(name string) {
		if err := s.AddCluster(name); err != nil {
			t.Fatal(err)
		}
		install(t, s.Cluster(name))
	}
	// The first cluster pays for what all of them share.
	add("first")
	before, goroutines := heap(), runtime.NumGoroutine()
	for i := range clusters {
		add(fmt.Sprintf("c%05d", i))
	}
	each := (heap() - before) / clusters
	t.Logf("a cluster with 3 modules of 5 objects needs %d bytes, and %d goroutines", each, (runtime.NumGoroutine()-goroutines)/clusters)
	if each > most {
		t.Errorf("a cluster needs %d bytes, more than %d", each, most)
	}
	if more := runtime.NumGoroutine() - goroutines; more > 0 {
		t.Errorf("%d clusters need %d goroutines", clusters, more)
	}
	runtime.KeepAlive(s)
}

// heap returns the bytes that are in use after a garbage collection.
func heap() int64 {
	var m runtime.MemStats
	// The second collection frees what the first one finalized.
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
