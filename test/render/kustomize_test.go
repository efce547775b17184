// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/internal/render/kustomize"
	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/sandbox"
)

// base is a base that most cases use.
const base = `
== base/kustomization.yaml
resources: [deployment.yaml, service.yaml, rbac.yaml]
configMapGenerator: [{name: settings, literals: [a=b], files: [key=data.txt, data.txt], envs: [vars.env]}]
== base/data.txt
some text
== base/vars.env
X=1
# comment
Y=two
== base/deployment.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, labels: {app: app}}
spec:
  replicas: 1
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      serviceAccountName: app
      containers:
      - {name: app, image: "example.org/app:1", envFrom: [{configMapRef: {name: settings}}], env: [{name: A, value: "1"}]}
      - {name: side, image: side}
== base/service.yaml
apiVersion: v1
kind: Service
metadata: {name: app}
spec: {selector: {app: app}, ports: [{port: 80, name: http}]}
== base/rbac.yaml
apiVersion: v1
kind: ServiceAccount
metadata: {name: app}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: app}
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: app}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: app}
subjects: [{kind: ServiceAccount, name: app, namespace: default}]
== overlay/ns.yaml
apiVersion: v1
kind: Namespace
metadata: {name: team}
== overlay/widget.yaml
apiVersion: example.org/v1
kind: Widget
metadata: {name: w}
spec: {secretRef: {name: password}, list: [{name: a, value: 1}]}
== overlay/kustomization.yaml
resources: [../base]
`

func features() map[string]string {
	patch := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: app}\nspec: {template: {spec: {containers: [{name: app, env: [{name: B, value: x}]}, {name: side, $patch: delete}]}}}\n"
	return map[string]string{
		"Base":              "",
		"Namespace":         "namespace: team",
		"Prefix":            "namePrefix: a-\nnameSuffix: -z",
		"CommonLabels":      "commonLabels: {team: a}",
		"Labels":            "labels: [{pairs: {team: a}, includeSelectors: true}, {pairs: {only: templates}, includeTemplates: true}, {pairs: {x: z}, fields: [{path: spec/own, create: true, kind: Service}]}]",
		"Annotations":       "commonAnnotations: {note: 'a: b'}",
		"Images":            "images: [{name: example.org/app, newName: example.com/other, newTag: v2}, {name: side, digest: 'sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}]",
		"ImageTags":         "imageTags: [{name: side, newTag: v3}]",
		"Replicas":          "replicas: [{name: app, count: 3}]",
		"PatchMerge":        "patches: [{path: p.yaml}]\n== overlay/p.yaml\n" + patch,
		"PatchInline":       "patches:\n- target: {kind: Deployment|Service, labelSelector: app}\n  patch: |-\n    - {op: add, path: /metadata/annotations, value: {a: b}}\n",
		"PatchDelete":       "patches: [{patch: '{\"$patch\": delete, \"apiVersion\": \"v1\", \"kind\": \"Service\", \"metadata\": {\"name\": \"app\"}}'}]",
		"OldPatches":        "patchesStrategicMerge: [p.yaml]\npatchesJson6902: [{target: {version: v1, kind: Service, name: app}, path: j.json}]\n== overlay/p.yaml\n" + patch + "== overlay/j.json\n[{\"op\": \"replace\", \"path\": \"/spec/ports/0/port\", \"value\": 81}]",
		"ConfigMaps":        "configMapGenerator: [{name: settings, behavior: merge, literals: [a=c]}, {name: own, literals: ['q=\"x y\"'], options: {disableNameSuffixHash: true, labels: {l: m}, immutable: true}}]",
		"Secrets":           "secretGenerator: [{name: password, type: Opaque, literals: [p=secret]}]\ngeneratorOptions: {annotations: {g: o}}\nnamePrefix: a-",
		"Components":        "components: [../component]\n== component/kustomization.yaml\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nreplicas: [{name: app, count: 5}]\nresources: [extra.yaml]\n== component/extra.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}",
		"Bases":             "bases: [../more]\nnamespace: team\n== more/kustomization.yml\nresources: [x.yaml]\n== more/x.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}",
		"Vars":              "vars: [{name: SVC, objref: {kind: Service, name: app, apiVersion: v1}}]\npatches: [{target: {kind: Deployment}, patch: '[{\"op\": \"add\", \"path\": \"/spec/template/spec/containers/0/args\", \"value\": [\"$(SVC).local\"]}]'}]\nnamePrefix: v-",
		"Replacements":      "replacements: [{source: {kind: Service, fieldPath: metadata.name}, targets: [{select: {kind: Deployment}, fieldPaths: ['spec.template.spec.containers.[name=app].env.[name=A].value']}]}, {path: r.yaml}]\n== overlay/r.yaml\nsource: {kind: Service, fieldPath: spec.ports.0.name}\ntargets: [{select: {kind: Deployment}, fieldPaths: [metadata.annotations.port], options: {create: true}}]",
		"CertManager":       "resources: [../base, cert.yaml]\nnamePrefix: a-\nnamespace: team\nreplacements:\n- source: {kind: Certificate, group: cert-manager.io, version: v1, name: cert, fieldPath: .metadata.namespace}\n  targets: [{select: {kind: Service}, fieldPaths: ['.metadata.annotations.[cert-manager.io/inject-ca-from]'], options: {delimiter: /, index: 0, create: true}}]\n- source: {kind: Certificate, group: cert-manager.io, version: v1, name: cert, fieldPath: .metadata.name}\n  targets: [{select: {kind: Service}, fieldPaths: ['.metadata.annotations.[cert-manager.io/inject-ca-from]'], options: {delimiter: /, index: 1, create: true}}]\n- source: {kind: Service, version: v1, name: app, fieldPath: .metadata.name}\n  targets: [{select: {kind: Certificate}, fieldPaths: [.spec.dnsNames.0, .spec.dnsNames.1], options: {delimiter: '.', index: 0, create: true}}]\n== overlay/cert.yaml\napiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: cert}\nspec: {dnsNames: [SERVICE_NAME.ns.svc, SERVICE_NAME.ns.svc.cluster.local]}",
		"CRDs":              "crds: [crd.json]\nsecretGenerator: [{name: password, literals: [p=x]}]\nresources: [../base, widget.yaml]\n== overlay/crd.json\n{\"example.org/v1.Widget\": {\"Schema\": {\"properties\": {\"apiVersion\": {\"type\": \"string\"}, \"kind\": {\"type\": \"string\"}, \"metadata\": {\"type\": \"object\"}, \"spec\": {\"properties\": {\"secretRef\": {\"type\": \"object\", \"x-kubernetes-object-ref-api-version\": \"v1\", \"x-kubernetes-object-ref-kind\": \"Secret\", \"properties\": {\"name\": {\"type\": \"string\"}}}}}}}}}",
		"Configurations":    "configurations: [c.yaml]\nsecretGenerator: [{name: password, literals: [p=x]}]\nresources: [../base, widget.yaml]\n== overlay/c.yaml\nnameReference: [{kind: Secret, version: v1, fieldSpecs: [{path: spec/secretRef/name, kind: Widget}]}]",
		"Transformers":      "transformers: [t.yaml]\n== overlay/t.yaml\napiVersion: builtin\nkind: NamespaceTransformer\nmetadata: {name: t, namespace: team}\nunsetOnly: true\nfieldSpecs: [{path: metadata/namespace, create: true}]",
		"Generators":        "generators:\n- |-\n  apiVersion: builtin\n  kind: ConfigMapGenerator\n  metadata: {name: g}\n  literals: [a=b]\n",
		"BuildMetadata":     "buildMetadata: [originAnnotations, transformerAnnotations]\nnamePrefix: a-",
		"Fifo":              "sortOptions: {order: fifo}\nresources: [widget.yaml, ../base, ns.yaml]",
		"Legacy":            "resources: [widget.yaml, ../base, ns.yaml]",
		"LegacyOrder":       "sortOptions: {order: legacy, legacySortOptions: {orderFirst: [Widget], orderLast: [Namespace]}}\nresources: [widget.yaml, ../base, ns.yaml]",
		"NamespaceAndNames": "namespace: team\nnamePrefix: a-\nlabels: [{pairs: {x: z}}]\nresources: [ns.yaml, ../base, widget.yaml]",
		"Anchors":           "resources: [../base, a.yaml]\n== overlay/a.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: &n anchors}\ndata: {a: *n, b: *n}",
	}
}

// files splits a text into files. Each file begins with a line "== name", and a later file replaces an earlier one with the
// same name.
func files(text string) map[string]string {
	out := map[string]string{}
	for part := range strings.SplitSeq("\n"+text, "\n== ") {
		if name, data, ok := strings.Cut(part, "\n"); ok && name != "" {
			out[name] = data + "\n"
		}
	}
	return out
}

// TestKustomization checks that kustomizations result in the same bytes as with kubectl kustomize.
func TestKustomization(t *testing.T) {
	kubectl, err := tools.Path(t.Context(), tools.Kubectl)
	if err != nil {
		t.Fatal(err)
	}
	p := newPool(t, sandbox.Options{Spares: 1})
	for name, feature := range features() {
		t.Run(name, func(t *testing.T) {
			head := ""
			if !strings.Contains(feature, "resources: [../base") && !strings.Contains(feature, ", ../base") {
				head = "resources: [../base]\n"
			}
			tree := files(base)
			maps.Copy(tree, files("== overlay/kustomization.yaml\n"+head+feature))
			want := kubectlKustomize(t, kubectl, tree, "overlay")
			got, err := kustomize.Build(t.Context(), inputs(tree), "overlay")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Errorf("-kubectl, +ours:\n%s", diff)
			}
			objects, err := yamldoc.Objects(got)
			if err != nil || len(objects) == 0 {
				t.Errorf("%d objects, %v", len(objects), err)
			}
			built, _, err := p.Kustomization(t.Context(), "", inputs(tree), "overlay")
			if diff := cmp.Diff(objects, built); err != nil || diff != "" {
				t.Errorf("in a child process: %v, -want, +got:\n%s", err, diff)
			}
		})
	}
}

func kubectlKustomize(t *testing.T, kubectl string, tree map[string]string, dir string) string {
	t.Helper()
	root := t.TempDir()
	write(t, root, tree)
	cmd := exec.CommandContext(t.Context(), kubectl, "kustomize", filepath.Join(root, dir))
	cmd.Env = []string{"HOME=" + root}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("kubectl kustomize: %v: %s", err, stderr.String())
	}
	return stdout.String()
}

// write writes files into a directory.
func write(t *testing.T, root string, tree map[string]string) {
	t.Helper()
	for name, data := range tree {
		to := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
