// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster/connect"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// operator is the identity of another program.
var operator = manifest.Identity{FieldManager: "site operator", ManagedBy: "sites"}

// A program has an engine and a connection with the same identity.
type program struct {
	*manifest.Engine

	t   *testing.T
	ctx context.Context
	c   *connect.Connection
}

func newProgram(t *testing.T, id manifest.Identity) *program {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	c, err := connect.New(restConfig(), connect.WithIdentity(id))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	e := manifest.New(manifest.WithIdentity(id), manifest.WithInventoryNamespace("inventories-of-"+id.ManagedBy))
	return &program{Engine: e, t: t, ctx: ctx, c: c}
}

func (p *program) install(s *manifest.Bundle) {
	p.t.Helper()
	if o, err := p.Install(p.ctx, p.c, s, manifest.Wait()); err != nil || o.State != manifest.Ready || !o.UpToDate {
		p.t.Fatalf("Install(...): %+v, %v", o, err)
	}
}

// list returns the ConfigMaps, Services and Secrets of a namespace, and the namespace.
func (p *program) list(namespace string) map[string]*unstructured.Unstructured {
	p.t.Helper()
	out := map[string]*unstructured.Unstructured{}
	read := func(path string) []byte {
		b, err := p.c.REST().Get().AbsPath("/api/v1/namespaces/" + namespace + path).Do(p.ctx).Raw()
		if err != nil {
			p.t.Fatal(err)
		}
		return b
	}
	for _, r := range []string{"configmaps", "services", "secrets"} {
		l := &unstructured.UnstructuredList{}
		if err := l.UnmarshalJSON(read("/" + r)); err != nil {
			p.t.Fatal(err)
		}
		for i := range l.Items {
			out[l.Items[i].GetKind()+" "+l.Items[i].GetName()] = &l.Items[i]
		}
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(read("")); err != nil {
		p.t.Fatal(err)
	}
	out["Namespace"] = u
	return out
}

// lacksDefault fails if an object has anything of the default identity.
func (p *program) lacksDefault(namespaces ...string) {
	p.t.Helper()
	for _, ns := range namespaces {
		for name, u := range p.list(ns) {
			b, err := u.MarshalJSON()
			if err != nil {
				p.t.Fatal(err)
			}
			if strings.Contains(string(b), manifest.DefaultManagedBy) {
				p.t.Errorf("%s in %s has something of the default identity: %s", name, ns, b)
			}
		}
	}
}

// applied returns the managers that applied fields of an object.
func applied(u *unstructured.Unstructured) []string {
	var out []string
	for _, m := range u.GetManagedFields() {
		if m.Operation == metav1.ManagedFieldsOperationApply {
			out = append(out, m.Manager)
		}
	}
	return out
}

// change changes the greeting of a ConfigMap as another client, and waits until the watch of the program has reported it.
func (p *program) change(s *manifest.Bundle, namespace, name string) manifest.Observation {
	p.t.Helper()
	err := p.c.REST().Patch(types.MergePatchType).AbsPath(path(namespace, name)).Param("fieldManager", "vandal").
		Body([]byte(`{"data":{"greeting":"changed"}}`)).Do(p.ctx).Error()
	for err == nil {
		var o manifest.Observation
		if o, err = p.Check(p.ctx, p.c, s); err == nil && len(o.Drift) > 0 {
			return o
		}
		<-time.After(10 * time.Millisecond)
	}
	p.t.Fatal(err)
	return manifest.Observation{}
}

// site returns a bundle of a chart with a hook, and a plain object that must be kept.
func site(t *testing.T, namespace string) *manifest.Bundle {
	t.Helper()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	chart, err := source.FS(fstest.MapFS{
		"Chart.yaml":            file("apiVersion: v2\nname: site\nversion: 1.0.0\n"),
		"templates/page.yaml":   file("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: page}\ndata: {greeting: hello}\n"),
		"templates/server.yaml": file("apiVersion: v1\nkind: Service\nmetadata: {name: server}\nspec: {ports: [{port: 80}]}\n"),
		"templates/hook.yaml":   file("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-install}}\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	kept := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, annotations: {helm.sh/resource-policy: keep}}\n"
	return &manifest.Bundle{Name: "site", Owner: "a test", Installs: []manifest.Install{
		{Layer: chart, Name: "site", Namespace: namespace},
		{Layer: source.YAML([]byte(kept)), Form: manifest.FormPlain, Name: "kept", Namespace: namespace},
	}}
}

// TestIdentity installs, repairs and removes a bundle under another identity than that of the provider.
func TestIdentity(t *testing.T) {
	const namespace, inventories = "identity", "inventories-of-sites"
	p, s := newProgram(t, operator), site(t, namespace)
	p.install(s)
	p.lacksDefault(namespace, inventories)
	objects := p.list(namespace)
	for _, name := range []string{"ConfigMap page", "Service server", "ConfigMap kept", "ConfigMap hook"} {
		u := objects[name]
		if u == nil {
			t.Fatalf("there is no %s", name)
		}
		if diff := cmp.Diff([]string{operator.FieldManager}, applied(u)); diff != "" {
			t.Errorf("%s: field managers: -want, +got:\n%s", name, diff)
		}
		if got := u.GetLabels()[manifest.LabelManagedBy]; name != "ConfigMap hook" && got != operator.ManagedBy {
			t.Errorf("%s: label: want %s, got %q", name, operator.ManagedBy, got)
		}
	}
	inventory := p.list(inventories)["Secret site"]
	if got := inventory.GetAnnotations()[manifest.AnnotationTooling]; got != operator.ManagedBy+"/v1" || inventory.GetLabels()[manifest.LabelManagedBy] != operator.ManagedBy {
		t.Errorf("inventory: tooling %q, labels %v", got, inventory.GetLabels())
	}

	// The watch reports a change, a dry run finds its field, and the engine repairs it.
	report := *s
	report.Drift = manifest.DriftReport
	want := []manifest.Drift{{Key: cluster.ObjectRef{Kind: "ConfigMap", Namespace: namespace, Name: "page"}, Fields: []string{"data.greeting"}}}
	if diff := cmp.Diff(want, p.change(&report, namespace, "page").Drift); diff != "" {
		t.Errorf("drift: -want, +got:\n%s", diff)
	}
	p.install(s)
	if got := greeting(p.ctx, p.c, namespace, "page"); got != "hello" {
		t.Errorf("greeting after the repair: %s", got)
	}
	p.lacksDefault(namespace, inventories)

	left, err := p.Uninstall(p.ctx, p.c, s, manifest.Wait())
	if err != nil || !left.Gone {
		t.Fatalf("Uninstall(...): %+v, %v", left, err)
	}
	p.lacksDefault(namespace, inventories)
	objects = p.list(namespace)
	kept := objects["ConfigMap kept"]
	if kept == nil || kept.GetLabels()[manifest.LabelManagedBy] != "" || objects["ConfigMap page"] != nil || objects["Service server"] != nil {
		t.Errorf("after the removal: %v", objects)
	}
	if objects := p.list(inventories); objects["Secret site"] != nil {
		t.Error("the inventory is left")
	}
}

// TestTwoIdentities checks that engines with different identities treat each other as other clients, until one adopts the objects
// of the other.
func TestTwoIdentities(t *testing.T) {
	const namespace = "two-identities"
	one := newProgram(t, operator)
	two := newProgram(t, manifest.Identity{FieldManager: manifest.DefaultFieldManager, ManagedBy: manifest.DefaultManagedBy})
	ours, theirs := settings(namespace, "hello"), settings(namespace, "bye")
	theirs.Owner = "another test"
	one.install(ours)

	u := get(one.ctx, one.c, namespace, "settings")
	if s := one.c.Cache().Interpreter().State(u); s.Owned == "" || s.Set != one.ID(ours) {
		t.Errorf("the fields must belong to the engine that applied them: %+v", s)
	}
	if s := two.c.Cache().Interpreter().State(u); s.Owned != "" {
		t.Errorf("the other engine must not take them for its own: %+v", s)
	}
	_, err := two.Install(two.ctx, two.c, theirs)
	if err == nil || !strings.Contains(err.Error(), "belongs to another owner") {
		t.Errorf("an object of another engine must be refused, got %v", err)
	}
	if o, err := one.Check(one.ctx, one.c, ours); err != nil || !o.UpToDate || o.State != manifest.Ready {
		t.Errorf("nothing must happen to the object: %+v, %v", o, err)
	}

	theirs.Adopt = true
	two.install(theirs)
	u = get(two.ctx, two.c, namespace, "settings")
	if diff := cmp.Diff([]string{manifest.DefaultFieldManager}, applied(u)); diff != "" {
		t.Errorf("an adoption must take the fields over from the other engine: -want, +got:\n%s", diff)
	}
	if got := u.GetLabels()[manifest.LabelManagedBy]; got != manifest.DefaultManagedBy || greeting(two.ctx, two.c, namespace, "settings") != "bye" {
		t.Errorf("label %q, object %v", got, u)
	}

	// The first engine no longer owns what was adopted.
	if left, err := one.Uninstall(one.ctx, one.c, ours, manifest.Wait()); err != nil || !left.Gone {
		t.Errorf("Uninstall(...): %+v, %v", left, err)
	}
	if o, err := two.Check(two.ctx, two.c, theirs); err != nil || !o.UpToDate || o.State != manifest.Ready {
		t.Errorf("a removal must leave what others own: %+v, %v", o, err)
	}
	if left, err := two.Uninstall(two.ctx, two.c, theirs, manifest.Wait()); err != nil || !left.Gone {
		t.Errorf("Uninstall(...): %+v, %v", left, err)
	}
}
