// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// Templates for the charts of tests.
const (
	tmplConfig  = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, labels: {app: web}}\ndata: {greeting: {{ .Values.greeting }}, revision: \"{{ .Release.Revision }}\"}\n"
	tmplAccount = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web}\n"
	tmplRole    = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: web}\nrules: []\n"
	tmplService = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n"
	tmplDeploy  = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 1, template: {spec: {image: web}}}\n"
	tmplCRD     = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
spec:
  group: example.org
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true}]
`
	tmplWidget = "apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: %s}\nspec: {size: 1}\n"
)

func configMap(name string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %q}\ndata: {k: v}\n", name)
}

func namespaceOf(name string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", name)
}

// webTemplates are the five objects of the chart web.
var webTemplates = []string{tmplConfig, tmplAccount, tmplRole, tmplService, tmplDeploy}

var webObjects = []string{
	"ClusterRole web", "ConfigMap apps/web", "Deployment apps/web", "Service apps/web", "ServiceAccount apps/web",
}

// layerOf returns a layer of files, which is identified by its content.
func layerOf(files []source.File) source.Layer {
	var digest strings.Builder
	for _, f := range files {
		fmt.Fprintf(&digest, "%s %x\n", f.Name, f.Data)
	}
	content := source.Content{Digest: digest.String(), Files: func() ([]source.File, error) { return files, nil }}
	return source.Layer{Digest: digest.String(), Fetch: func(context.Context) (source.Content, error) { return content, nil }}
}

// install returns an install of a chart with templates, in namespace apps.
func install(name string, templates ...string) Install {
	files := []source.File{
		{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: " + name + "\nversion: 1.0.0\n")},
		{Name: "values.yaml", Data: []byte("greeting: hello\n")},
	}
	for i, t := range templates {
		dir := "templates"
		if after, ok := strings.CutPrefix(t, "crds/"); ok {
			dir, t = "crds", after
		}
		files = append(files, source.File{Name: fmt.Sprintf("%s/t%d.yaml", dir, i), Data: []byte(t)})
	}
	return Install{Layer: layerOf(files), Name: name, Namespace: "apps"}
}

func bundleOf(installs ...Install) *Bundle {
	return &Bundle{Name: "team-a-web", Owner: "Manifest team-a/web", Labels: map[string]string{"team": "a"}, Installs: installs}
}

func manifestOf(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	b, err := u.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := u.UnmarshalJSON(b); err != nil {
		t.Fatal(err)
	}
	return u
}

// A bench is an engine, a server and a connection between the two.
type bench struct {
	*Engine

	t testing.TB
	s *fakeServer
	c *fakeCluster
}

func newBench(t testing.TB) *bench {
	t.Helper()
	s := newFakeServer()
	b := &bench{t: t, s: s, c: newFakeCluster(t, s)}
	b.restart()
	return b
}

// advised contains messages as the provider sets them.
var advised = Messages{
	ForceRemoval: `set annotation kyma.m.crossplane.io/force-removal: "true" on the Manifest`,
	Recreate:     `set immutableFields: Recreate, or annotation kyma.m.crossplane.io/recreate: "true" on the object in the chart`,
	OmitResource: "set customResourcePolicy: Ignore",
	Rename:       "choose another external name",
	Adopt:        "set adopt",
}

// restart gives the engine an empty memory and a new connection.
func (b *bench) restart() {
	blind := b.c.blind
	b.Engine = New(WithMessages(advised))
	b.now = func() time.Time { return time.Unix(1_700_000_000, 0) }
	b.c = newFakeCluster(b.t, b.s)
	b.c.blind = blind
}

func (b *bench) apply(s *Bundle, o ...CallOption) Result {
	b.t.Helper()
	r, err := b.Apply(b.t.Context(), b.c, s, o...)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *bench) observe(s *Bundle, o ...CallOption) observe.Observation {
	b.t.Helper()
	seen, err := b.Observe(b.t.Context(), b.c, s, o...)
	if err != nil {
		b.t.Fatal(err)
	}
	return seen
}

func (b *bench) take(s *Bundle, o ...CallOption) Removal {
	b.t.Helper()
	r, err := b.Remove(b.t.Context(), b.c, s, o...)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// reconcile applies until nothing is left to do, as a controller does. It retries after errors.
func (b *bench) reconcile(s *Bundle, o ...CallOption) {
	b.t.Helper()
	for range 5 {
		if seen, err := b.Observe(b.t.Context(), b.c, s, o...); err == nil && seen.Exists && seen.UpToDate {
			return
		}
		_, _ = b.Apply(b.t.Context(), b.c, s, o...)
	}
	b.t.Fatalf("the bundle is not applied after 5 steps: %+v", b.observe(s, o...))
}

// begun returns a call on a bundle that has already ended, to inspect it.
func (b *bench) begun(s *Bundle) *call {
	b.t.Helper()
	w, err := b.newCall(b.t.Context(), b.c, s, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	w.end()
	return w
}

// inventory returns the inventory as it is in the cluster.
func (b *bench) inventory(s *Bundle) *inventory.Inventory {
	b.t.Helper()
	fresh := bench{Engine: New(), t: b.t, s: b.s, c: newFakeCluster(b.t, b.s)}
	inv, err := fresh.begun(s).store.loadUnwatched(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return inv
}

func key(kind, namespace, name string) cluster.ObjectRef {
	group := map[string]string{"Deployment": "apps", "ClusterRole": "rbac.authorization.k8s.io", "Widget": "example.org", "CustomResourceDefinition": "apiextensions.k8s.io"}[kind]
	return cluster.ObjectRef{Group: group, Kind: kind, Namespace: namespace, Name: name}
}
