// SPDX-License-Identifier: Apache-2.0

package conformance

import "testing"

// three creates three ConfigMaps and returns the calls.
func three() []call {
	return []call{
		post(configMaps, `{"metadata": {"name": "a", "labels": {"x": "1"}}, "data": {"k": "v"}}`).named("a"), post(configMaps, `{"metadata": {"name": "b", "labels": {"x": "2"}}}`),
		post(configMaps, `{"metadata": {"name": "c"}}`),
	}
}

// TestList compares lists and their formats.
func TestList(t *testing.T) {
	after := func(calls ...call) scenario {
		return scenario{reason: "Both servers list the same objects.", calls: append(three(), calls...)}
	}
	run(t, map[string]scenario{
		"Whole":    after(get(configMaps), get("/api/v1/configmaps?fieldSelector=metadata.namespace=$NS"), get(configMaps+"/a"), get(configMaps+"/none"), get("/api/v1/namespaces/$NS-none/configmaps")),
		"Metadata": after(get(configMaps).accepting(metadataList), get(configMap).accepting(metadata), get(configMaps+"/none").accepting(metadata)),
		"Protobuf": after(get(configMaps).accepting(protoList), get(configMap).accepting(protoMeta), get(configMaps+"/none").accepting(protoMeta+","+metadata),
			get(configMap).accepting(protoMeta+","+metadata+",application/json")),
		"Media": after(get(configMap).accepting("text/html").vaguely(), get(configMap).accepting("*/*"), get(configMap).accepting("application/json;as=Nothing;g=meta.k8s.io;v=v1").vaguely()),
		"Selectors": after(get(configMaps+"?labelSelector=x"), get(configMaps+"?labelSelector=x%3D1"), get(configMaps+"?labelSelector=x%20in%20(1,2),x!=2"), get(configMaps+"?fieldSelector=metadata.name=b"),
			get(configMaps+"?fieldSelector=data=b"), get(configMaps+"?labelSelector=,,").vaguely()),
		"Pages": after(get(configMaps+"?limit=2").named("p"), get(configMaps+"?limit=2&continue=$p.continue"), get(configMaps+"?limit=1&labelSelector=x").named("q"),
			get(configMaps+"?limit=1&labelSelector=x&continue=$q.continue"), get(configMaps+"?limit=1").named("r"), remove(configMaps+"/b"), post(configMaps, `{"metadata": {"name": "bb"}}`),
			get(configMaps+"?limit=5&continue=$r.continue"), get(configMaps+"?limit=1&continue=nonsense").vaguely()),
		"Versions": after(get(configMaps+"?resourceVersion=0"), get(configMaps+"?resourceVersion=$a.rv"), get(configMaps+"?resourceVersion=$a.rv&resourceVersionMatch=Exact"),
			get(configMaps+"?resourceVersion=$a.rv&resourceVersionMatch=NotOlderThan"), get(configMaps+"?resourceVersionMatch=Exact").vaguely(), get(configMaps+"?resourceVersion=x").vaguely()),
	})
}

// TestWatch compares the events of watches.
func TestWatch(t *testing.T) {
	const watch = configMaps + "?watch=true&timeoutSeconds=1"
	history := append(three(),
		patch(mergePatch, configMap, `{"metadata": {"labels": {"x": "3"}}}`), patch(mergePatch, configMap, `{"metadata": {"labels": {"x": null}}}`),
		patch(mergePatch, configMap, `{"data": {"k": "w"}}`), remove(configMaps+"/b"), patch(mergePatch, configMap, `{"metadata": {"labels": {"x": "4"}}}`), remove(configMap))
	after := func(calls ...call) scenario {
		return scenario{reason: "Both servers report the same events.", calls: append(append([]call{}, history...), calls...)}
	}
	run(t, map[string]scenario{
		"From":      after(get(watch + "&resourceVersion=$a.rv")),
		"Selector":  after(get(watch + "&resourceVersion=$a.rv&labelSelector=x&allowWatchBookmarks=true")),
		"Name":      after(get(watch + "&resourceVersion=$a.rv&fieldSelector=metadata.name=b")),
		"Metadata":  after(get(watch + "&resourceVersion=$a.rv").accepting(metadata)),
		"Protobuf":  after(get(watch + "&resourceVersion=$a.rv").accepting(protoMeta)),
		"Existing":  after(get(watch)),
		"WatchList": after(get(watch + "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=!x").accepting(metadata)),
		"WatchListProtobuf": after(
			get(watch + "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true").accepting(protoMeta)),
		"WatchListWithout": after(get(watch + "&sendInitialEvents=true").vaguely()),
	})
}

// TestDiscovery compares documents. The simulated server serves fewer kinds.
func TestDiscovery(t *testing.T) {
	run(t, map[string]scenario{
		"Missing": {
			reason: "Requests for unknown paths return status 404.",
			calls: []call{
				get("/apis/none.example.org"), get("/apis/none.example.org/v1"), get("/apis/apps/v9"), get("/apis/none.example.org/v1/namespaces/$NS/things"), get("/api/v1/namespaces/$NS/things"),
				get("/apis/apps/v1/namespaces/$NS/things/a"), apply("one", "/apis/none.example.org/v1/namespaces/$NS/things/a", `{}`), get("/api/v1/namespaces/$NS-none"),
			},
		},
		"Token": {
			reason: "A wrong token is rejected.",
			calls:  []call{{method: "GET", path: configMaps, token: "wrong"}, {method: "GET", path: configMaps, token: "wrong", accept: protoList + "," + metadataList}},
		},
		"Core": {reason: "Both servers have the same core group.", calls: []call{get("/api").without("serverAddressByClientCIDRs")}},
	})
}
