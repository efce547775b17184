// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// What charts may do, they may do here as with Helm 3.
var _ = Describe("A chart", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	It("has dependencies, which conditions turn off, and values for them", func(ctx SpecContext) {
		parent := newChart("parent", "1.0.0").with("Chart.yaml", `
apiVersion: v2
name: parent
version: 1.0.0
dependencies:
- {name: child, version: 1.x.x, repository: "", condition: first.enabled, alias: first}
- {name: child, version: 1.x.x, repository: "", condition: second.enabled, alias: second}
`).with("values.yaml", "first: {enabled: true, text: parent}\nsecond: {enabled: false}\nglobal: {region: north}\n").
			with("charts/child/Chart.yaml", "apiVersion: v2\nname: child\nversion: 1.2.3\n").
			with("charts/child/values.yaml", "text: child\n").
			with("charts/child/templates/child.yaml", `
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-{{ .Chart.Name }}}
data: {text: {{ .Values.text }}, region: {{ .Values.global.region }}}
`).with("templates/NOTES.txt", "Thank you for {{ .Chart.Name }}.").pushLayer(ctx)
		s.install(ctx, s.manifest("web", s.installOf("web", parent, nil)))
		Expect(s.mustConfigMap(ctx, "web-first").Data).To(Equal(map[string]string{"text": "parent", "region": "north"}))
		Expect(gone(s.configMap)(ctx, "web-second")).To(BeTrue())
		Expect(s.helm(ctx, "get", "notes", "web")).To(ContainSubstring("Thank you for parent."))

		s.update(ctx, "web", setValues(values{
			"first": values{"enabled": false}, "second": values{"enabled": true}, "global": values{"region": "south"},
		}))
		s.awaitReady(ctx, "web")
		Expect(s.mustConfigMap(ctx, "web-second").Data).To(Equal(map[string]string{"text": "child", "region": "south"}))
		Expect(gone(s.configMap)(ctx, "web-first")).To(BeTrue())
	})

	It("looks things up in the target", func(ctx SpecContext) {
		Expect(env.targetClient.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "facts"}, Data: map[string]string{"region": "north"},
		})).To(Succeed())
		source := newChart("curious", "1.0.0").with("templates/all.yaml", `
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
`).with("values.yaml", "set: none\n").pushLayer(ctx)
		s.install(ctx, s.manifest("web", s.installOf("web", source, nil)))
		Expect(s.mustConfigMap(ctx, "web").Data).To(SatisfyAll(
			HaveKeyWithValue("region", "north"), HaveKeyWithValue("nothing", "0"),
			HaveKeyWithValue("apps", "true"), HaveKeyWithValue("unknown", "false"),
			HaveKeyWithValue("version", MatchRegexp(`^v1\.\d+\.\d+`)), HaveKeyWithValue("upgrade", "false")))
		s.update(ctx, "web", setValues(values{"set": "new"}))
		s.awaitReady(ctx, "web")
		Expect(s.mustConfigMap(ctx, "web").Data).To(SatisfyAll(HaveKeyWithValue("upgrade", "true"), HaveKeyWithValue("set", "new")))
	})

	It("that is random gets the same values back when it is repaired", func(ctx SpecContext) {
		source := newChart("random", "1.0.0").with("templates/all.yaml", `
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
`).pushLayer(ctx)
		s.install(ctx, s.manifest("web", s.installOf("web", source, nil)))
		kept, random := s.password(ctx, "kept"), s.password(ctx, "random")

		By("repairing")
		edit(ctx, s.mustConfigMap(ctx, "web-settings"), `{"data":{"message":"changed"}}`)
		s.awaitMessage(ctx, "web-settings", "hello")
		Expect(env.targetClient.Delete(ctx, must(fetched(ctx, s.key("random"), &corev1.Secret{})))).To(Succeed())
		Eventually(func() error {
			_, err := fetched(ctx, s.key("random"), &corev1.Secret{})
			return err
		}).Should(Succeed())
		s.awaitReady(ctx, "web")
		Expect(s.password(ctx, "kept")).To(Equal(kept))
		Expect(s.password(ctx, "random")).To(Equal(random))

		By("upgrading, which looks up what is there, and makes what is random again")
		s.update(ctx, "web", setValues(values{"message": "new"}))
		s.awaitReady(ctx, "web")
		Expect(s.mustConfigMap(ctx, "web-settings")).To(haveData("message", "new"))
		Expect(s.password(ctx, "kept")).To(Equal(kept))
		Expect(s.password(ctx, "random")).NotTo(Equal(random))
	})

	It("is installed into a namespace that does not exist yet, or that it makes itself", func(ctx SpecContext) {
		made, own := s.name+"-made", s.name+"-own"
		for _, ns := range []string{made, own} {
			DeferCleanup(func(ctx SpecContext) {
				_ = env.targetClient.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
			})
		}
		source := newChart("spaces", "1.0.0").with("templates/all.yaml", `
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
`).pushLayer(ctx)
		install := s.installOf("web", source, nil)
		install.Namespace = made
		s.install(ctx, s.manifest("web", install))
		for _, ns := range []string{made, own} {
			Expect(env.targetClient.Get(ctx, client.ObjectKey{Namespace: ns, Name: "inside"}, &corev1.ConfigMap{})).To(Succeed(), ns)
		}

		By("taking away the namespace of the chart, and not the one that was made for it")
		s.remove(ctx, "web")
		Expect(env.targetClient.Get(ctx, client.ObjectKey{Name: own}, &corev1.Namespace{})).To(beNotFound())
		Expect(env.targetClient.Get(ctx, client.ObjectKey{Name: made}, &corev1.Namespace{})).To(Succeed())
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})

	It("may have several objects that depend on a CRD of its own", func(ctx SpecContext) {
		source := newChart("definitions", "1.0.0").with("templates/definition.yaml", controlplane.WidgetDefinition(s.group())).
			with("templates/widget.yaml", `
apiVersion: `+s.group()+`/v1
kind: Widget
metadata: {name: main}
spec: {size: small}
`).pushLayer(ctx)
		m := s.install(ctx, s.manifest("web", s.installOf("web", source, nil)))
		Expect(m.Status.AtProvider.Resources).To(HaveValue(Equal(v1alpha1.ResourceCounts{Ready: 2, Total: 2})))
		edit(ctx, s.mustWidget(ctx, "main"), `{"spec":{"size":"large"}}`)
		Eventually(s.getWidget).WithContext(ctx).WithArguments("main").Should(HaveField("Object", HaveKeyWithValue("spec", HaveKeyWithValue("size", "small"))))
		s.remove(ctx, "web")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})
})

// password in a Secret of the target.
func (s *space) password(ctx context.Context, name string) string {
	GinkgoHelper()
	return string(must(fetched(ctx, s.key(name), &corev1.Secret{})).Data["password"])
}
