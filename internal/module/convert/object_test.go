// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

// specOf returns the spec and the metadata of a converted object as YAML.
func specOf(t *testing.T, o client.Object) string {
	t.Helper()
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(b, &tree); err != nil {
		t.Fatal(err)
	}
	delete(tree, "status")
	out, err := yaml.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestObject(t *testing.T) {
	const layer = "name: kyma-project.io/module/example-module-name\n      ref: sha256:"
	cases := map[string]struct {
		reason string
		opts   Options
		want   string
		lost   []string
	}{
		"kyma-v1alpha1": {
			reason: "The channel and modules are converted; the ProviderConfig selects the cluster.",
			want: `apiVersion: kyma.m.crossplane.io/v1alpha1
kind: Kyma
metadata:
  labels:
    operator.kyma-project.io/managed-by: lifecycle-manager
  name: cluster-a
  namespace: kcp-system
spec:
  forProvider:
    channel: stable
    modules:
    - name: istio
    - channel: fast
      name: serverless
  providerConfigRef:
    kind: ProviderConfig
    name: cluster-a
`,
			lost: []string{
				`metadata.annotations[operator.kyma-project.io/last-sync]: "2022-11-11T10:00:00Z"; only used by Kyma's own operators`,
				"metadata.finalizers",
				`spec.modules[1].controller: "manifest"; the provider manages all modules`,
				`spec.sync.namespace: "kyma-system"; Kymas and ModuleTemplates are not copied to the target cluster`,
				`spec.sync.noModuleCopy: "true"; Kymas and ModuleTemplates are not copied to the target cluster`,
				`spec.sync.strategy: "local-secret"; the target cluster is that of ProviderConfig "cluster-a", which needs the kubeconfig from the Secret with label operator.kyma-project.io/kyma-name=cluster-a`,
				"status: the provider sets it",
			},
		},
		"kyma-v1beta2": {
			reason: "Options take precedence, and unsupported fields are listed.",
			opts:   Options{Channel: "fast", ProviderConfig: "pc", Namespace: "team-a"},
			want: `apiVersion: kyma.m.crossplane.io/v1alpha1
kind: Kyma
metadata:
  annotations:
    crossplane.io/paused: "true"
  labels:
    operator.kyma-project.io/beta: "true"
    operator.kyma-project.io/skip-reconciliation: "true"
  name: cluster-b
  namespace: team-a
spec:
  forProvider:
    channel: regular
    modules:
    - channel: fast
      customResourcePolicy: Ignore
      name: template-operator
    - name: keda
    - name: istio
  providerConfigRef:
    kind: ProviderConfig
    name: pc
`,
			lost: []string{
				`metadata.labels[operator.kyma-project.io/beta]: "true" is kept, but has no effect: all modules are available to all Kymas`,
				`spec.modules[1].name: "kyma-project.io/module/keda" refers to a component; converted to "keda", the default module name of its ModuleTemplates`,
				`spec.modules[2].name: "kcp-system/serverless-regular" refers to a ModuleTemplate, so the module is omitted: use the name of the module`,
				`spec.modules[3]: unmanaged module "btp-operator" is omitted: all modules in the list are managed`,
				`spec.modules[4].remoteModuleTemplateRef: "kyma-system/istio"; a module is selected only by its channel`,
				`spec.modules[4].version: "1.2.3"; the channel determines the version`,
				"spec.skipMaintenanceWindows: maintenance windows are not supported",
			},
		},
		"manifest-v1alpha1": {
			reason: "Charts, layers and the custom resource are converted; a Git repository is not.",
			want: `apiVersion: kyma.m.crossplane.io/v1alpha1
kind: Manifest
metadata:
  labels:
    operator.kyma-project.io/channel: stable
    operator.kyma-project.io/controller-name: manifest
    operator.kyma-project.io/kyma-name: kyma-sample
  name: manifestkyma-sample
  namespace: default
spec:
  forProvider:
    config:
      ` + layer + `61be4f1fee1a2f51296cc805aa9b24bc14fd5c2b4aee1e24aadc2996b067ccec
      repo: kcp-registry.localhost:8888/component-descriptors
      type: oci-ref
    crds:
      ` + layer + `71cf4f1fee1a2f51296cc805aa9b24bc14fd5c2b4aee1e24aadc2996b067bb3d
      repo: kcp-registry.localhost:8888/component-descriptors
      type: oci-ref
    installs:
    - name: redis
      source:
        name: kyma-project.io/module/example-module-name
        ref: sha256:c64f0580a74259712f24243528881a76b5e1c9cd254fa58197de93a6347f99b9
        repo: kcp-registry.localhost:8888/component-descriptors
        type: oci-ref
    - name: bitnami
      source:
        chartName: mysql
        type: helm-chart
        url: https://charts.bitnami.com/bitnami
    resource:
      apiVersion: operator.kyma-project.io/v1alpha1
      kind: SampleCRD
      metadata:
        name: sample-crd-from-manifest
        namespace: default
      resource: samplecrds
      spec:
        randomkey: samplevalue
  providerConfigRef:
    kind: ProviderConfig
    name: kyma-sample
`,
			lost: []string{
				"metadata.ownerReferences: Kymas create their own Manifests",
				"spec.config.repo: http://; set plainHTTP for the host in spec.registries of the ProviderConfig",
				"spec.installs[0].source.credSecretSelector: registry credentials are set in the ProviderConfig",
				"spec.installs[1].source.resource",
				`spec.installs[2].source: kustomization with url "https://example.org/x?ref=main" and path "": installing from git or a directory is not supported; build a module from it with kymactl module create`,
				"status: the provider sets it",
			},
		},
		"manifest-v1beta2": {
			reason: "The only install is plain YAML; the field remote is obsolete.",
			want: `apiVersion: kyma.m.crossplane.io/v1alpha1
kind: Manifest
metadata:
  name: cluster-b-template-operator-123
  namespace: kcp-system
spec:
  forProvider:
    customResourcePolicy: Ignore
    installs:
    - name: raw-manifest
      source:
        name: kyma-project.io/module/template-operator
        ref: sha256:c64f0580a74259712f24243528881a76b5e1c9cd254fa58197de93a6347f99b9
        repo: registry.example.org/component-descriptors
        type: raw
    resource:
      apiVersion: operator.kyma-project.io/v1alpha1
      kind: Sample
      metadata:
        name: s
    version: 1.0.5
  providerConfigRef:
    kind: ProviderConfig
    name: cluster-b-template-operator-123
`,
			lost: []string{
				"spec.localizedImages: images are determined by the charts and manifests",
				"spec.manager: readiness depends on all objects; see spec.forProvider.readiness",
				"spec.resource.status: the provider sets it",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			got, lost, err := Object(in, tc.opts)
			if err != nil {
				t.Fatalf("\n%s\nObject(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, specOf(t, got)); diff != "" {
				t.Errorf("\n%s\nObject(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.lost, lost); diff != "" {
				t.Errorf("\n%s\nObject(...): -want lost, +got lost:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestObjectFails(t *testing.T) {
	const digest = "sha256:c64f0580a74259712f24243528881a76b5e1c9cd254fa58197de93a6347f99b9"
	manifest := func(spec string) string {
		return "apiVersion: operator.kyma-project.io/v1alpha1\nkind: Manifest\nmetadata: {name: m}\nspec: " + spec
	}
	kyma := func(spec string) string {
		return "apiVersion: operator.kyma-project.io/v1beta2\nkind: Kyma\nmetadata: {name: k}\nspec: " + spec
	}
	cases := map[string]struct {
		reason, in, want string
	}{
		"Other":        {"A kind of another API group is refused.", "apiVersion: v1\nkind: Secret", `cannot convert kind "Secret" of apiVersion "v1"; must be a ModuleTemplate, Kyma or Manifest of`},
		"Watcher":      {"A kind without a counterpart is refused.", "apiVersion: operator.kyma-project.io/v1beta2\nkind: Watcher", `cannot convert kind "Watcher" of apiVersion "operator.kyma-project.io/v1beta2"`},
		"Version":      {"An unknown API version is refused.", "apiVersion: operator.kyma-project.io/v2\nkind: Kyma", `cannot convert kind "Kyma" of apiVersion "operator.kyma-project.io/v2"`},
		"NoName":       {"An object needs a name.", "apiVersion: operator.kyma-project.io/v1beta2\nkind: Kyma", "cannot convert Kyma: metadata.name is missing"},
		"Channel":      {"A channel that the API refuses is refused.", kyma("{channel: v1}"), `cannot convert Kyma "k": spec: channel "v1" must be 3 to 32 lowercase letters, digits or '-', beginning with a letter and not ending with '-'`},
		"ModuleName":   {"The name of a module that the API refuses is refused.", kyma("{modules: [{name: A}]}"), `cannot convert Kyma "k": spec: modules[0]: name: invalid value "A"`},
		"ModuleNone":   {"A module needs a name.", kyma("{modules: [{}]}"), `modules[0]: name: invalid value ""`},
		"ModuleChan":   {"The channel of a module that the API refuses is refused.", kyma("{modules: [{name: a, channel: X}]}"), `modules[0]: channel "X" must be`},
		"ModulePolicy": {"A policy that the API refuses is refused.", kyma("{modules: [{name: a, customResourcePolicy: X}]}"), `modules[0]: customResourcePolicy: invalid value "X"`},
		"Managed":      {"The field managed must be a boolean.", kyma("{modules: [{name: a, managed: x}]}"), `modules[0]: managed must be true or false`},
		"NoList":       {"The field modules must be a list.", kyma("{modules: a}"), `spec: modules must be a list`},
		"Many":         {"Too many modules are refused.", kyma("{modules: [" + manyModules(65) + "]}"), "modules: 65 modules exceed"},
		"Nothing":      {"A Manifest needs something.", manifest("{}"), `cannot convert Manifest "m": spec contains nothing that can be installed`},
		"OnlyGit":      {"A Manifest needs something.", manifest("{installs: [{name: a, source: {type: kustomize, url: x}}]}"), `nothing that can be installed: [spec.installs[0].source: kustomization with url "x"`},
		"Tag":          {"A tag never worked.", manifest("{installs: [{name: a, source: {type: oci-ref, repo: r, name: x, ref: 1.0.0}}]}"), `spec: installs[0]: source: ref "1.0.0" is not a digest`},
		"Repo":         {"Each part is needed.", manifest("{installs: [{name: a, source: {type: oci-ref, name: x, ref: '" + digest + "'}}]}"), `installs[0]: source: repo is missing`},
		"Type":         {"A source of an unknown type is refused.", manifest("{installs: [{name: a, source: {type: ftp}}]}"), `installs[0]: source: type: invalid value "ftp"`},
		"NoSource":     {"A source without a type is refused.", manifest("{installs: [{name: a}]}"), `installs[0]: source: type: invalid value ""`},
		"InstallName":  {"The API refuses it.", manifest("{installs: [{name: A_b}]}"), `installs[0]: name: invalid value "A_b"`},
		"Twice":        {"The API refuses it.", manifest("{installs: [{name: a, source: {type: helm-chart, url: 'https://h', chartName: c}}, {name: a, source: {type: helm-chart}}]}"), `installs[1]: duplicate name "a"`},
		"Credentials":  {"Credentials belong into a Secret, not into a URL.", manifest("{installs: [{name: a, source: {type: helm-chart, url: 'https://u:p@h', chartName: c}}]}"), `installs[0]: source: url must begin with`},
		"OCIVersion":   {"The API refuses it.", manifest("{installs: [{name: a, source: {type: helm-chart, url: 'oci://h', chartName: c}}]}"), `version is missing; a chart from an oci:// url requires one`},
		"Config":       {"The layer is named.", manifest("{config: {type: helm-chart, repo: r}}"), `spec: config: type: invalid value "helm-chart": must be oci-ref`},
		"Resource":     {"The API refuses it.", manifest("{resource: {apiVersion: v1, kind: X}}"), `spec: resource.metadata.name is missing`},
		"Bomb":         {"Aliases are bounded.", "a0: &a0 " + strings.Repeat("x", 1000) + "\n" + bomb(), "when its aliases are expanded"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, _, err := Object([]byte(tc.in), Options{})
			if err == nil || !strings.Contains(err.Error(), tc.want) || got != nil {
				t.Errorf("\n%s\nObject(...): want error %q, got %v, %v", tc.reason, tc.want, got, err)
			}
			var unknown *UnknownKindError
			if is := errors.As(err, &unknown); is != (name == "Other" || name == "Watcher" || name == "Version") {
				t.Errorf("\n%s\nObject(...): unknown kind: %t", tc.reason, is)
			}
		})
	}
}

func manyModules(n int) string {
	var names []string
	for i := range n {
		names = append(names, "{name: m"+strings.Repeat("x", i%60)+string(rune('a'+i%26))+"}")
	}
	return strings.Join(names, ", ")
}

func bomb() string {
	var out strings.Builder
	for n := range 6 {
		fmt.Fprintf(&out, "a%d: &a%d [%s]\n", n+1, n+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", n), 10), ", "))
	}
	return out.String()
}

func TestDocuments(t *testing.T) {
	cases := map[string]struct {
		reason, in string
		want       []string
		err        string
	}{
		"Two":   {reason: "Empty documents are left out.", in: "# c\n---\na: 1\n---\n---\n# c\n---\nb: 2\n", want: []string{"a: 1\n", "b: 2\n"}},
		"List":  {reason: "A List is replaced by its items.", in: "kind: List\nitems: [{a: 1}, {b: 12345678901234567890}]", want: []string{`{"a":1}`, `{"b":12345678901234567890}`}},
		"None":  {reason: "Nothing is not an error.", in: "\n"},
		"Wrong": {reason: "The error names the document.", in: "a: 1\n---\n- b\n", err: "document 2: must be an object"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			docs, err := Documents([]byte(tc.in))
			if tc.err != "" {
				if err == nil || err.Error() != tc.err {
					t.Errorf("\n%s\nDocuments(...): want error %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range docs {
				got = append(got, string(d))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nDocuments(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// FuzzObject checks that converted objects are complete, that errors and losses are a single line, and that the same input
// results in the same output.
func FuzzObject(f *testing.F) {
	for _, pattern := range []string{"testdata/*.yaml", "../testdata/moduletemplates/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			in, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(in)
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 64 << 20, PerByte: 16 << 10}, len(in))()
		docs, err := Documents(in)
		if err != nil {
			oneLine(t, err.Error())
			return
		}
		for _, doc := range docs {
			got, lost, err := Object(doc, Options{Channel: "regular"})
			if err != nil {
				oneLine(t, err.Error())
				continue
			}
			for _, l := range lost {
				oneLine(t, l)
			}
			if got.GetName() == "" || got.GetObjectKind().GroupVersionKind().Kind == "" {
				t.Errorf("incomplete: %+v", got)
			}
			again, lostAgain, err := Object(doc, Options{Channel: "regular"})
			if err != nil || specOf(t, got) != specOf(t, again) || !cmp.Equal(lost, lostAgain) {
				t.Errorf("not the same again: %v", err)
			}
		}
	})
}

func oneLine(t *testing.T, s string) {
	t.Helper()
	if strings.ContainsAny(s, "\n\r") {
		t.Errorf("more than one line: %q", s)
	}
}
