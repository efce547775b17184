// SPDX-License-Identifier: Apache-2.0

package target

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/target/mapper"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

var (
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	crds        = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

	configMapKind  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	deploymentKind = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	thingKind      = schema.GroupVersionKind{Group: "target.example.org", Version: "v1", Kind: "Thing"}
)

func TestBuiltinKinds(t *testing.T) {
	client, err := discovery.NewDiscoveryClientForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	_, lists, err := client.ServerGroupsAndResourcesWithContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	served := map[schema.GroupVersionKind]cluster.Mapping{}
	for _, l := range lists {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range l.APIResources {
			if !strings.Contains(r.Name, "/") {
				served[gv.WithKind(r.Kind)] = cluster.Mapping{Resource: r.Name, Namespaced: r.Namespaced}
			}
		}
	}
	got := map[schema.GroupVersionKind]cluster.Mapping{}
	table := mapper.Builtin()
	for gvk := range table {
		got[gvk] = served[gvk]
	}
	if diff := cmp.Diff(table, mapper.Table(got)); diff != "" {
		t.Errorf("what is served differs from the table: -want, +got:\n%s", diff)
	}
}

func TestDiscovery(t *testing.T) {
	c := connect(t, server.Config())
	m, err := c.Mapping(t.Context(), schema.GroupVersionKind{Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Kind: "FlowSchema"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(cluster.Mapping{Resource: "flowschemas"}, m); diff != "" {
		t.Errorf("Mapping(...): -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"GET 200"}, c.asked()); diff != "" {
		t.Errorf("requests: -want, +got:\n%s", diff)
	}
	_, err = c.Mapping(t.Context(), schema.GroupVersionKind{Group: "none.example.org", Version: "v1", Kind: "X"})
	if e := (*cluster.NoKindError)(nil); !errors.As(err, &e) {
		t.Errorf("want NoKindError, got %v", err)
	}
	c.asked()

	version, err := c.Version(t.Context())
	if err != nil || !strings.HasPrefix(version, "v1.") {
		t.Errorf("Version(): got %q, %v", version, err)
	}
	versions, err := c.APIVersions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"v1", "v1/Secret", "apps/v1", "apps/v1/Deployment"} {
		if !slices.Contains(versions, v) {
			t.Errorf("APIVersions(): want %s, got %v", v, versions)
		}
	}
	if _, err := c.APIVersions(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"GET 200", "GET 200", "GET 200"}, c.asked()); diff != "" {
		t.Errorf("requests for the version and two kinds of groups: -want, +got:\n%s", diff)
	}
}

func TestRefused(t *testing.T) {
	unauthorized := rest.AnonymousClientConfig(server.Config())
	unauthorized.BearerToken = "nonsense"
	c := connect(t, unauthorized)
	err := c.track(t, configMapKind)
	// The second request isn't sent.
	n := (*transport.NotConnectedError)(nil)
	if !apierrors.IsUnauthorized(err) && (!errors.As(err, &n) || n.State != transport.Unauthorized) {
		t.Errorf("want the credentials refused, got %v", err)
	}

	visitor, err := server.User("visitor")
	if err != nil {
		t.Fatal(err)
	}
	c = connect(t, visitor)
	err = c.track(t, configMapKind)
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `User "visitor" cannot`) {
		t.Errorf("want access denied with the words of the API server, got %v", err)
	}
}

func TestWatch(t *testing.T) {
	c := connect(t, server.Config())
	key := func(name string) cluster.ObjectRef {
		return cluster.ObjectRef{Kind: "ConfigMap", Namespace: "default", Name: name}
	}
	there := manifest.Interpreter().State(apply(t, manifest.DefaultFieldManager, "set", "configmaps", configMap("there", "x")))
	apply(t, "other-client", "", "configmaps", configMap("foreign", "x"))
	if err := c.track(t, configMapKind); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"WATCH 200"}, c.asked()); diff != "" {
		t.Errorf("requests: -want, +got:\n%s", diff)
	}
	// Metadata as protobuf and the whole object as JSON must have the same summary.
	got, _ := c.Cache().Get(key("there"))
	if diff := cmp.Diff(there, got); diff != "" {
		t.Errorf("what was listed: -want, +got:\n%s", diff)
	}
	if _, ok := c.Cache().Get(key("foreign")); ok {
		t.Error("want objects without our label left alone")
	}
	c.silent(t, "a first listing is not news")

	// Our own writes, added before or after their events, are not reported as changes. The fence that follows them is.
	for _, value := range []string{"1", "2", "3"} {
		s := manifest.Interpreter().State(apply(t, manifest.DefaultFieldManager, "set", "configmaps", configMap("there", value)))
		c.Cache().Put(key("there"), s)
	}
	apply(t, manifest.DefaultFieldManager, "fence", "configmaps", configMap("fence", "x"))
	c.heard(t, "fence: new ConfigMap default/fence")
	c.forgetNews()

	patchConfigMap(t, "there", `{"metadata":{"annotations":{"a":"b"}}}`)
	patchConfigMap(t, "there", `{"data":{"more":"x"}}`)
	patchConfigMap(t, "fence", `{"data":{"key":"y"}}`)
	c.heard(t, "fence: changed ConfigMap default/fence")
	c.forgetNews()
	patchConfigMap(t, "there", `{"data":{"key":"taken"}}`)
	c.heard(t, "set: changed ConfigMap default/there")
	patchConfigMap(t, "there", `{"metadata":{"labels":{"`+manifest.LabelManagedBy+`":null}}}`)
	c.heard(t, "set: gone ConfigMap default/there")
	remove(t, configMaps, "default", "fence")
	c.heard(t, "fence: gone ConfigMap default/fence")
	for _, name := range []string{"there", "foreign"} {
		remove(t, configMaps, "default", name)
	}
}

func TestWatchStatus(t *testing.T) {
	c := connect(t, server.Config())
	if err := c.track(t, deploymentKind); err != nil {
		t.Fatal(err)
	}
	labels := map[string]any{"app": "web"}
	apply(t, manifest.DefaultFieldManager, "set", "deployments", map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"namespace": "default", "name": "web"},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{
				"metadata": map[string]any{"labels": labels},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}},
			},
		},
	})
	c.heard(t, "set: new Deployment default/web")
	got, _ := c.Cache().Get(cluster.ObjectRef{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "web"})
	if got.Status != cluster.InProgress {
		t.Errorf("want the status computed from the whole object, got %+v", got)
	}
	remove(t, deployments, "default", "web")
	c.heard(t, "set: gone Deployment default/web")
}

func TestWatchOfKindThatComesAndGoes(t *testing.T) {
	c := connect(t, server.Config())
	isNoKind := func(err error) bool {
		e := (*cluster.NoKindError)(nil)
		return errors.As(err, &e)
	}
	// A mapping that was learned early must not prevent the watch from starting later.
	c.AddMapping(thingKind, cluster.Mapping{Resource: "things"})
	if err := c.track(t, thingKind); !isNoKind(err) {
		t.Fatalf("want NoKindError, got %v", err)
	}
	apply(t, "other-client", "", "customresourcedefinitions", map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "things.target.example.org"},
		"spec": map[string]any{
			"group": "target.example.org", "scope": "Cluster",
			"names": map[string]any{"plural": "things", "kind": "Thing"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}},
			}},
		},
	})
	eventually(t, "the kind is watched", func() bool { return c.track(t, thingKind) == nil })
	apply(t, manifest.DefaultFieldManager, "set", "things", map[string]any{
		"apiVersion": "target.example.org/v1", "kind": "Thing", "metadata": map[string]any{"name": "one"},
	})
	c.heard(t, "set: new Thing one")
	remove(t, crds, "", "things.target.example.org")
	c.heard(t, "set: gone Thing one")
	eventually(t, "the kind is known to be gone", func() bool { return isNoKind(c.track(t, thingKind)) })
}
