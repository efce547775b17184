// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const (
	group   = "kyma.m.crossplane.io"
	version = "v1alpha1"

	digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// The full objects contain every field, so that each of them can be removed or changed.
const (
	fullManifest = `
apiVersion: kyma.m.crossplane.io/v1alpha1
kind: Manifest
metadata: {name: full}
spec:
  managementPolicies: ["*"]
  providerConfigRef: {kind: ProviderConfig, name: cluster-a}
  writeConnectionSecretToRef: {name: secret}
  forProvider:
    version: 1.0.0
    installs:
    - name: layer
      namespace: kyma-system
      values: {replicas: 2, nested: {list: [1, two, {three: 3}]}}
      valuesFrom:
      - {kind: Secret, name: passwords, key: password, targetPath: db.password, optional: true}
      - {kind: ConfigMap, name: sizes}
      source: {type: oci-ref, repo: "registry.example.org:5000/modules", name: kyma-project.io/module/x, ref: "` + digest + `"}
    - name: registry
      source: {type: helm-chart, url: "oci://registry.example.org/charts", chartName: mysql, version: 9.4.1}
    - name: repository
      source: {type: helm-chart, url: "https://charts.example.org/stable", chartName: mysql}
    - name: kustomization
      source: {type: kustomize, repo: registry.example.org/modules, name: x, ref: "` + digest + `", path: config/default}
    - name: inline
      source: {type: raw, inline: "kind: ConfigMap"}
    - name: raw
      source: {type: raw, repo: registry.example.org/modules, name: x, ref: "` + digest + `"}
    config: {type: oci-ref, repo: registry.example.org/modules, name: x, ref: "` + digest + `"}
    crds: {type: oci-ref, repo: registry.example.org/modules, name: x, ref: "` + digest + `"}
    resource:
      apiVersion: operator.kyma-project.io/v1alpha1
      kind: Sample
      metadata: {name: default, namespace: kyma-system}
      spec: {anything: true}
    customResourcePolicy: Ignore
    readiness:
    - {cel: object.status.ready, for: {apiVersion: example.org/v1, kind: Thing}}
    - {cel: 'object.status.state == "Ready"'}
    component:
      repository: registry.example.org/modules
      name: kyma-project.io/module/x
      version: 1.0.0
      nameMapping: sha256-digest
      digest: "` + digest + `"
    drift: Report
    mode: Plan
    immutableFields: Recreate
    rollback: {trigger: NotReady, after: 1h30m}
    allowed: {namespaces: [kyma-system], kinds: [ConfigMap, "*.apps", Sample.operator.kyma-project.io], clusterAdmin: false, moduleTemplate: sample-fast}
    impersonate: {serviceAccount: {namespace: apps, name: installer}}
    adoption: Adopt
`
	statusOfManifest = `
conditions:
- {type: Ready, status: "False", reason: Unavailable, lastTransitionTime: "2020-01-01T00:00:00Z"}
atProvider:
  state: Error
  version: 1.0.0
  message: wrong
  installs:
  - {name: layer, state: Ready, version: 1.0.0}
  - {name: registry, state: Error, message: wrong}
  resources: {ready: 1, total: 2}
  clusterUID: 5e0c6a2d-8f0a-4f57-9d55-0c4e8e7c9f11
  drift:
    observedTime: "2020-01-01T00:00:00Z"
    objects:
    - {kind: ConfigMap, namespace: default, name: x, change: Changed, fields: [data.k], omittedFields: 2}
    - {group: apps, kind: Deployment, namespace: default, name: x, change: Deleted}
    omittedObjects: 3
  cededFields:
  - {group: apps, kind: Deployment, namespace: default, name: x, field: spec.replicas, manager: hpa, cause: Convention}
  - {kind: ConfigMap, namespace: default, name: x, field: data.k, cause: Conflict}
  omittedCededFields: 1
  plan:
    observedGeneration: 1
    create: 1
    change: 1
    prune: 0
    objects:
    - {action: Create, kind: ConfigMap, namespace: default, name: x, fields: [data.k]}
    - {action: Change, group: apps, kind: Deployment, namespace: default, name: x, fields: [spec.replicas], omittedFields: 2}
    message: wrong
  rollback: {desired: abc, since: "2020-01-01T00:00:00Z", rolledBack: true, version: 1.0.0, message: wrong}
  tests:
    token: once
    state: Error
    tests:
    - {install: layer, kind: Pod, namespace: default, name: x, state: Error, message: wrong}
`
	fullConfig = `
apiVersion: kyma.m.crossplane.io/v1alpha1
kind: ProviderConfig
metadata: {name: full}
spec:
  credentials:
    source: Secret
    secretRef: {namespace: default, name: cluster, key: kubeconfig}
    env: {name: KUBECONFIG}
    fs: {path: /kubeconfig}
  identity:
    type: GoogleApplicationCredentials
    source: Secret
    secretRef: {namespace: default, name: cloud, key: json}
    env: {name: CLOUD}
    fs: {path: /cloud}
    server: api.example.org:6443
  impersonate: {serviceAccount: {namespace: apps, name: installer}}
  lookup: NoSecrets
  registries:
  - host: registry.example.org:5000
    pullSecretRef: {namespace: default, name: pull}
    caBundleSecretRef: {namespace: default, name: ca, key: ca.crt}
    tokenHosts: [auth.example.org]
    plainHTTP: true
  - host: ghcr.io
  - host: 123456789012.dkr.ecr.eu-central-1.amazonaws.com
    provider: aws
  verification:
    mode: Enforce
    keys:
    - {signatureName: one, publicKeySecretRef: {namespace: default, name: pub, key: key}}
    - {signatureName: two, publicKeySecretRef: {namespace: default, name: pub, key: key}}
    minimumVersions:
    - {component: example.org/module/a, version: 1.2.3}
    - {component: example.org/module/b, version: 1.0.0}
    deniedDigests: ["sha256:0000000000000000000000000000000000000000000000000000000000000000"]
`
	statusOfConfig = `
conditions:
- {type: Terminating, status: "True", reason: InUse, lastTransitionTime: "2020-01-01T00:00:00Z"}
- {type: Reachable, status: "False", reason: Unreachable, message: wrong, lastTransitionTime: "2020-01-01T00:00:00Z"}
users: 1
kubernetesVersion: v1.36.3
clusterUID: 5e0c6a2d-8f0a-4f57-9d55-0c4e8e7c9f11
endpoint: cluster-a.example.org:6443
`
	fullUsage = `
apiVersion: kyma.m.crossplane.io/v1alpha1
kind: ProviderConfigUsage
metadata: {name: full}
providerConfigRef: {kind: ProviderConfig, name: cluster-a}
resourceRef: {apiVersion: kyma.m.crossplane.io/v1alpha1, kind: Manifest, name: x}
`
	fullKyma = `
apiVersion: kyma.m.crossplane.io/v1alpha1
kind: Kyma
metadata: {name: full}
spec:
  managementPolicies: ["*"]
  providerConfigRef: {kind: ProviderConfig, name: cluster-a}
  writeConnectionSecretToRef: {name: secret}
  forProvider:
    channel: fast
    mode: Plan
    modules:
    - {name: istio, channel: regular, customResourcePolicy: Ignore, values: {replicas: 2, nested: {list: [1, two, {three: 3}]}},
       valuesFrom: [{kind: Secret, name: passwords, key: password, targetPath: db.password, optional: true}, {kind: ConfigMap, name: sizes}],
       installs: [{name: web, values: {replicas: 3}, valuesFrom: [{kind: Secret, name: passwords, key: web, targetPath: web.password, optional: true},
       {kind: ConfigMap, name: sizes}]}, {name: db}],
       drift: Ignore, mode: Plan, immutableFields: Recreate, rollback: {trigger: NotReady, after: 90s}, adoption: Adopt}
    - {name: serverless, version: 1.2.3, managed: true}
    maintenanceWindows: [{schedule: 0 2 * * 6, timeZone: Europe/Berlin, duration: 2h}]
    deferUpgradesUntil: "2026-12-01T00:00:00Z"
  resourceRefs: [{apiVersion: kyma.m.crossplane.io/v1alpha1, kind: Manifest, name: full-istio}]
`
	statusOfKyma = `
conditions:
- {type: Ready, status: "False", reason: Unavailable, message: wrong, lastTransitionTime: "2020-01-01T00:00:00Z"}
- {type: Synced, status: "True", reason: ReconcileSuccess, lastTransitionTime: "2020-01-01T00:00:00Z"}
atProvider:
  state: Error
  reason: ModuleFailed
  stalled: {reason: ModuleFailed, message: "serverless: wrong"}
  activeChannel: fast
  modulesReady: 1/2
  moduleCounts: {ready: 1, total: 2}
  modules:
  - {name: istio, version: 1.0.0, channel: regular, state: Ready, reason: Available, manifest: full-istio, origin: Mandatory, pendingVersion: 1.1.0}
  - {name: serverless, channel: fast, state: Error, message: wrong}
`
	fullTemplate = `
apiVersion: kyma.m.crossplane.io/v1alpha1
kind: ModuleTemplate
metadata: {name: full}
spec:
  moduleName: sample
  version: 1.0.0
  channel: fast
  target: control-plane
  allowed: {values: [replicas, 'resources.*'], namespaces: [kyma-system], kinds: [ConfigMap, "*.apps", Sample.operator.kyma-project.io], clusterAdmin: false}
  data:
    apiVersion: operator.kyma-project.io/v1alpha1
    kind: Sample
    spec: {anything: true}
  component:
    repository: registry.example.org/modules
    name: kyma-project.io/module/sample
    version: 1.0.0
    nameMapping: sha256-digest
  readiness:
  - {cel: object.status.ready, for: {apiVersion: example.org/v1, kind: Thing}}
  - {cel: 'object.status.state == "Ready"'}
`
	statusOfTemplate = `
conditions:
- {type: Resolved, status: "True", reason: Resolved, lastTransitionTime: "2020-01-01T00:00:00Z"}
- {type: Verified, status: "False", reason: SignatureInvalid, lastTransitionTime: "2020-01-01T00:00:00Z"}
- {type: Ready, status: "False", reason: SignatureInvalid, message: wrong, lastTransitionTime: "2020-01-01T00:00:00Z"}
lastHandledReconcileAt: now
resolvedGeneration: 1
moduleName: sample
version: 1.0.0
digest: "` + digest + `"
data:
  apiVersion: operator.kyma-project.io/v1alpha1
  kind: Sample
  spec: {anything: true}
resources:
- name: layer
  component: kyma-project.io/module/other
  type: helm-chart
  version: 1.0.0
  use: Install
  install: other-layer
  source: {type: oci-ref, repo: "registry.example.org:5000/modules", name: kyma-project.io/module/x, ref: "` + digest + `"}
- name: registry
  type: helm-chart
  use: Install
  source: {type: helm-chart, url: "oci://registry.example.org/charts", chartName: mysql, version: 9.4.1}
- name: repository
  type: helm-chart
  use: Install
  source: {type: helm-chart, url: "https://charts.example.org/stable", chartName: mysql}
- name: kustomization
  type: kustomization
  use: Install
  source: {type: kustomize, repo: registry.example.org/modules, name: x, ref: "` + digest + `", path: config/default}
- name: inline
  type: yaml
  use: Install
  source: {type: raw, inline: "kind: ConfigMap"}
- name: raw
  type: yaml
  use: Install
  source: {type: raw, repo: registry.example.org/modules, name: x, ref: "` + digest + `"}
- {name: image, type: ociImage, use: None}
`
)

// object decodes an object from YAML.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

// clusterConfig returns the full ProviderConfig as a ClusterProviderConfig.
func clusterConfig(text string) string {
	const allowed = `
spec:
  allowedNamespaces:
    names: [team-a]
    selector:
      matchLabels: {team: a}
      matchExpressions: [{key: team, operator: In, values: [a]}]`
	text = strings.Replace(text, "kind: ProviderConfig", "kind: ClusterProviderConfig", 1)
	return strings.Replace(text, "\nspec:", allowed, 1)
}

// fields maps paths, such as spec.installs[0].name, to values.
type fields map[string]any

// gone is a value that removes the field.
type gone struct{}

// set sets fields of an object.
func set(t *testing.T, o *unstructured.Unstructured, f fields) {
	t.Helper()
	for path, value := range f {
		keys := split(path)
		o.Object = put(t, path, o.Object, keys, value).(map[string]any)
	}
}

// split splits a path into the names of fields and the indexes of items.
func split(path string) []any {
	var out []any
	for part := range strings.SplitSeq(path, ".") {
		name, rest, isItem := strings.Cut(part, "[")
		out = append(out, name)
		for isItem {
			var number string
			number, rest, _ = strings.Cut(rest, "]")
			i, err := strconv.Atoi(number)
			if err != nil {
				panic(path)
			}
			out = append(out, i)
			_, rest, isItem = strings.Cut(rest, "[")
		}
	}
	return out
}

// put sets a value at a path in in, and returns the changed in. All parents must exist, so that mistakes in paths are detected.
func put(t *testing.T, path string, in any, keys []any, value any) any {
	t.Helper()
	if len(keys) == 0 {
		return value
	}
	switch key := keys[0].(type) {
	case string:
		m, ok := in.(map[string]any)
		if !ok {
			t.Fatalf("%s: there is no object that holds %q", path, key)
		}
		if _, remove := value.(gone); remove && len(keys) == 1 {
			if _, ok := m[key]; !ok {
				t.Fatalf("%s does not exist", path)
			}
			delete(m, key)
			return m
		}
		m[key] = put(t, path, m[key], keys[1:], value)
		return m
	case int:
		l, ok := in.([]any)
		if !ok || key >= len(l) {
			t.Fatalf("%s: there is no list with an item %d", path, key)
		}
		l[key] = put(t, path, l[key], keys[1:], value)
		return l
	default:
		t.Fatalf("%s: bad path", path)
		return nil
	}
}

// get returns the value at a path, or nil.
func get(o *unstructured.Unstructured, path string) any {
	var in any = o.Object
	for _, key := range split(path) {
		switch k := key.(type) {
		case string:
			m, _ := in.(map[string]any)
			in = m[k]
		case int:
			l, _ := in.([]any)
			if k >= len(l) {
				return nil
			}
			in = l[k]
		}
	}
	return in
}
