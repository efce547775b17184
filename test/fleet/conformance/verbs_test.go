// SPDX-License-Identifier: Apache-2.0

package conformance

import "testing"

// TestCreate compares POST requests.
func TestCreate(t *testing.T) {
	run(t, map[string]scenario{
		"Object": {
			reason: "An object is created once.",
			calls:  []call{post(configMaps, cm(`"a": "1"`, ``)), post(configMaps, cm(`"a": "1"`, ``)), get(configMap), post(configMaps+"?dryRun=All", `{"metadata": {"name": "b"}}`).without("metadata.resourceVersion"), get(configMaps + "/b")},
		},
		"GenerateName": {
			reason: "The server can generate a name.",
			calls: []call{
				post(configMaps, `{"metadata": {"generateName": "x-"}}`).named("x").without("metadata.name"), get(configMaps + "/$x.name").without("metadata.name"),
				post(configMaps+"?dryRun=All", `{"metadata": {"generateName": "x-"}}`).without("metadata.name", "metadata.resourceVersion"),
			},
		},
		"Refused": {
			reason: "Invalid requests are rejected.",
			calls: []call{
				post(configMaps, `{"metadata": {"name": "a", "resourceVersion": "1"}}`), post(configMaps, `{"metadata": {}}`), post(configMaps, `{"metadata": {"name": "A_b"}}`),
				post(configMaps, `{"metadata": {"name": "a", "namespace": "other"}}`), post("/api/v1/namespaces/$NS-none/configmaps", `{"metadata": {"name": "a"}}`),
				post(configMaps, `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}}`).vaguely(), post(configMaps, `{`).vaguely(),
				post(configMaps, `{"metadata": {"name": "a", "labels": {"-": "b"}}}`), post(configMaps, `{"metadata": {"name": "a", "unknown": 1}, "unknown": {}}`),
				post(configMaps, `{"metadata": {"name": "b"}, "data": {"a": 1}}`).vaguely(),
			},
		},
		"System": {
			reason: "A client cannot set fields of the server.",
			calls: []call{post(configMaps, `{"metadata": {"name": "a", "uid": "0a0a0a0a-0000-4000-8000-000000000000", "generation": 7, "creationTimestamp": "2001-01-01T00:00:00Z",
				"deletionTimestamp": "2001-01-01T00:00:00Z", "selfLink": "x"}}`)},
		},
	})
}

// TestUpdate compares PUT requests.
func TestUpdate(t *testing.T) {
	run(t, map[string]scenario{
		"Object": {
			reason: "An update replaces an object; the version is a precondition.",
			calls: []call{
				put(configMap, cm(``, ``)), post(configMaps, cm(`"a": "1"`, ``)).named("a"), put(configMap, cm(`"a": "2"`, `, "resourceVersion": "$a.rv"`)).named("b"),
				put(configMap, cm(`"a": "3"`, `, "resourceVersion": "$a.rv"`)), put(configMap, cm(`"a": "2"`, `, "resourceVersion": "$b.rv"`)), put(configMap, cm(`"a": "4"`, ``)),
				put(configMap, cm(`"a": "5"`, `, "uid": "0a0a0a0a-0000-4000-8000-000000000000"`)), put(configMap, `{"metadata": {"name": "b"}}`), put(configMap, `{"metadata": {}}`).vaguely(),
				put(configMap+"?dryRun=All", cm(`"a": "6"`, ``)), get(configMap),
			},
		},
		"Status": {
			reason: "The status is updated separately, and does not increase the generation.",
			calls: []call{
				apply("one", deployment, web(`, "image": "x:1"`, ``)).named("a"),
				put(deployment+"/status", `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "resourceVersion": "$a.rv"}, "status": {"replicas": 1}}`).vaguely(),
				patch(mergePatch, deployment+"/status", `{"metadata": {"labels": {"x": "y"}, "annotations": {"x": "y"}}, "spec": {"replicas": 7}, "status": {"replicas": 1}}`),
				patch(mergePatch, deployment, `{"spec": {"replicas": 7}, "status": {"replicas": 3}}`), patch(mergePatch, deployment, `{"metadata": {"labels": {"l": "1"}}}`),
				patch(mergePatch, deployment, `{"metadata": {"annotations": {"a": "1"}}}`), get(deployment),
			},
		},
	})
}

// TestPatch compares PATCH requests other than server-side apply.
func TestPatch(t *testing.T) {
	run(t, map[string]scenario{
		"Merge": {
			reason: "A merge patch can have preconditions.",
			calls: []call{
				patch(mergePatch, configMap, `{}`), post(configMaps, cm(`"a": "1", "b": "1"`, `, "labels": {"x": "1", "y": "1"}`)).named("a"),
				patch(mergePatch, configMap, `{"data": {"a": null, "c": "1"}}`).named("b"), patch(mergePatch, configMap, `{"data": {"c": "1"}}`),
				patch(mergePatch, configMap, `{"metadata": {"uid": "$a.uid", "resourceVersion": "$a.rv", "labels": {"x": null}}}`),
				patch(mergePatch, configMap, `{"metadata": {"uid": "$a.uid", "resourceVersion": "$b.rv", "labels": {"x": null}}}`).accepting(metadata),
				patch(mergePatch, configMap, `{"metadata": {"uid": "0a0a0a0a-0000-4000-8000-000000000000", "labels": {"x": null}}}`),
				patch(mergePatch, configMap, `{"metadata": {"name": "b"}}`), patch(mergePatch, configMap+"?dryRun=All", `{"data": {"z": "1"}}`), patch(mergePatch, configMap, `[`).vaguely(), get(configMap),
			},
		},
		"JSON": {
			reason: "A JSON patch can also change managedFields.",
			calls: []call{
				post(configMaps, cm(`"a": "1"`, ``)).named("a"), patch(jsonPatch, configMap, `[{"op": "add", "path": "/data/b", "value": "2"}]`).named("b"),
				patch(jsonPatch, configMap, `[{"op": "test", "path": "/data/b", "value": "3"}]`).vaguely(), patch(jsonPatch, configMap, `[{"op": "remove", "path": "/data/none"}]`).vaguely(),
				patch(jsonPatch, configMap, `[{"op": "replace", "path": "/metadata/managedFields", "value": $a.managedFields}, {"op": "replace", "path": "/metadata/resourceVersion", "value": "$a.rv"}]`),
				patch(jsonPatch, configMap, `[{"op": "replace", "path": "/metadata/managedFields", "value": $a.managedFields}, {"op": "replace", "path": "/metadata/resourceVersion", "value": "$b.rv"}]`),
				patch(jsonPatch, configMap, `[{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]`), patch(jsonPatch, configMap, `{`).vaguely(), get(configMap),
			},
		},
		"Strategic": {
			reason: "A built-in kind supports strategic merge patches.",
			calls: []call{
				apply("one", deployment, web(`, "image": "x:1"`, ``)),
				patch(strategic, deployment, `{"spec": {"template": {"spec": {"containers": [{"name": "c", "env": [{"name": "A", "value": "1"}]}]}}}}`),
				patch("application/unknown", deployment, `{}`).vaguely(),
			},
		},
	})
}

// TestDelete compares DELETE requests.
func TestDelete(t *testing.T) {
	options := func(s string) call {
		return call{method: "DELETE", path: configMap, body: `{"kind": "DeleteOptions", "apiVersion": "v1"` + s + `}`}
	}
	run(t, map[string]scenario{
		"Object": {
			reason: "An object without finalizers is deleted at once.",
			calls: []call{
				remove(configMap), post(configMaps, cm(``, ``)), remove(configMap + "?dryRun=All"), remove(configMap), get(configMap), post(configMaps, cm(``, ``)),
				options(`, "propagationPolicy": "Background"`).accepting(metadata),
			},
		},
		"Preconditions": {
			reason: "A deletion can have the UID and the resource version as preconditions.",
			calls: []call{
				post(configMaps, cm(``, ``)).named("a"), patch(mergePatch, configMap, `{"data": {"a": "1"}}`).named("b"),
				options(`, "preconditions": {"uid": "0a0a0a0a-0000-4000-8000-000000000000"}`), options(`, "preconditions": {"uid": "$a.uid", "resourceVersion": "$a.rv"}`),
				options(`, "preconditions": {"uid": "$a.uid", "resourceVersion": "$b.rv"}`),
			},
		},
		"Finalizers": {
			reason: "An object with finalizers waits for them, and cannot get new ones.",
			calls: []call{
				post(configMaps, cm(``, `, "finalizers": ["x.io/a", "x.io/b"]`)), remove(configMap), remove(configMap).accepting(metadata), get(configMap),
				patch(mergePatch, configMap, `{"metadata": {"finalizers": ["x.io/a", "x.io/c"]}}`), patch(mergePatch, configMap, `{"metadata": {"finalizers": ["x.io/a"]}}`),
				post(configMaps, cm(``, ``)), apply("one", configMap, cm(`"a": "1"`, ``)), patch(mergePatch, configMap, `{"metadata": {"finalizers": null}}`).without("metadata.resourceVersion"), get(configMap),
			},
		},
		"Generation": {
			reason: "A deletion that waits for finalizers increases the generation.",
			calls:  []call{apply("one", deployment, web(`, "image": "x"`, ``)), patch(mergePatch, deployment, `{"metadata": {"finalizers": ["x.io/a"]}}`), remove(deployment), get(deployment)},
		},
		"Foreground": {
			reason: "The garbage collector has to remove a finalizer first.",
			calls:  []call{post(configMaps, cm(``, ``)), options(`, "propagationPolicy": "Foreground"`), options(`, "propagationPolicy": "Foreground"`), get(configMap)},
		},
		"Orphan": {
			reason: "The garbage collector has to remove a finalizer first.",
			calls:  []call{post(configMaps, cm(``, ``)), remove(configMap + "?propagationPolicy=Orphan"), get(configMap)},
		},
		"Collection": {
			reason: "Objects are selected by labels.",
			calls: []call{
				post(configMaps, `{"metadata": {"name": "a", "labels": {"x": "1"}}}`), post(configMaps, `{"metadata": {"name": "b", "labels": {"x": "1"}}}`), post(configMaps, `{"metadata": {"name": "c"}}`),
				remove(configMaps + "?labelSelector=x").accepting(metadataList), get(configMaps), remove(configMaps), get(configMaps),
			},
		},
		"Namespace": {
			reason: "A namespace that is being deleted accepts no new objects.",
			calls: []call{
				get("/api/v1/namespaces/$NS"), remove("/api/v1/namespaces/$NS"), remove("/api/v1/namespaces/$NS").accepting(metadata), apply("one", configMap, cm(``, ``)), post(configMaps, cm(``, ``)),
				get("/api/v1/namespaces/$NS"), patch(mergePatch, "/api/v1/namespaces/$NS", `{"metadata": {"labels": {"a": "b"}}}`),
			},
		},
	})
}
