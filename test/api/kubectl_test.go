// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"encoding/json"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// TestDefaults creates objects without optional fields, and checks the defaults.
func TestDefaults(t *testing.T) {
	const kyma, policies = `{apiVersion: kyma.m.crossplane.io/v1alpha1, kind: Kyma, metadata: {name: minimal}, spec: `, `["*"]`
	const allNamespaces = `{"kind":"ClusterProviderConfig","name":"default"}`
	component := object(t, fullManifest)
	set(t, component, fields{"spec.forProvider.component.nameMapping": gone{}})
	optional := manifestWith(t, `{type: raw, inline: "{}"}`)
	set(t, optional, fields{"spec.forProvider.rollback": map[string]any{}, installs + "[0].valuesFrom": []any{map[string]any{"kind": "Secret", "name": "x"}}})
	cases := []struct {
		plural string
		object *unstructured.Unstructured
		want   map[string]string
	}{
		{"manifests", manifestWith(t, `{type: raw, inline: "{}"}`), map[string]string{
			installs + "[].namespace":               `"default"`,
			"spec.forProvider.customResourcePolicy": `"CreateAndDelete"`,
			"spec.forProvider.drift":                `"Repair"`,
			"spec.forProvider.mode":                 `"Apply"`,
			"spec.forProvider.immutableFields":      `"Refuse"`,
			"spec.forProvider.adoption":             `"Refuse"`,
			"spec.providerConfigRef":                allNamespaces,
			"spec.managementPolicies":               policies,
		}},
		{"manifests", component, map[string]string{"spec.forProvider.component.nameMapping": `"urlPath"`}},
		{"manifests", optional, map[string]string{
			installs + "[].valuesFrom[].key":    `"values.yaml"`,
			"spec.forProvider.rollback.trigger": `"Failed"`, "spec.forProvider.rollback.after": `"10m"`,
		}},
		{"kymas", object(t, kyma+`{forProvider: {modules: [{name: x, valuesFrom: [{kind: Secret, name: x}], rollback: {},
			installs: [{name: a, valuesFrom: [{kind: Secret, name: x}]}]}]}}}`), map[string]string{
			modules + "[].installs[].valuesFrom[].key": `"values.yaml"`,
			modules + "[].valuesFrom[].key":            `"values.yaml"`,
			modules + "[].rollback.trigger":            `"Failed"`, modules + "[].rollback.after": `"10m"`,
		}},
		{"kymas", object(t, kyma+`{}}`), map[string]string{
			"spec.forProvider":         `{"channel":"regular","mode":"Apply"}`,
			"spec.forProvider.channel": `"regular"`,
			"spec.forProvider.mode":    `"Apply"`,
			"spec.providerConfigRef":   allNamespaces,
			"spec.managementPolicies":  policies,
		}},
		{"kymas", object(t, kyma+`{forProvider: {modules: [{name: x}]}}}`), map[string]string{
			"spec.forProvider.channel":          `"regular"`,
			modules + "[].customResourcePolicy": `"CreateAndDelete"`,
		}},
		{"moduletemplates", object(t, `{apiVersion: kyma.m.crossplane.io/v1alpha1, kind: ModuleTemplate, metadata: {name: minimal},
			spec: {channel: regular, component: {repository: r, name: a.io/x, version: v1}}}`), map[string]string{
			"spec.target":                `"remote"`,
			"spec.component.nameMapping": `"urlPath"`,
		}},
		{"providerconfigs", configWith(t, "ProviderConfig", `{credentials: {source: None}, verification: {}}`), map[string]string{
			"spec.verification.mode": `"Off"`,
		}},
		{"clusterproviderconfigs", configWith(t, "ClusterProviderConfig", `{credentials: {source: None}, verification: {}}`), map[string]string{
			"spec.verification.mode": `"Off"`,
		}},
		{"providerconfigusages", object(t, fullUsage), nil},
	}
	known := map[string]map[string]bool{}
	for _, tc := range cases {
		out, err := dryRun(t.Context(), tc.object)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		if known[tc.plural] == nil {
			known[tc.plural] = map[string]bool{}
		}
		for path := range tc.want {
			got[path] = compact(t, get(out, strings.ReplaceAll(path, "[]", "[0]")))
			known[tc.plural][path] = true
		}
		if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("what the server fills in for %s: -want, +got:\n%s", tc.plural, diff)
		}
	}
	for plural, paths := range known {
		inSchema := slices.Sorted(maps.Keys(rulesOf(t, plural).defaults))
		// The server fills in a status when it reads an object; see TestStatusOfNewObjects.
		inSchema = slices.DeleteFunc(inSchema, func(path string) bool { return path == "status" })
		if diff := cmp.Diff(inSchema, slices.Sorted(maps.Keys(paths)), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("defaults of %s: -in package/crds, +in this test:\n%s", plural, diff)
		}
	}
}

func compact(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestColumns checks the output of kubectl get.
func TestColumns(t *testing.T) {
	live := create(t, object(t, fullManifest))
	live.Object["status"] = object(t, statusOfManifest).Object
	if _, err := of("Manifest").UpdateStatus(t.Context(), live, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for full, status := range map[string]string{
		fullKyma: statusOfKyma, fullTemplate: statusOfTemplate, fullConfig: statusOfConfig, clusterConfig(fullConfig): statusOfConfig,
	} {
		o := create(t, object(t, full))
		o.Object["status"] = object(t, status).Object
		if _, err := of(o.GetKind()).UpdateStatus(t.Context(), o, metav1.UpdateOptions{FieldValidation: "Strict"}); err != nil {
			t.Fatal(err)
		}
	}
	create(t, object(t, fullUsage))

	const configs, config = "NAME REACHABLE REASON KUBERNETES USERS AGE", "full False Unreachable v1.36.3 1"
	cases := map[string]struct {
		reason string
		args   string
		want   []string // The first line, and the beginning of all further lines.
	}{
		"Manifests": {
			reason: "The default columns show the state of a module.", args: "get manifests.kyma.m.crossplane.io",
			want: []string{"NAME READY SYNCED STATE VERSION AGE", "full False Error 1.0.0"},
		},
		"ManifestsWide": {
			reason: "The wide output also shows messages.", args: "get manifests.kyma.m.crossplane.io -o wide",
			want: []string{"NAME READY SYNCED STATE VERSION AGE EXTERNAL-NAME MESSAGE", "full False Error 1.0.0"},
		},
		"Kymas": {
			reason: "The default columns show how many modules are ready.", args: "get kymas.kyma.m.crossplane.io",
			want: []string{"NAME STATE CHANNEL MODULES READY AGE", "full Error fast 1/2 False"},
		},
		"KymasWide": {
			reason: "The wide output also shows messages.", args: "get kymas.kyma.m.crossplane.io -o wide",
			want: []string{"NAME STATE CHANNEL MODULES READY SYNCED AGE MESSAGE", "full Error fast 1/2 False True"},
		},
		"Templates": {
			reason: "The default columns show the available modules.", args: "get moduletemplates.kyma.m.crossplane.io",
			want: []string{"NAME MODULE CHANNEL VERSION READY REASON AGE", "full sample fast 1.0.0 False SignatureInvalid"},
		},
		"TemplatesWide": {
			reason: "The wide output shows additional columns.", args: "get moduletemplates.kyma.m.crossplane.io -o wide",
			want: []string{"NAME MODULE CHANNEL VERSION READY REASON AGE RESOLVED VERIFIED TARGET MESSAGE", "full sample fast 1.0.0 False SignatureInvalid"},
		},
		"Configs":        {reason: "Whether they work, and who uses them.", args: "get providerconfigs.kyma.m.crossplane.io", want: []string{configs, config}},
		"ClusterConfigs": {reason: "Whether they work, and who uses them.", args: "get clusterproviderconfigs.kyma.m.crossplane.io", want: []string{configs, config}},
		"ConfigsWide": {
			reason: "The columns show the endpoint and the message.", args: "get kkpc -o wide",
			want: []string{configs + " SOURCE ENDPOINT MESSAGE", config},
		},
		"Usages": {
			reason: "The columns show the user and the config.", args: "get providerconfigusages.kyma.m.crossplane.io",
			want: []string{"NAME AGE CONFIG-NAME RESOURCE-KIND RESOURCE-NAME", "full"},
		},
		"Managed": {
			reason: "Tools of Crossplane find all managed resources with this category.", args: "get managed -o name",
			want: []string{"kyma.kyma.m.crossplane.io/full", "manifest.kyma.m.crossplane.io/full"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			lines := strings.Split(strings.TrimSpace(kubectl(t, strings.Fields(tc.args)...)), "\n")
			if len(lines) != len(tc.want) {
				t.Fatalf("%s kubectl prints %d lines, want %d:\n%s", tc.reason, len(lines), len(tc.want), strings.Join(lines, "\n"))
			}
			if diff := cmp.Diff(tc.want[0], words(lines[0])); diff != "" {
				t.Errorf("%s -want, +got:\n%s", tc.reason, diff)
			}
			for i, want := range tc.want {
				if !strings.HasPrefix(words(lines[i]), want) {
					t.Errorf("line %d is %q, want it to begin with %q", i+1, words(lines[i]), want)
				}
			}
		})
	}
}

func words(line string) string { return strings.Join(strings.Fields(line), " ") }

// TestStatusOfNewObjects checks the status of an object that the provider has not processed yet. Tools that use kstatus treat
// an object without a status as complete, and so does Argo CD.
func TestStatusOfNewObjects(t *testing.T) {
	for _, yaml := range []string{fullManifest, fullKyma, fullTemplate} {
		o := object(t, yaml)
		o.SetName("new")
		created := create(t, o)
		got, err := of(created.GetKind()).Get(t.Context(), created.GetName(), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if s := compact(t, got.Object["status"]); s != `{"observedGeneration":-1}` {
			t.Errorf("the status of a new %s is %s", created.GetKind(), s)
		}
	}
}

// TestNames checks the categories and the short names by which kubectl finds our kinds. The original and other providers have
// kinds with the same plural names, which can be in the same server.
func TestNames(t *testing.T) {
	d, err := discovery.NewDiscoveryClientForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	list, err := d.ServerResourcesForGroupVersion(group + "/" + version)
	if err != nil {
		t.Fatal(err)
	}
	type names struct{ Categories, ShortNames []string }
	got := map[string]names{}
	for _, r := range list.APIResources {
		if !strings.Contains(r.Name, "/") {
			got[r.Name] = names{Categories: r.Categories, ShortNames: r.ShortNames}
		}
	}
	managed, provider := []string{"crossplane", "managed", "modules"}, []string{"crossplane", "provider"}
	want := map[string]names{
		"kymas":                  {Categories: managed, ShortNames: []string{"kkyma"}},
		"manifests":              {Categories: managed, ShortNames: []string{"kmf"}},
		"kymasets":               {Categories: []string{"crossplane", "modules"}, ShortNames: []string{"kkset"}},
		"moduletemplates":        {Categories: []string{"crossplane", "modules"}, ShortNames: []string{"kmt"}},
		"modulereleasemetas":     {Categories: []string{"crossplane", "modules"}, ShortNames: []string{"kmrm"}},
		"rolloutpolicies":        {Categories: []string{"crossplane", "modules"}, ShortNames: []string{"krp"}},
		"providerconfigs":        {Categories: provider, ShortNames: []string{"kkpc"}},
		"clusterproviderconfigs": {Categories: provider, ShortNames: []string{"kkcpc"}},
		"providerconfigusages":   {Categories: provider, ShortNames: []string{"kkpcu"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestExplain checks that kubectl explain has a text for every field. It reads the schemas that the server publishes.
func TestExplain(t *testing.T) {
	d, err := discovery.NewDiscoveryClientForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	data, err := d.RESTClient().Get().AbsPath("/openapi/v3/apis", group, version).DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	doc := struct {
		Components struct {
			Schemas map[string]extv1.JSONSchemaProps
		}
	}{}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	kinds := 0
	for name, s := range doc.Components.Schemas {
		if !strings.HasPrefix(name, "io.crossplane.m.kyma.") || strings.HasSuffix(name, "List") {
			continue
		}
		kinds++
		if fields := explained(t, name, &s); fields < 10 {
			t.Errorf("%s has only %d fields: is it the schema?", name, fields)
		}
	}
	if kinds != 9 {
		t.Errorf("the server publishes %d kinds of ours, want 9", kinds)
	}

	for path, want := range map[string]string{
		"manifests.kyma.m.crossplane.io.spec.forProvider.installs.source.ref": "ref is a digest: sha256: followed by 64 hexadecimal digits. Tags are not allowed.",
		"kymas.kyma.m.crossplane.io.spec.forProvider.modules.channel":         "channel is the release channel of this module.",
		"moduletemplates.kyma.m.crossplane.io.spec.component.repository":      "repository that holds the components, including the host",
	} {
		if out := kubectl(t, "explain", path); !strings.Contains(words(out), want) {
			t.Errorf("kubectl explain %s does not say %q:\n%s", path, want, out)
		}
	}
}

// explained checks that a schema and all schemas below it have a description, and counts them.
func explained(t *testing.T, path string, s *extv1.JSONSchemaProps) int {
	t.Helper()
	if strings.TrimSpace(s.Description) == "" {
		t.Errorf("%s has no description", path)
	}
	count := 1
	for name := range s.Properties {
		child := s.Properties[name]
		count += explained(t, path+"."+name, &child)
	}
	if s.Items != nil && s.Items.Schema != nil {
		for name := range s.Items.Schema.Properties {
			child := s.Items.Schema.Properties[name]
			count += explained(t, path+"[]."+name, &child)
		}
	}
	return count
}

// kubectl runs the real client.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	path, err := tools.Path(t.Context(), tools.Kubectl)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, append([]string{"--cache-dir=" + t.TempDir()}, args...)...)
	cmd.Env = []string{"KUBECONFIG=" + server.KubeconfigFile()}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("kubectl %s: %v: %s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}
