// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

var _ = Describe("A large module", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	It("with 1,000 objects costs one request for each object to change", func(ctx SpecContext) {
		const objects, more = 1000, 60
		c := NewChart("many", "1.0.0").With("templates/all.yaml", `
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
			before := Must(Env.Provider.Scrape(ctx))
			do()
			all, requests := 0.0, Must(Env.Provider.Scrape(ctx)).RequestsSince(before, TargetRequests)
			for _, n := range requests {
				all += n
			}
			Expect(all).To(BeNumerically("<=", most), "%v", requests)
		}
		cost(objects+more, func() {
			m := s.Install(ctx, s.Manifest("many", s.InstallOf("many", c.PushLayer(ctx), Values{"message": "one"})))
			Expect(m.Status.AtProvider.Resources).To(HaveValue(Equal(v1alpha1.ResourceCounts{Ready: objects, Total: objects})))
		})
		cost(5+more, func() {
			s.Update(ctx, "many", SetValues(Values{"message": "two"}))
			s.AwaitReady(ctx, "many")
			Expect(s.MustConfigMap(ctx, "many-4")).To(HaveData("message", "two"))
		})
		cost(2+more, func() {
			Edit(ctx, s.MustConfigMap(ctx, "many-500"), `{"data":{"message":"changed"}}`)
			Expect(Env.TargetClient.Delete(ctx, s.MustConfigMap(ctx, "many-501"))).To(Succeed())
			s.AwaitMessage(ctx, "many-500", "same")
			Eventually(Gone(s.ConfigMap)).WithContext(ctx).WithArguments("many-501").Should(BeFalse())
			s.AwaitReady(ctx, "many")
		})
		cost(objects+more, func() { s.Remove(ctx, "many") })
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})

	It("with a CRD of 1.5 MB is installed, or reported by name if the cluster cannot store it", func(ctx SpecContext) {
		crdOf := func(size int) (string, *v1alpha1.LayerSource) {
			text := largeCRD(s.Group(), size)
			source := rawRef(Env.Registry.PushModule(ctx, TestModule, controlplane.Files{"crds/widgets.yaml": []byte(text)}))
			return text, &v1alpha1.LayerSource{Type: v1alpha1.LayerSourceTypeOCIRef, Repo: source.Repo, Name: source.Name, Ref: source.Ref}
		}
		text, crds := crdOf(1_500_000)
		Expect(len(text)).To(BeNumerically(">=", 1_500_000))
		m := s.Manifest("crd", s.InstallOf("any", s.Inline("any", "a: b"), nil))
		m.Spec.ForProvider.CRDs = crds
		s.Install(ctx, m)

		By("repairing the CRD")
		key := client.ObjectKey{Name: "widgets." + s.Group()}
		get := func(ctx context.Context) (*unstructured.Unstructured, error) {
			crd := &unstructured.Unstructured{}
			crd.SetAPIVersion("apiextensions.k8s.io/v1")
			crd.SetKind("CustomResourceDefinition")
			return Fetched(ctx, key, crd)
		}
		crd := Must(get(ctx))
		Expect(len(Must(json.Marshal(crd)))).To(BeNumerically(">", 1_500_000))
		Edit(ctx, crd, `{"metadata":{"labels":{"`+LabelManagedBy+`":"other"}}}`)
		Eventually(get).WithContext(ctx).Should(HaveField("GetLabels()", HaveKeyWithValue(LabelManagedBy, ManagedBy)))

		_, crds = crdOf(1_600_000)
		s.Update(ctx, "crd", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.CRDs = crds })
		Eventually(s.Get).WithContext(ctx).WithArguments("crd").Should(
			NotSynced("CustomResourceDefinition "+key.Name, "exceeds the size limit of the cluster"))

		s.Remove(ctx, "crd")
		_, err := get(ctx)
		Expect(err).To(BeNotFound())
	})

	It("with a file of 900 KB is installed from a chart if it fits into the release record, and always from plain objects", func(ctx SpecContext) {
		const size = 900_000
		c := NewChart("file", "1.0.0").With("templates/cm.yaml", `
apiVersion: v1
kind: ConfigMap
metadata: {name: large}
data:
  message: {{ .Values.message }}
  file: {{ .Files.Get "file.txt" | quote }}
`)
		text := c.With("file.txt", strings.Repeat("The same line again and again.\n", size/31))
		s.Install(ctx, s.Manifest("file", s.InstallOf("file", text.PushLayer(ctx), Values{"message": "one"})))
		Expect(len(s.MustConfigMap(ctx, "large").Data["file"])).To(BeNumerically(">", size-100))
		Edit(ctx, s.MustConfigMap(ctx, "large"), `{"data":{"file":"lost"}}`)
		Eventually(s.ConfigMap).WithContext(ctx).WithArguments("large").Should(HaveData("file", string(text.Files["file.txt"])))
		s.Update(ctx, "file", SetValues(Values{"message": "two"}))
		s.AwaitReady(ctx, "file")
		Expect(s.MustConfigMap(ctx, "large")).To(HaveData("message", "two"))

		By("refusing a file that does not compress, before anything is changed")
		s.Update(ctx, "file", func(m *v1alpha1.Manifest) {
			m.Spec.ForProvider.Installs = []v1alpha1.Install{s.InstallOf("file", c.With("file.txt", noise(2*size)).PushLayer(ctx), Values{"message": "three"})}
		})
		Eventually(s.Get).WithContext(ctx).WithArguments("file").Should(NotSynced(`release record of chart "file"`, "a Secret can store at most 1048576", "split the chart"))
		Expect(s.MustConfigMap(ctx, "large")).To(HaveData("message", "two"))
		Expect(Decode(Helm(ctx, s, "history", "file", "--output", "json"))).To(HaveLen(2))
		s.Remove(ctx, "file")

		By("installing plain objects without a release record")
		plain := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: noise}\ndata: {file: %s}\n", noise(size))
		s.Install(ctx, s.Manifest("plain", s.InstallOf("plain", rawRef(Env.Registry.PushBlob(ctx, TestModule, []byte(plain))), nil)))
		Expect(s.MustConfigMap(ctx, "noise").Data["file"]).To(HaveLen(size))
		s.Remove(ctx, "plain")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})

	It("whose files do not fit into the release record is recorded without them, which helm accepts", func(ctx SpecContext) {
		c := WebChart().With("files/noise.txt", noise(3_000_000))
		s.Install(ctx, s.Manifest("lean", s.InstallOf("web", c.PushLayer(ctx), Values{"message": "one"})))
		s.Update(ctx, "lean", SetValues(Values{"message": "two"}))
		s.AwaitReady(ctx, "lean")

		Expect(Helm(ctx, s, "history", "web")).To(ContainSubstring("recorded without the templates and files"))
		Expect(Decode(Helm(ctx, s, "list", "--output", "json"))).To(ConsistOf(SatisfyAll(HaveField("Chart", "web-1.0.0"), HaveField("AppVersion", "1.0"))))
		Expect(Helm(ctx, s, "status", "web")).To(ContainSubstring("STATUS: deployed"))
		Expect(Helm(ctx, s, "get", "values", "web", "--all")).To(SatisfyAll(ContainSubstring("message: two"), ContainSubstring("replicas:")))
		Expect(Helm(ctx, s, "get", "manifest", "web")).To(Equal(Template(ctx, s, c, "message=two")))
		Helm(ctx, s, "rollback", "web", "1", "--dry-run")
		Helm(ctx, s, "uninstall", "web", "--dry-run")
		s.Remove(ctx, "lean")
	})
})

// noise returns n random hexadecimal digits, which compress to about half.
func noise(n int) string {
	b := make([]byte, n/2)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return hex.EncodeToString(b)
}

// largeCRD returns a CRD of kind Widget whose JSON has size bytes.
func largeCRD(group string, size int) string {
	GinkgoHelper()
	text := func(padding int) []byte {
		properties := map[string]any{}
		for i := range 1000 {
			properties[fmt.Sprintf("p%05d", i)] = map[string]any{"type": "string", "description": strings.Repeat("x", 1000)}
		}
		return Must(json.Marshal(map[string]any{
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
