// SPDX-License-Identifier: Apache-2.0

package conformance

import "testing"

const (
	configMap  = "/api/v1/namespaces/$NS/configmaps/a"
	configMaps = "/api/v1/namespaces/$NS/configmaps"
	deployment = "/apis/apps/v1/namespaces/$NS/deployments/web"
)

// cm returns a ConfigMap named "a" with data and other fields of its metadata.
func cm(data, metadata string) string {
	return `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"` + metadata + `}, "data": {` + data + `}}`
}

// web returns a Deployment with a container.
func web(container, spec string) string {
	return `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "labels": {"app": "web"}}, "spec": {
		"selector": {"matchLabels": {"app": "web"}}` + spec + `,
		"template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c"` + container + `}]}}}}`
}

// TestApply compares server-side apply.
func TestApply(t *testing.T) {
	run(t, map[string]scenario{
		"Create": {
			reason: "An apply creates an object, does nothing if it changes nothing, and changes it.",
			calls: []call{
				apply("one", configMap, cm(`"a": "1", "b": "2"`, `, "labels": {"x": "1"}`)), apply("one", configMap, cm(`"a": "1", "b": "2"`, `, "labels": {"x": "1"}`)),
				apply("one", configMap, cm(`"a": "1", "b": "3"`, ``)), get(configMap),
			},
		},
		"Remove": {
			reason: "A field that is not applied anymore is removed, unless another manager owns it.",
			calls: []call{
				apply("one", configMap, cm(`"a": "1", "b": "2"`, ``)), apply("two", configMap, cm(`"b": "2", "c": "3"`, ``)),
				apply("one", configMap, cm(``, ``)), apply("two", configMap, cm(`"c": "3"`, ``)), get(configMap),
			},
		},
		"Conflict": {
			reason: "Fields of other managers are conflicts, one cause for each manager and field; force takes them over.",
			calls: []call{
				apply("one", configMap, cm(`"a": "1", "b": "1"`, ``)), apply("two", configMap, cm(`"c": "1"`, ``)),
				apply("three", configMap, cm(`"a": "2", "b": "2", "c": "2"`, ``)), apply("three", configMap, cm(`"a": "2"`, ``)),
				force("three", configMap, cm(`"a": "2", "c": "2"`, ``)), get(configMap), apply("one", configMap, cm(`"b": "1"`, ``)),
			},
		},
		"AfterUpdate": {
			reason: "A field that an update changed is a conflict, too.",
			calls: []call{
				apply("one", configMap, cm(`"a": "1"`, ``)), patch(mergePatch, configMap, `{"data": {"a": "2", "z": "1"}}`),
				apply("one", configMap, cm(`"a": "1"`, ``)), force("one", configMap, cm(`"a": "1"`, ``)),
				patch(mergePatch, configMap+"?fieldManager=one", `{"data": {"a": null}}`), get(configMap),
			},
		},
		"DryRun": {
			reason: "A dry run returns the same object, but changes nothing.",
			calls: []call{
				force("one&dryRun=All", configMap, cm(`"a": "1"`, ``)).without("metadata.resourceVersion"), get(configMap), apply("one", configMap, cm(`"a": "1"`, ``)),
				force("two&dryRun=All", configMap, cm(`"a": "2"`, ``)), apply("two&dryRun=All", configMap, cm(`"a": "2"`, ``)), get(configMap),
			},
		},
		"Invalid": {
			reason: "Invalid requests are rejected.",
			calls: []call{
				patch(applyPatch, configMap, cm(``, ``)), apply("one", configMap, `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}`),
				apply("one", configMap, cm(``, `, "namespace": "other"`)), apply("one", configMap, cm(``, `, "managedFields": [{"manager": "x"}]`)),
				apply("one", configMap, `{"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "a"}}`).vaguely(),
				apply("one", configMap, `{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}`).vaguely(),
				apply("one", configMap, `{{`).vaguely(), apply("one", "/api/v1/namespaces/$NS-none/configmaps/a", cm(``, ``)),
				apply("one", "/api/v1/namespaces/$NS/configmaps/A_b", `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "A_b"}}`),
				apply("one", deployment, web(`, "image": "x"`, `, "unknown": 1`)), apply("one", deployment, web(`, "image": "x"`, `, "replicas": "many"`)).vaguely(),
			},
		},
		"Preconditions": {
			reason: "An apply can name the UID and the version.",
			calls: []call{
				apply("one", configMap, cm(``, `, "uid": "0a0a0a0a-0000-4000-8000-000000000000"`)), apply("one", configMap, cm(`"a": "1"`, ``)).named("a"),
				apply("one", configMap, cm(`"a": "2"`, `, "uid": "0a0a0a0a-0000-4000-8000-000000000000"`)),
				apply("one", configMap, cm(`"a": "2"`, `, "uid": "$a.uid"`)).named("b"),
				apply("one", configMap, cm(`"a": "3"`, `, "uid": "$a.uid", "resourceVersion": "$a.rv"`)),
				apply("one", configMap, cm(`"a": "3"`, `, "uid": "$a.uid", "resourceVersion": "$b.rv"`)),
				apply("one", configMap, cm(`"a": "3"`, `, "uid": "0a0a0a0a-0000-4000-8000-000000000000", "resourceVersion": "$b.rv"`)), get(configMap),
			},
		},
		"ListMaps": {
			reason: "Items of lists with keys are merged, and owned one by one.",
			calls: []call{
				apply("one", deployment, web(`, "image": "x:1", "env": [{"name": "A", "value": "1"}], "ports": [{"containerPort": 80}]`, ``)),
				apply("two", deployment, web(`, "env": [{"name": "B", "value": "2"}]`, ``)),
				apply("one", deployment, web(`, "image": "x:2"`, `, "replicas": 2`)),
				apply("two", deployment, web(`, "image": "x:3"`, `, "replicas": 3`)),
				force("two", deployment, web(``, `, "replicas": 3`)), get(deployment),
			},
		},
		"Status": {
			reason: "The status is a subresource: an apply of the object does not change it.",
			calls: []call{
				apply("one", deployment, web(`, "image": "x:1"`, ``)),
				apply("two", deployment, `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "status": {"replicas": 5}}`),
				patch(mergePatch, deployment+"/status", `{"status": {"replicas": 1, "observedGeneration": 1}}`),
				apply("three", deployment+"/status", `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "status": {"readyReplicas": 1}}`),
				get(deployment), get(deployment + "/status"),
			},
		},
		"Immutable": {
			reason: "An immutable field cannot be changed.",
			calls: []call{
				apply("one", deployment, web(`, "image": "x:1"`, ``)),
				force("one", deployment, `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"app": "other"}}}}`).vaguely(),
				apply("one", configMap, `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "1"}, "immutable": true}`),
				apply("one", configMap, `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "2"}, "immutable": true}`),
			},
		},
		"Owners": {
			reason: "Owner references and finalizers are lists with keys and sets.",
			calls: []call{
				apply("one", configMap, cm(``, `, "finalizers": ["x.io/a"], "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "0a0a0a0a-0000-4000-8000-000000000000"}]`)),
				apply("two", configMap, cm(``, `, "finalizers": ["x.io/b"]`)), apply("one", configMap, cm(``, ``)), get(configMap),
			},
		},
	})
}

// TestKinds compares the defaults of kinds.
func TestKinds(t *testing.T) {
	pod := `{"metadata": {"labels": {"app": "x"}}, "spec": {"serviceAccountName": "s", "containers": [{"name": "c", "image": "r.io/x:1@sha256:` +
		`0000000000000000000000000000000000000000000000000000000000000000", "readinessProbe": {"httpGet": {"port": 80}},
		"resources": {"requests": {"cpu": "0.5", "memory": "64Mi"}}, "env": [{"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]},
		{"name": "d", "image": "x"}], "volumes": [{"name": "s", "secret": {"secretName": "s"}}, {"name": "c", "configMap": {"name": "c"}}, {"name": "e"}]}}`
	object := func(version, kind, rest string) string {
		return `{"apiVersion": "` + version + `", "kind": "` + kind + `", "metadata": {"name": "x"}` + rest + `}`
	}
	both := func(version, kind, path, rest string, ignored ...string) scenario {
		return scenario{
			reason: "The defaults of a kind are the same, whether it is applied or created.",
			calls: []call{
				apply("one", path+"/x", object(version, kind, rest)),
				apply("one", path+"/x", object(version, kind, rest)).without(ignored...), remove(path + "/x").without(ignored...),
				post(path, object(version, kind, rest)), get(path + "/x").accepting(metadata).without(ignored...), remove(path + "/x").without(ignored...),
			},
		}
	}
	const ns, apps, rbac = "/api/v1/namespaces/$NS/", "/apis/apps/v1/namespaces/$NS/", "/apis/rbac.authorization.k8s.io/v1/"
	selected := `, "spec": {"selector": {"matchLabels": {"app": "x"}}, "template": ` + pod
	run(t, map[string]scenario{
		"Deployment":     both("apps/v1", "Deployment", apps+"deployments", selected+`}`),
		"StatefulSet":    both("apps/v1", "StatefulSet", apps+"statefulsets", selected+`, "serviceName": "x"}`),
		"DaemonSet":      both("apps/v1", "DaemonSet", apps+"daemonsets", selected+`}`),
		"Secret":         both("v1", "Secret", ns+"secrets", `, "stringData": {"a": "b"}`),
		"ServiceAccount": both("v1", "ServiceAccount", ns+"serviceaccounts", ``),
		"Role": both("rbac.authorization.k8s.io/v1", "Role", rbac+"namespaces/$NS/roles",
			`, "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]`),
		"RoleBinding": both("rbac.authorization.k8s.io/v1", "RoleBinding", rbac+"namespaces/$NS/rolebindings",
			`, "roleRef": {"kind": "Role", "name": "x", "apiGroup": "rbac.authorization.k8s.io"}, "subjects": [{"kind": "ServiceAccount", "name": "x", "namespace": "$NS"}]`),
		"NetworkPolicy": both("networking.k8s.io/v1", "NetworkPolicy", "/apis/networking.k8s.io/v1/namespaces/$NS/networkpolicies",
			`, "spec": {"podSelector": {}, "ingress": [{"ports": [{"port": 80}]}]}`),
		"Ingress": both("networking.k8s.io/v1", "Ingress", "/apis/networking.k8s.io/v1/namespaces/$NS/ingresses",
			`, "spec": {"defaultBackend": {"service": {"name": "x", "port": {"number": 80}}}}`),
		"PodDisruptionBudget": both("policy/v1", "PodDisruptionBudget", "/apis/policy/v1/namespaces/$NS/poddisruptionbudgets",
			`, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "x"}}}`),
		"PersistentVolumeClaim": both("v1", "PersistentVolumeClaim", ns+"persistentvolumeclaims",
			`, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}`,
			// The real server writes a new version for the second apply, which changes nothing.
			"metadata.resourceVersion"),
		"Service": {
			reason: "A Service gets addresses.",
			calls: []call{
				apply("one", ns+"services/x", object("v1", "Service", `, "spec": {"selector": {"app": "x"}, "ports": [{"port": 80, "name": "http"}]}`)).without("spec.clusterIP", "spec.clusterIPs"),
				apply("one", ns+"services/x", object("v1", "Service", `, "spec": {"selector": {"app": "x"}, "ports": [{"port": 81, "name": "http"}]}`)).without("spec.clusterIP", "spec.clusterIPs"),
			},
		},
		"Job": {
			reason: "A Job selects its pods by its UID.",
			calls: []call{
				apply("one", "/apis/batch/v1/namespaces/$NS/jobs/x", object("batch/v1", "Job",
					`, "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x:1"}]}}}`)),
				apply("one", "/apis/batch/v1/namespaces/$NS/jobs/x", object("batch/v1", "Job",
					`, "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x:1"}]}}}`)).without("metadata.resourceVersion"), // As for a PersistentVolumeClaim.
			},
		},
	})
}
