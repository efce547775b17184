// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"

	. "github.com/crossplane-contrib/provider-kyma/test/integration/harness"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// Charts may use the same features as with Helm 3.
var _ = Describe("A chart", func() {
	var s *Space

	BeforeEach(func(ctx SpecContext) { s = NewSpace(ctx) })

	It("can have dependencies with conditions and values", func(ctx SpecContext) {
		parent := NewChart("parent", "1.0.0").With("Chart.yaml", `
apiVersion: v2
name: parent
version: 1.0.0
dependencies:
- {name: child, version: 1.x.x, repository: "", condition: first.enabled, alias: first}
- {name: child, version: 1.x.x, repository: "", condition: second.enabled, alias: second}
`).With("values.yaml", "first: {enabled: true, text: parent}\nsecond: {enabled: false}\nglobal: {region: north}\n").
			With("charts/child/Chart.yaml", "apiVersion: v2\nname: child\nversion: 1.2.3\n").
			With("charts/child/values.yaml", "text: child\n").
			With("charts/child/templates/child.yaml", `
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-{{ .Chart.Name }}}
data: {text: {{ .Values.text }}, region: {{ .Values.global.region }}}
`).With("templates/NOTES.txt", "Thank you for {{ .Chart.Name }}.").PushLayer(ctx)
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", parent, nil)))
		Expect(s.MustConfigMap(ctx, "web-first").Data).To(Equal(map[string]string{"text": "parent", "region": "north"}))
		Expect(Gone(s.ConfigMap)(ctx, "web-second")).To(BeTrue())
		Expect(Helm(ctx, s, "get", "notes", "web")).To(ContainSubstring("Thank you for parent."))

		s.Update(ctx, "web", SetValues(Values{
			"first": Values{"enabled": false}, "second": Values{"enabled": true}, "global": Values{"region": "south"},
		}))
		s.AwaitReady(ctx, "web")
		Expect(s.MustConfigMap(ctx, "web-second").Data).To(Equal(map[string]string{"text": "child", "region": "south"}))
		Expect(Gone(s.ConfigMap)(ctx, "web-first")).To(BeTrue())
	})

	It("can look up objects in the target cluster", func(ctx SpecContext) {
		Expect(Env.TargetClient.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.Name, Name: "facts"}, Data: map[string]string{"region": "north"},
		})).To(Succeed())
		source := NewChart("curious", "1.0.0").With("templates/all.yaml", `
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
data:
  region: {{ (lookup "v1" "ConfigMap" .Release.Namespace "facts").data.region }}
  nothing: {{ lookup "v1" "ConfigMap" .Release.Namespace "nothing" | len | quote }}
  apps: {{ .Capabilities.APIVersions.Has "apps/v1/Deployment" | quote }}
  unknown: {{ .Capabilities.APIVersions.Has "example.org/v1" | quote }}
  version: {{ .Capabilities.KubeVersion.Version }}
  upgrade: {{ .Release.IsUpgrade | quote }}
  set: {{ .Values.set | quote }}
`).With("values.yaml", "set: none\n").PushLayer(ctx)
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", source, nil)))
		Expect(s.MustConfigMap(ctx, "web").Data).To(SatisfyAll(
			HaveKeyWithValue("region", "north"), HaveKeyWithValue("nothing", "0"),
			HaveKeyWithValue("apps", "true"), HaveKeyWithValue("unknown", "false"),
			HaveKeyWithValue("version", MatchRegexp(`^v1\.\d+\.\d+`)), HaveKeyWithValue("upgrade", "false")))
		s.Update(ctx, "web", SetValues(Values{"set": "new"}))
		s.AwaitReady(ctx, "web")
		Expect(s.MustConfigMap(ctx, "web").Data).To(SatisfyAll(HaveKeyWithValue("upgrade", "true"), HaveKeyWithValue("set", "new")))
	})

	It("with random values keeps the same values when it is repaired", func(ctx SpecContext) {
		source := NewChart("random", "1.0.0").With("templates/all.yaml", `
{{- $old := lookup "v1" "Secret" .Release.Namespace "kept" }}
apiVersion: v1
kind: Secret
metadata: {name: kept}
data:
  password: {{ if $old }}{{ $old.data.password }}{{ else }}{{ randAlphaNum 20 | b64enc }}{{ end }}
---
apiVersion: v1
kind: Secret
metadata: {name: random}
data: {password: {{ randAlphaNum 20 | b64enc }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web-settings}
data: {message: {{ .Values.message | default "hello" }}}
`).PushLayer(ctx)
		s.Install(ctx, s.Manifest("web", s.InstallOf("web", source, nil)))
		kept, random := passwordIn(ctx, s, "kept"), passwordIn(ctx, s, "random")

		By("repairing")
		Edit(ctx, s.MustConfigMap(ctx, "web-settings"), `{"data":{"message":"changed"}}`)
		s.AwaitMessage(ctx, "web-settings", "hello")
		Expect(Env.TargetClient.Delete(ctx, Must(Fetched(ctx, s.Key("random"), &corev1.Secret{})))).To(Succeed())
		Eventually(func() error {
			_, err := Fetched(ctx, s.Key("random"), &corev1.Secret{})
			return err
		}).Should(Succeed())
		s.AwaitReady(ctx, "web")
		Expect(passwordIn(ctx, s, "kept")).To(Equal(kept))
		Expect(passwordIn(ctx, s, "random")).To(Equal(random))

		By("upgrading, which looks up existing objects, and generates new random values")
		s.Update(ctx, "web", SetValues(Values{"message": "new"}))
		s.AwaitReady(ctx, "web")
		Expect(s.MustConfigMap(ctx, "web-settings")).To(HaveData("message", "new"))
		Expect(passwordIn(ctx, s, "kept")).To(Equal(kept))
		Expect(passwordIn(ctx, s, "random")).NotTo(Equal(random))
	})

	It("is installed into a namespace that does not exist yet, or that the chart contains", func(ctx SpecContext) {
		made, own := s.Name+"-made", s.Name+"-own"
		for _, ns := range []string{made, own} {
			DeferCleanup(func(ctx SpecContext) {
				_ = Env.TargetClient.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
			})
		}
		source := NewChart("spaces", "1.0.0").With("templates/all.yaml", `
apiVersion: v1
kind: Namespace
metadata: {name: `+own+`}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: inside, namespace: `+own+`}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: inside}
`).PushLayer(ctx)
		install := s.InstallOf("web", source, nil)
		install.Namespace = made
		s.Install(ctx, s.Manifest("web", install))
		for _, ns := range []string{made, own} {
			Expect(Env.TargetClient.Get(ctx, client.ObjectKey{Namespace: ns, Name: "inside"}, &corev1.ConfigMap{})).To(Succeed(), ns)
		}

		By("deleting the namespace that the chart contains, but not the one that was created for it")
		s.Remove(ctx, "web")
		Expect(Env.TargetClient.Get(ctx, client.ObjectKey{Name: own}, &corev1.Namespace{})).To(BeNotFound())
		Expect(Env.TargetClient.Get(ctx, client.ObjectKey{Name: made}, &corev1.Namespace{})).To(Succeed())
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})

	It("can have several objects that depend on its own CRD", func(ctx SpecContext) {
		source := NewChart("crds", "1.0.0").With("templates/crd.yaml", controlplane.WidgetCRD(s.Group())).
			With("templates/widget.yaml", `
apiVersion: `+s.Group()+`/v1
kind: Widget
metadata: {name: main}
spec: {size: small}
`).PushLayer(ctx)
		m := s.Install(ctx, s.Manifest("web", s.InstallOf("web", source, nil)))
		Expect(m.Status.AtProvider.Resources).To(HaveValue(Equal(v1alpha1.ResourceCounts{Ready: 2, Total: 2})))
		Edit(ctx, s.MustWidget(ctx, "main"), `{"spec":{"size":"large"}}`)
		Eventually(s.GetWidget).WithContext(ctx).WithArguments("main").Should(HaveField("Object", HaveKeyWithValue("spec", HaveKeyWithValue("size", "small"))))
		s.Remove(ctx, "web")
		Expect(s.Leftovers(ctx, Env.Target)).To(BeEmpty())
	})
})

// passwordIn returns the password in a Secret of the target.
func passwordIn(ctx context.Context, s *Space, name string) string {
	GinkgoHelper()
	return string(Must(Fetched(ctx, s.Key(name), &corev1.Secret{})).Data["password"])
}
