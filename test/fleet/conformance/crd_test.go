// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"
	"testing"
)

// crd returns a CRD whose names contain a word, so that scenarios do not share it.
func crd(word, scope string) string {
	return strings.ReplaceAll(`{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "WORDs.x.example.org"}, "spec": {
		"group": "x.example.org", "scope": "`+scope+`", "names": {"plural": "WORDs", "kind": "KWORD"},
		"versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": {"type": "object", "properties": {
			"spec": {"type": "object", "properties": {
				"size": {"type": "integer", "default": 3}, "text": {"type": "string"}, "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
				"ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": {"type": "object", "required": ["name"],
					"properties": {"name": {"type": "string"}, "port": {"type": "integer", "default": 80}}}},
				"tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
				"list": {"type": "array", "items": {"type": "string"}}}},
			"status": {"type": "object", "properties": {"state": {"type": "string"}}}}}}}]}}`, "WORD", word)
}

func custom(word, spec string) string {
	return strings.ReplaceAll(`{"apiVersion": "x.example.org/v1", "kind": "KWORD", "metadata": {"name": "a"}`+spec+`}`, "WORD", word)
}

// TestCRDs compares CRDs and custom resources.
func TestCRDs(t *testing.T) {
	const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	of := func(word string, calls ...call) scenario {
		path, all := crds+"/"+word+"s.x.example.org", "/apis/x.example.org/v1/namespaces/$NS/"+word+"s"
		begin := []call{
			apply("one", path, crd(word, "Namespaced")), get(path).awaiting("InitialNamesAccepted").without("metadata.resourceVersion", "metadata.managedFields"),
			get(all).awaiting(`"items"`),
		}
		return scenario{reason: "Both servers serve a CRD with a structural schema.", calls: append(begin, calls...)}
	}
	at := func(word string) string { return "/apis/x.example.org/v1/namespaces/$NS/" + word + "s/a" }
	run(t, map[string]scenario{
		"Apply": of("alpha",
			apply("one", at("alpha"), custom("alpha", `, "spec": {"text": "t", "ports": [{"name": "a"}], "tags": ["x"], "list": ["1"], "free": {"q": {"r": 1}}}`)),
			apply("two", at("alpha"), custom("alpha", `, "spec": {"ports": [{"name": "b", "port": 81}], "tags": ["y"], "free": {"q": {"s": 1}}}`)),
			apply("two", at("alpha"), custom("alpha", `, "spec": {"list": ["2"], "text": "u"}`)), force("two", at("alpha"), custom("alpha", `, "spec": {"list": ["2"]}`)),
			apply("one", at("alpha"), custom("alpha", `, "spec": {"text": "t"}`)), apply("one", at("alpha"), custom("alpha", `, "spec": {"unknown": 1}`)).vaguely(), get(at("alpha")),
		),
		"Verbs": of("beta",
			post("/apis/x.example.org/v1/namespaces/$NS/betas", custom("beta", `, "spec": {"text": "t", "unknown": 1, "list": null}, "status": {"state": "Ready"}, "more": 1`)).named("a"),
			put(at("beta"), custom("beta", `, "spec": {"text": "u"}`)).vaguely(),
			patch(mergePatch, at("beta"), `{"spec": {"text": "u"}, "status": {"state": "Ready"}}`), patch(mergePatch, at("beta")+"/status", `{"metadata": {"labels": {"a": "b"}}, "spec": {"text": "v"}, "status": {"state": "Ready"}}`),
			patch(jsonPatch, at("beta"), `[{"op": "remove", "path": "/spec/size"}]`), patch(mergePatch, at("beta"), `{"metadata": {"labels": {"a": "b"}}}`),
			apply("two", at("beta")+"/status", custom("beta", `, "status": {"state": "Error"}`)), force("two", at("beta")+"/status", custom("beta", `, "status": {"state": "Error"}`)),
			patch(strategic, at("beta"), `{}`).vaguely(), get(at("beta")), get(at("beta")).accepting(protoMeta+","+metadata), get("/apis/x.example.org/v1/betas?labelSelector=a").accepting(protoList+","+metadataList),
			get("/apis/x.example.org/v1/namespaces/$NS/betas?watch=true&timeoutSeconds=1&resourceVersion=$a.rv").accepting(protoMeta+","+metadata),
			get("/apis/x.example.org/v1/namespaces/$NS/betas?watch=true&timeoutSeconds=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"),
			remove(at("beta")),
		),
		"Remove": of("gamma",
			post("/apis/x.example.org/v1/namespaces/$NS/gammas", `{"apiVersion": "x.example.org/v1", "kind": "Kgamma", "metadata": {"name": "a", "finalizers": ["x.io/a"]}}`),
			remove(crds+"/gammas.x.example.org").without("metadata.resourceVersion", "metadata.managedFields"), get(at("gamma")).awaiting("deletionTimestamp"),
			patch(mergePatch, at("gamma"), `{"metadata": {"finalizers": null}}`).without("metadata.resourceVersion"), get(crds+"/gammas.x.example.org").awaiting("NotFound"),
			get(at("gamma")).awaiting("404 page not found"),
		),
		"Change": of("delta",
			patch(mergePatch, crds+"/deltas.x.example.org", `{"metadata": {"labels": {"a": "b"}}}`).without("metadata.resourceVersion", "metadata.managedFields"),
			apply("one", crds+"/deltas.x.example.org", strings.ReplaceAll(crd("delta", "Namespaced"), `"default": 3`, `"default": 4`)).without("metadata.resourceVersion", "metadata.managedFields"),
			get("/apis/x.example.org/v1").vaguely().without("resources"),
		),
	})
}
