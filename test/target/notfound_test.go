// SPDX-License-Identifier: Apache-2.0

package target

import (
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// TestNotFound checks the responses of a real API server for something that does not exist. It names a missing object, but
// nothing if it does not serve the path. In this case, its discovery documents show that the kind is not served.
func TestNotFound(t *testing.T) {
	apply(t, "other-client", "", "customresourcedefinitions", map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "things.missing.example.org"},
		"spec": map[string]any{
			"group": "missing.example.org", "scope": "Cluster",
			"names": map[string]any{"plural": "things", "kind": "Thing"},
			"versions": []any{
				map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}},
				map[string]any{"name": "v2", "served": false, "storage": false, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}},
			},
		},
	})
	get, err := notfound.Getter(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	served := func(gvk schema.GroupVersionKind) bool {
		yes, err := notfound.Served(t.Context(), get, gvk)
		return yes && err == nil
	}
	thing := schema.GroupVersionKind{Group: "missing.example.org", Version: "v1", Kind: "Thing"}
	eventually(t, "the kind is served", func() bool { return served(thing) })
	of := func(group, version, kind string) schema.GroupVersionKind {
		return schema.GroupVersionKind{Group: group, Version: version, Kind: kind}
	}
	cases := map[string]struct {
		path     string
		resource string                  // The resource that the response names; empty if it names none.
		gvk      schema.GroupVersionKind // The resource that is not served; empty if it is served.
	}{
		"Object":         {path: "/api/v1/namespaces/default/configmaps/none", resource: "configmaps"},
		"InNoNamespace":  {path: "/api/v1/namespaces/none/configmaps/none", resource: "configmaps"},
		"Namespace":      {path: "/api/v1/namespaces/none", resource: "namespaces"},
		"Custom":         {path: "/apis/missing.example.org/v1/things/none", resource: "things"},
		"Log":            {path: "/api/v1/namespaces/default/pods/none/log", resource: "pods"},
		"Builtin":        {path: "/api/v1/namespaces/default/foos/none", gvk: of("", "v1", "Foo")},
		"BuiltinList":    {path: "/apis/apps/v1/foos", gvk: of("apps", "v1", "Foo")},
		"BuiltinVersion": {path: "/apis/apps/v1beta1/deployments", gvk: of("apps", "v1beta1", "Deployment")},
		"Core":           {path: "/api/v2/secrets", gvk: of("", "v2", "Secret")},
		"CustomKind":     {path: "/apis/missing.example.org/v1/others/none", gvk: of("missing.example.org", "v1", "Other")},
		"NotServed":      {path: "/apis/missing.example.org/v2/things/none", gvk: of("missing.example.org", "v2", "Thing")},
		"NoVersion":      {path: "/apis/missing.example.org/v3/things", gvk: of("missing.example.org", "v3", "Thing")},
		"NoGroup":        {path: "/apis/none.example.org/v1/xs/none", gvk: of("none.example.org", "v1", "X")},
	}
	c := connect(t, server.Config())
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, verb := range []string{http.MethodGet, http.MethodDelete} {
				err := c.REST().Verb(verb).AbsPath(tc.path).Do(t.Context()).Error()
				if name == "Log" && verb == http.MethodDelete {
					continue
				}
				if got := notfound.IsObject(err, tc.resource, "none") && notfound.Is(err); got != (tc.resource != "") {
					t.Errorf("%s: named: %t, of %v", verb, got, err)
				}
				if got := notfound.Foreign(err); got != (tc.resource == "") {
					t.Errorf("%s: foreign: %t, of %v", verb, got, err)
				}
			}
			if tc.gvk.Empty() {
				return
			}
			if yes, err := notfound.Served(t.Context(), get, tc.gvk); yes || err != nil {
				t.Errorf("Served(...): want false, got %t, %v", yes, err)
			}
		})
	}
	remove(t, crds, "", "things.missing.example.org")
	eventually(t, "the kind is known to be gone", func() bool {
		yes, err := notfound.Served(t.Context(), get, thing)
		return !yes && err == nil
	})
}
