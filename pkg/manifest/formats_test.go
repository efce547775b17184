// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/source"
)

// Pass -update only together with a migration of what clusters already store, and a test of the migration.
var updateFormats = flag.Bool("update", false, "write the golden files of what the engine stores in clusters")

// TestFormats checks what the engine stores in a cluster: inventories, Helm releases, and the labels, annotations and field
// managers of installed objects. Clusters keep it for as long as a module is installed, so later versions must be able to read
// it.
func TestFormats(t *testing.T) {
	cases := map[string]struct {
		reason string
		run    func(t *testing.T, b *bench)
	}{
		"install": {
			reason: "A first install of each form, with CRDs, a config layer, a custom resource, hooks and a checkpoint.",
			run: func(t *testing.T, b *bench) {
				t.Helper()
				b.reconcile(formatsBundle(t), WithCheckpoint([]byte(`{"version":"1"}`)))
			},
		},
		"upgrade": {
			reason: "An upgrade that prunes, with a ceded field, a kept object, tests, and a second revision.",
			run: func(t *testing.T, b *bench) {
				t.Helper()
				b.reconcile(formatsBundle(t), WithCheckpoint([]byte(`{"version":"1"}`)))
				s, options := formatsBundle(t), []CallOption{WithCheckpoint([]byte(`{"version":"2"}`)), WithTestToken("run-1")}
				s.Installs[0] = install("web", tmplConfig, deployOf(1, "b"), tmplHPA, hookJob("check", "test"))
				s.Installs[0].Values = map[string]any{"greeting": "hi"}
				b.reconcile(s, options...)
				b.s.scale(key("Deployment", "apps", "web"), 4, kcm)
				b.reconcile(s, options...)
			},
		},
		"cluster": {
			reason: "An install in a cluster whose UID is known.",
			run: func(t *testing.T, b *bench) {
				t.Helper()
				b.s.cluster = "5e0c6a2d-8f0a-4f57-9d55-0c4e8e7c9f11"
				b.reconcile(bundleOf(install("web", tmplConfig)))
			},
		},
		"owner": {
			reason: "An install whose owner and control plane are known.",
			run: func(t *testing.T, b *bench) {
				t.Helper()
				s := bundleOf(install("web", tmplConfig))
				s.OwnerUID, s.ControlPlane = "0c8e52c1-6d0f-4b43-9f55-2f7d1c9be7a4", []string{"5e0c6a2d-8f0a-4f57-9d55-0c4e8e7c9f11", "9a1b7c34-11d2-4e0c-8f4e-3b5a7c2d6e90"}
				b.reconcile(s)
			},
		},
		"shared": {
			reason: "A CRD that two bundles have: the second one uses that of the first one.",
			run: func(t *testing.T, b *bench) {
				t.Helper()
				b.reconcile(webOf(oneSize))
				b.reconcile(gatewayOf(oneSize))
			},
		},
		"marked": {
			reason: "An object that is kept, and a Job that expires.",
			run: func(t *testing.T, b *bench) {
				t.Helper()
				kept := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, annotations: {helm.sh/resource-policy: keep}}\ndata: {k: v}\n"
				b.reconcile(bundleOf(install("web", kept, "apiVersion: batch/v1\nkind: Job\nmetadata: {name: once}\nspec: {ttlSecondsAfterFinished: 0}\n")))
			},
		},
		"moved": {
			reason: "A release that moves to another namespace.",
			run: func(t *testing.T, b *bench) {
				t.Helper()
				s := bundleOf(install("web", tmplConfig))
				b.reconcile(s)
				s.Installs[0].Namespace = "others"
				b.reconcile(s)
			},
		},
		"failed": {
			reason: "A hook that failed, with the revision that records it.",
			run: func(t *testing.T, b *bench) {
				t.Helper()
				b.s.unready = true
				s := bundleOf(install("web", tmplConfig, hookJob("prepare", "pre-install")))
				_, _ = b.Apply(t.Context(), b.c, s)
				failJob(b, "prepare")
				_, _ = b.Apply(t.Context(), b.c, s)
				_, _ = b.Apply(t.Context(), b.c, s)
			},
		},
		"reasons": {
			reason: "The reasons why a step did not get further: a part that failed, and one that is held back by another.",
			run: func(t *testing.T, b *bench) {
				t.Helper()
				b.s.unready = true
				s := bundleOf(install("broken", `{{ fail "no luck" }}`), install("first", tmplDeploy), install("second", configMap("second")))
				s.Config = configOf(entryFor("first", "Wait=true", ""))
				_, _ = b.Apply(t.Context(), b.c, s)
				_, _ = b.Apply(t.Context(), b.c, s)
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			tc.run(t, b)
			got := b.stored()
			file := filepath.Join("testdata", "formats", name+".yaml")
			if *updateFormats {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("\n%s\nClusters hold %s in this form. -want, +got:\n%s", tc.reason, file, diff)
			}
		})
	}
}

// formatsBundle returns a bundle with everything that a bundle can have.
func formatsBundle(t *testing.T) *Bundle {
	t.Helper()
	kept := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, annotations: {helm.sh/resource-policy: keep}}\n"
	s := bundleOf(
		install("web", tmplConfig, tmplRole, kept, deployOf(1, "a"), tmplHPA,
			hookJob("prepare", "pre-install", weight(-1)), hookJob("clean", "pre-delete"), hookJob("check", "test")),
		Install{
			Layer: layerOf([]source.File{{Name: "all.yaml", Data: []byte(configMap("plain"))}}), Name: "plain", Form: FormPlain, Namespace: "apps",
		},
	)
	crdLayer := layerOf([]source.File{{Name: "crds.yaml", Data: []byte(tmplCRD)}})
	config := layerOf([]source.File{{Name: "config.yaml", Data: []byte("configs:\n- name: web\n  clientConfig: Timeout=90s\n  overrides: greeting=configured\n")}})
	s.CRDs, s.Config = &crdLayer, &config
	s.Resource = manifestOf(t, fmt.Sprintf(tmplWidget, "main"))
	s.Resource.SetNamespace("default")
	return s
}

// stored returns everything in the server as YAML, ordered by key. Packed data is unpacked. UIDs are replaced by UIDs derived
// from the keys, because the order of concurrent requests determines them; resource versions are left out.
func (b *bench) stored() string {
	b.t.Helper()
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	keys := make([]cluster.ObjectRef, 0, len(b.s.objects))
	uids := map[string]string{}
	for k, o := range b.s.objects {
		keys = append(keys, k)
		uids[string(o.u().GetUID())] = "UID of " + k.String()
	}
	slices.SortFunc(keys, func(x, y cluster.ObjectRef) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
	var out strings.Builder
	for _, k := range keys {
		o := b.s.objects[k]
		u := (&unstructured.Unstructured{Object: o.content}).DeepCopy()
		unstructured.RemoveNestedField(u.Object, "metadata", "resourceVersion")
		unstructured.RemoveNestedField(u.Object, "status")
		maps.Copy(u.Object, b.unpacked(u))
		managers := make([]any, 0, len(o.owners))
		for m := range o.owners {
			managers = append(managers, m)
		}
		slices.SortFunc(managers, func(x, y any) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
		u.Object["field managers"] = managers
		text, err := yaml.Marshal(u.Object)
		if err != nil {
			b.t.Fatal(err)
		}
		out.WriteString("---\n")
		out.Write(text)
	}
	// The names of hook runs are random.
	text := regexp.MustCompile(`(hook-run: |id: )([0-9a-f]{32}|[A-Z2-7]{26})\b`).ReplaceAllString(out.String(), "${1}RANDOM")
	return regexp.MustCompile(`uid-\d+`).ReplaceAllStringFunc(text, func(uid string) string {
		if name, ok := uids[uid]; ok {
			return name
		}
		return "UID of an object that is gone"
	})
}

// unpacked returns the unpacked data of an inventory or a Helm release, and removes the packed data from the object.
func (b *bench) unpacked(u *unstructured.Unstructured) map[string]any {
	b.t.Helper()
	out := map[string]any{}
	data, _, _ := unstructured.NestedStringMap(u.Object, "data")
	for name, text := range data {
		if u.GetKind() != "Secret" {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			b.t.Fatal(err)
		}
		if name == "release" { // Helm encodes in base64 what the API server encodes once more.
			if raw, err = base64.StdEncoding.DecodeString(string(raw)); err != nil {
				b.t.Fatal(err)
			}
		}
		var in any = string(raw)
		if z, err := gzip.NewReader(bytes.NewReader(raw)); err == nil {
			if raw, err = io.ReadAll(z); err != nil {
				b.t.Fatal(err)
			}
			if err := json.Unmarshal(raw, &in); err != nil {
				b.t.Fatal(err)
			}
		}
		unstructured.RemoveNestedField(u.Object, "data", name)
		out["unpacked "+name] = in
	}
	return out
}
