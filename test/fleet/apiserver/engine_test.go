// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster/connect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/cluster"
)

// chartOf returns the bundle of a chart with the objects of a module, a CRD and a custom resource.
func chartOf(version string) *manifest.Bundle {
	crd := `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer, default: 1}}}}}}
`
	text := &strings.Builder{}
	text.WriteString("apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: 2}\n")
	for _, body := range module {
		text.WriteString("---\n" + strings.ReplaceAll(strings.ReplaceAll(body, "NAME", "web"), ":1.0", ":"+version) + "\n")
	}
	files := []source.File{
		{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: web\nversion: " + version + "\n")},
		{Name: "crds/crd.yaml", Data: []byte(crd)}, {Name: "templates/objects.yaml", Data: []byte(text.String())},
	}
	layer := source.Layer{Digest: version, Fetch: func(context.Context) (source.Content, error) {
		return source.Content{Digest: version, Files: func() ([]source.File, error) { return files, nil }}, nil
	}}
	return &manifest.Bundle{Name: "web", Owner: "a test", Installs: []manifest.Install{{Layer: layer, Name: "web", Namespace: "web"}}}
}

// TestEngine installs a module with the engine of the provider, upgrades and removes it. All calls must be known.
func TestEngine(t *testing.T) {
	// If the event of a deletion overtakes the response, the informer of the engine keeps the object. A real server is slower, too.
	s, err := Start(t.Context(), Options{Cluster: cluster.Options{Delay: time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	if err := s.AddCluster("a"); err != nil {
		t.Fatal(err)
	}
	c, err := connect.New(s.Config("a"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	e := manifest.New()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, version := range []string{"1.0.0", "2.0.0"} {
		b := chartOf(version)
		if o, err := e.Install(ctx, c, b, manifest.Wait()); err != nil || o.State != manifest.Ready {
			t.Fatalf("cannot install %s: %s %v; unknown calls: %v", version, o.State, err, s.Unknown())
		}
		writes := s.Count("a").Writes
		if _, err := e.Apply(ctx, c, b); err != nil {
			t.Fatal(err)
		}
		if more := s.Count("a").Writes - writes; more != 0 {
			t.Errorf("an apply without a change must not write, and wrote %d times", more)
		}
	}
	if _, err := e.Uninstall(ctx, c, chartOf("2.0.0"), manifest.Wait()); err != nil {
		t.Fatalf("cannot remove: %v; unknown calls: %v", err, s.Unknown())
	}
	for _, resource := range []string{"deployments", "services", "configmaps", "roles", "secrets"} {
		if l, err := s.Cluster("a").List(targetOf(s, resource), cluster.ListOptions{}); err != nil || len(l.Keys) > 0 {
			t.Errorf("%s are left: %v %v", resource, l, err)
		}
	}
	if unknown := s.Unknown(); len(unknown) > 0 {
		t.Errorf("calls that are not implemented: %v", unknown)
	}
	t.Logf("requests: %v", s.Count("a").Requests)
}

// targetOf returns the collection of a resource in the namespace of the module.
func targetOf(s *Server, resource string) cluster.Target {
	for _, k := range s.Cluster("a").Kinds().All() {
		if k.Resource == resource {
			return cluster.Target{Kind: k, Namespace: "web"}
		}
	}
	return cluster.Target{}
}
