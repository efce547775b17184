// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

// TestDefaults creates objects without what is optional, and sees what they are.
func TestDefaults(t *testing.T) {
	manifest, err := dryRun(t.Context(), manifestWith(t, `{type: raw, inline: "{}"}`))
	if err != nil {
		t.Fatal(err)
	}
	config, err := dryRun(t.Context(), configWith(t, "ProviderConfig", `{credentials: {source: None}, verification: {}}`))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string]string{"manifests": {}, "providerconfigs": {}, "clusterproviderconfigs": {}, "providerconfigusages": {}}
	for _, path := range []string{
		installs + "[].namespace", "spec.forProvider.customResourcePolicy", "spec.providerConfigRef", "spec.managementPolicies",
	} {
		got["manifests"][path] = compact(t, get(manifest, strings.ReplaceAll(path, "[]", "[0]")))
	}
	got["providerconfigs"]["spec.verification.mode"] = compact(t, get(config, "spec.verification.mode"))
	got["clusterproviderconfigs"] = got["providerconfigs"]
	want := map[string]map[string]string{
		"manifests": {
			installs + "[].namespace":               `"default"`,
			"spec.forProvider.customResourcePolicy": `"CreateAndDelete"`,
			"spec.providerConfigRef":                `{"kind":"ClusterProviderConfig","name":"default"}`,
			"spec.managementPolicies":               `["*"]`,
		},
		"providerconfigs":        {"spec.verification.mode": `"Off"`},
		"clusterproviderconfigs": {"spec.verification.mode": `"Off"`},
		"providerconfigusages":   {},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the server fills in: -want, +got:\n%s", diff)
	}
	for plural := range want {
		if diff := cmp.Diff(want[plural], rulesOf(t, plural).defaults); diff != "" {
			t.Errorf("defaults of %s: -in this test, +in package/crds:\n%s", plural, diff)
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

// TestColumns reads what kubectl get prints.
func TestColumns(t *testing.T) {
	live := create(t, object(t, fullManifest))
	live.Object["status"] = object(t, statusOfManifest).Object
	if _, err := of("Manifest").UpdateStatus(t.Context(), live, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	create(t, object(t, fullConfig))
	create(t, object(t, clusterConfig(fullConfig)))
	create(t, object(t, fullUsage))

	const configs = "NAME USERS AGE"
	cases := map[string]struct {
		reason string
		args   string
		want   []string // The first line, and what the lines after it begin with.
	}{
		"Manifests": {
			reason: "What is shown of a module.", args: "get manifests.kyma.m.crossplane.io",
			want: []string{"NAME READY SYNCED STATE VERSION AGE", "full False Error 1.0.0"},
		},
		"ManifestsWide": {
			reason: "What is wrong is shown on demand.", args: "get manifests.kyma.m.crossplane.io -o wide",
			want: []string{"NAME READY SYNCED STATE VERSION AGE EXTERNAL-NAME MESSAGE", "full False Error 1.0.0"},
		},
		"Configs":        {reason: "Who uses them.", args: "get providerconfigs.kyma.m.crossplane.io", want: []string{configs, "full"}},
		"ClusterConfigs": {reason: "Who uses them.", args: "get clusterproviderconfigs.kyma.m.crossplane.io", want: []string{configs, "full"}},
		"Usages": {
			reason: "Who uses what.", args: "get providerconfigusages.kyma.m.crossplane.io",
			want: []string{"NAME AGE CONFIG-NAME RESOURCE-KIND RESOURCE-NAME", "full"},
		},
		"Managed": {
			reason: "crossplane's tools find all managed resources by this category.", args: "get managed -o name",
			want: []string{"manifest.kyma.m.crossplane.io/full"},
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

// TestCategories holds what kubectl get finds our kinds by.
func TestCategories(t *testing.T) {
	d, err := discovery.NewDiscoveryClientForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	list, err := d.ServerResourcesForGroupVersion(group + "/" + version)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, r := range list.APIResources {
		if !strings.Contains(r.Name, "/") {
			got[r.Name] = r.Categories
		}
	}
	provider := []string{"crossplane", "provider", "kyma"}
	want := map[string][]string{
		"manifests":       {"crossplane", "managed", "kyma"},
		"providerconfigs": provider, "clusterproviderconfigs": provider, "providerconfigusages": provider,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("categories: -want, +got:\n%s", diff)
	}
}

// TestExplain holds that kubectl explain has a text for every field: it reads the
// schemas that the server publishes.
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
	if kinds != 4 {
		t.Errorf("the server publishes %d kinds of ours, want 4", kinds)
	}

	out := kubectl(t, "explain", "manifests.kyma.m.crossplane.io.spec.forProvider.installs.source.ref")
	if !strings.Contains(out, "Ref is the digest: sha256: and 64 hexadecimal digits. A tag is refused.") {
		t.Errorf("kubectl explain does not say what a ref is:\n%s", out)
	}
}

// explained wants a description of a schema and of all below, and counts them.
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
