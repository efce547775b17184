// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("A large module", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	It("of 1,000 objects costs one request for each object that has something to do", func(ctx SpecContext) {
		const objects, more = 1000, 60
		c := newChart("many", "1.0.0").with("templates/all.yaml", `
{{- range $i := until 1000 }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ printf "%s-%d" $.Release.Name $i }}
data:
  message: {{ if lt $i 5 }}{{ $.Values.message }}{{ else }}same{{ end }}
{{- end }}
`)
		cost := func(most int, do func()) {
			GinkgoHelper()
			before := must(env.provider.scrape(ctx))
			do()
			all := 0.0
			for _, n := range must(env.provider.scrape(ctx)).requestsSince(before, targetRequests) {
				all += n
			}
			Expect(all).To(BeNumerically("<=", most))
		}
		cost(objects+more, func() {
			m := s.install(ctx, s.manifest("many", s.installOf("many", c.pushLayer(ctx), values{"message": "one"})))
			Expect(m.Status.AtProvider.Resources).To(HaveValue(Equal(v1alpha1.ResourceCounts{Ready: objects, Total: objects})))
		})
		cost(5+more, func() {
			s.update(ctx, "many", setValues(values{"message": "two"}))
			s.awaitReady(ctx, "many")
			Expect(s.mustConfigMap(ctx, "many-4")).To(haveData("message", "two"))
		})
		cost(2+more, func() {
			edit(ctx, s.mustConfigMap(ctx, "many-500"), `{"data":{"message":"changed"}}`)
			Expect(env.targetClient.Delete(ctx, s.mustConfigMap(ctx, "many-501"))).To(Succeed())
			s.awaitMessage(ctx, "many-500", "same")
			Eventually(gone(s.configMap)).WithContext(ctx).WithArguments("many-501").Should(BeFalse())
			s.awaitReady(ctx, "many")
		})
		cost(objects+more, func() { s.remove(ctx, "many") })
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})

	It("with a CRD of 1.5 MB is installed, and refused by its name where the cluster cannot store it", func(ctx SpecContext) {
		definition := func(size int) (string, *v1alpha1.LayerSource) {
			text := largeDefinition(s.group(), size)
			source := rawRef(env.registry.PushModule(ctx, testModule, controlplane.Files{"crds/widgets.yaml": []byte(text)}))
			return text, &v1alpha1.LayerSource{Type: v1alpha1.LayerSourceTypeOCIRef, Repo: source.Repo, Name: source.Name, Ref: source.Ref}
		}
		text, crds := definition(1_500_000)
		Expect(len(text)).To(BeNumerically(">=", 1_500_000))
		m := s.manifest("definition", s.installOf("any", s.inline("any", "a: b"), nil))
		m.Spec.ForProvider.CRDs = crds
		s.install(ctx, m)

		By("restoring it ")
		key := client.ObjectKey{Name: "widgets." + s.group()}
		get := func(ctx context.Context) (*unstructured.Unstructured, error) {
			crd := &unstructured.Unstructured{}
			crd.SetAPIVersion("apiextensions.k8s.io/v1")
			crd.SetKind("CustomResourceDefinition")
			return fetched(ctx, key, crd)
		}
		crd := must(get(ctx))
		Expect(len(must(json.Marshal(crd)))).To(BeNumerically(">", 1_500_000))
		edit(ctx, crd, `{"metadata":{"labels":{"`+labelManagedBy+`":"somebody"}}}`)
		Eventually(get).WithContext(ctx).Should(HaveField("GetLabels()", HaveKeyWithValue(labelManagedBy, managedBy)))

		_, crds = definition(1_600_000)
		s.update(ctx, "definition", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.CRDs = crds })
		Eventually(s.get).WithContext(ctx).WithArguments("definition").Should(
			notSynced("CustomResourceDefinition "+key.Name, "larger than the cluster can store"))

		s.remove(ctx, "definition")
		_, err := get(ctx)
		Expect(err).To(beNotFound())
	})

	It("with a file of 900 KB is installed from a chart where the release record holds it, and from plain objects in any case", func(ctx SpecContext) {
		const size = 900_000
		c := newChart("file", "1.0.0").with("templates/cm.yaml", `
apiVersion: v1
kind: ConfigMap
metadata: {name: large}
data:
  message: {{ .Values.message }}
  file: {{ .Files.Get "file.txt" | quote }}
`)
		text := c.with("file.txt", strings.Repeat("The same line again and again.\n", size/31))
		s.install(ctx, s.manifest("file", s.installOf("file", text.pushLayer(ctx), values{"message": "one"})))
		Expect(len(s.mustConfigMap(ctx, "large").Data["file"])).To(BeNumerically(">", size-100))
		edit(ctx, s.mustConfigMap(ctx, "large"), `{"data":{"file":"lost"}}`)
		Eventually(s.configMap).WithContext(ctx).WithArguments("large").Should(haveData("file", string(text.files["file.txt"])))
		s.update(ctx, "file", setValues(values{"message": "two"}))
		s.awaitReady(ctx, "file")
		Expect(s.mustConfigMap(ctx, "large")).To(haveData("message", "two"))

		By("refusing what does not compress, before anything is changed")
		s.update(ctx, "file", func(m *v1alpha1.Manifest) {
			m.Spec.ForProvider.Installs = []v1alpha1.Install{s.installOf("file", c.with("file.txt", noise(2*size)).pushLayer(ctx), values{"message": "three"})}
		})
		Eventually(s.get).WithContext(ctx).WithArguments("file").Should(notSynced(`release record of chart "file"`, "a Secret holds 1048576", "split the chart"))
		Expect(s.mustConfigMap(ctx, "large")).To(haveData("message", "two"))
		Expect(decode(s.helm(ctx, "history", "file", "--output", "json"))).To(HaveLen(2))
		s.remove(ctx, "file")

		By("installing it without a record")
		plain := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: noise}\ndata: {file: %s}\n", noise(size))
		s.install(ctx, s.manifest("plain", s.installOf("plain", rawRef(env.registry.PushBlob(ctx, testModule, []byte(plain))), nil)))
		Expect(s.mustConfigMap(ctx, "noise").Data["file"]).To(HaveLen(size))
		s.remove(ctx, "plain")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})

	It("whose files do not fit into the release record is recorded without them, as Helm can live with", func(ctx SpecContext) {
		c := webChart().with("files/noise.txt", noise(3_000_000))
		s.install(ctx, s.manifest("lean", s.installOf("web", c.pushLayer(ctx), values{"message": "one"})))
		s.update(ctx, "lean", setValues(values{"message": "two"}))
		s.awaitReady(ctx, "lean")

		Expect(s.helm(ctx, "history", "web")).To(ContainSubstring("recorded without the templates and files"))
		Expect(decode(s.helm(ctx, "list", "--output", "json"))).To(ConsistOf(SatisfyAll(HaveField("Chart", "web-1.0.0"), HaveField("AppVersion", "1.0"))))
		Expect(s.helm(ctx, "status", "web")).To(ContainSubstring("STATUS: deployed"))
		Expect(s.helm(ctx, "get", "values", "web", "--all")).To(SatisfyAll(ContainSubstring("message: two"), ContainSubstring("replicas:")))
		Expect(s.helm(ctx, "get", "manifest", "web")).To(Equal(s.template(ctx, c, "message=two")))
		s.helm(ctx, "rollback", "web", "1", "--dry-run")
		s.helm(ctx, "uninstall", "web", "--dry-run")
		s.remove(ctx, "lean")
	})
})

// noise of n characters, which compresses to about half.
func noise(n int) string {
	b := make([]byte, n/2)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return hex.EncodeToString(b)
}

// largeDefinition of kind Widget, whose JSON has so many bytes.
func largeDefinition(group string, size int) string {
	GinkgoHelper()
	text := func(padding int) []byte {
		properties := map[string]any{}
		for i := range 1000 {
			properties[fmt.Sprintf("p%05d", i)] = map[string]any{"type": "string", "description": strings.Repeat("x", 1000)}
		}
		return must(json.Marshal(map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "widgets." + group},
			"spec": map[string]any{
				"group": group, "scope": "Namespaced", "names": map[string]any{"plural": "widgets", "kind": "Widget"},
				"versions": []any{map[string]any{
					"name": "v1", "served": true, "storage": true,
					"schema": map[string]any{"openAPIV3Schema": map[string]any{
						"type": "object", "description": strings.Repeat("y", padding), "properties": map[string]any{
							"spec": map[string]any{"type": "object", "properties": properties},
						},
					}},
				}},
			},
		}))
	}
	return string(text(size - len(text(0))))
}
