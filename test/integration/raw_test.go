// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const testModule = "component-descriptors/example.org/module/test"

var _ = Describe("Plain objects", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	It("are installed inline, repaired, pruned and removed, without a Helm release", func(ctx SpecContext) {
		m := s.manifest("plain", s.installOf("all", s.inline("one", "message: hello", "two", "message: hello"), nil))
		m = s.install(ctx, m)
		Expect(m.Status.AtProvider.Installs).To(ConsistOf(v1alpha1.InstallStatus{Name: "all", State: v1alpha1.StateReady}))
		Expect(m.Status.AtProvider.Resources).To(HaveValue(Equal(v1alpha1.ResourceCounts{Ready: 2, Total: 2})))
		Expect(s.helm(ctx, "list", "--all", "--short")).To(BeEmpty())
		Eventually(s.events).WithContext(ctx).WithArguments("plain").Should(ContainElement(ContainSubstring("Installed all")))

		By("restoring what someone changed or deleted")
		edit(ctx, s.mustConfigMap(ctx, "one"), `{"data":{"message":"changed"}}`)
		s.awaitMessage(ctx, "one", "hello")
		Expect(env.targetClient.Delete(ctx, s.mustConfigMap(ctx, "two"))).To(Succeed())
		Eventually(gone(s.configMap)).WithContext(ctx).WithArguments("two").Should(BeFalse())
		s.awaitReady(ctx, "plain")

		By("pruning what is no longer there")
		before := s.mustConfigMap(ctx, "two").UID
		s.update(ctx, "plain", setSource(s.inline("two", "message: bye", "three", "message: bye")))
		s.awaitReady(ctx, "plain")
		Expect(gone(s.configMap)(ctx, "one")).To(BeTrue())
		Expect(s.mustConfigMap(ctx, "two")).To(SatisfyAll(haveData("message", "bye"), HaveField("UID", before)))

		s.remove(ctx, "plain")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})

	It("turn into a chart and back under one name", func(ctx SpecContext) {
		plain := s.inline("web-settings", "message: plain")
		s.install(ctx, s.manifest("turns", s.installOf("web", plain, nil)))
		uid := s.mustConfigMap(ctx, "web-settings").UID

		s.update(ctx, "turns", setSource(webChart().pushLayer(ctx)))
		s.awaitReady(ctx, "turns")
		Expect(s.mustConfigMap(ctx, "web-settings")).To(SatisfyAll(haveData("message", "hello"), HaveField("UID", uid)))
		Expect(s.helm(ctx, "list", "--short")).To(Equal("web\n"))

		s.update(ctx, "turns", setSource(plain))
		s.awaitReady(ctx, "turns")
		Expect(s.mustConfigMap(ctx, "web-settings")).To(SatisfyAll(haveData("message", "plain"), HaveField("UID", uid)))
		Expect(gone(s.deployment)(ctx, "web")).To(BeTrue())
		Expect(s.helm(ctx, "list", "--all", "--short")).To(BeEmpty())
	})

	DescribeTable("of a real module are installed from a layer", func(ctx SpecContext, source func(ctx context.Context, data []byte) v1alpha1.Source) {
		data := templateOperator()
		m := s.install(ctx, s.manifest("module", s.installOf("template-operator", source(ctx, data), nil)))
		Expect(m.Status.AtProvider.Resources).To(HaveValue(Equal(v1alpha1.ResourceCounts{Ready: 14, Total: 14})))

		By("running its operator, and having its own custom resource")
		key := client.ObjectKey{Namespace: "template-operator-system", Name: "template-operator-controller-manager"}
		Expect(must(fetched(ctx, key, &appsv1.Deployment{})).Status.AvailableReplicas).To(BeEquivalentTo(1))
		managed := &unstructured.Unstructured{}
		managed.SetAPIVersion("operator.kyma-project.io/v1alpha1")
		managed.SetKind("Managed")
		key.Name = "template-operator-managed-resource"
		Expect(fetched(ctx, key, managed)).To(HaveField("GetLabels()", HaveKeyWithValue(labelManagedBy, managedBy)))

		s.remove(ctx, "module")
		Expect(env.targetClient.Get(ctx, client.ObjectKey{Name: key.Namespace}, &corev1.Namespace{})).To(beNotFound())
	},
		Entry("of YAML as it is", func(ctx context.Context, data []byte) v1alpha1.Source {
			return rawRef(env.registry.PushBlob(ctx, testModule, data))
		}),
		Entry("that is a tar with gzip", func(ctx context.Context, data []byte) v1alpha1.Source {
			return rawRef(env.registry.PushModule(ctx, testModule, controlplane.Files{"template-operator.yaml": data, "README.md": []byte("no: {yaml")}))
		}),
		Entry("inline", func(_ context.Context, data []byte) v1alpha1.Source {
			return v1alpha1.Source{Type: v1alpha1.SourceTypeRaw, Inline: string(data)}
		}),
	)
})

var _ = Describe("A config layer", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	It("counts for the install that it names, between the chart and the values of the Manifest", func(ctx SpecContext) {
		source := webChart().pushLayer(ctx)
		m := s.manifest("pair", s.installOf("one", source, values{"shared": "mine"}), s.installOf("two", source, nil))
		m.Spec.ForProvider.Config = configLayer(ctx, fmt.Sprintf(`
configs:
- name: one
  clientConfig: "Namespace=%s-own,CreateNamespace=true,ReleaseName=named,Wait=true,Timeout=5m"
  overrides: "message=from-config,shared=config,replicas=2"
`, s.name))
		m = s.install(ctx, m)
		DeferCleanup(func(ctx SpecContext) {
			ns := &corev1.Namespace{}
			ns.Name = s.name + "-own"
			Expect(client.IgnoreNotFound(env.targetClient.Delete(ctx, ns))).To(Succeed())
		})
		Expect(m.Status.AtProvider.Installs).To(ConsistOf(
			v1alpha1.InstallStatus{Name: "one", State: v1alpha1.StateReady, Version: "1.0.0"},
			v1alpha1.InstallStatus{Name: "two", State: v1alpha1.StateReady, Version: "1.0.0"}))
		own := &space{name: s.name + "-own"}
		Expect(own.mustConfigMap(ctx, "named-settings")).To(haveData("message", "from-config"))
		Expect(own.mustConfigMap(ctx, "mine")).To(haveData("owner", "named"))
		Expect(own.mustDeployment(ctx, "named").Spec.Replicas).To(HaveValue(BeEquivalentTo(2)))
		Expect(own.helm(ctx, "list", "--short")).To(Equal("named\n"))
		Expect(s.mustConfigMap(ctx, "two-settings")).To(haveData("message", "hello"))
		Expect(s.helm(ctx, "list", "--short")).To(Equal("two\n"))

		By("putting things back where the config wants them")
		Expect(env.targetClient.Delete(ctx, own.mustConfigMap(ctx, "mine"))).To(Succeed())
		Eventually(gone(own.configMap)).WithContext(ctx).WithArguments("mine").Should(BeFalse())

		By("following another config")
		s.update(ctx, "pair", func(m *v1alpha1.Manifest) {
			m.Spec.ForProvider.Config = configLayer(ctx, "configs: [{name: two, overrides: message=changed}]")
		})
		s.awaitReady(ctx, "pair")
		Expect(s.mustConfigMap(ctx, "two-settings")).To(haveData("message", "changed"))
		Expect(s.mustConfigMap(ctx, "one-settings")).To(haveData("message", "hello"))
		Expect(own.helm(ctx, "list", "--all", "--short")).To(BeEmpty())
		Expect(own.leftovers(ctx, env.target)).To(BeEmpty())

		s.remove(ctx, "pair")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
	})

	It("may be empty", func(ctx SpecContext) {
		m := s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), nil))
		m.Spec.ForProvider.Config = configLayer(ctx, "")
		s.install(ctx, m)
	})
})

// inline ConfigMaps, as pairs of a name and a line of data. They get the namespace of the install.
func (s *space) inline(pairs ...string) v1alpha1.Source {
	text := &strings.Builder{}
	text.WriteString("# Nothing but comments makes no object.\n")
	for i := 0; i+1 < len(pairs); i += 2 {
		fmt.Fprintf(text, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {%s}\n", pairs[i], pairs[i+1])
	}
	return v1alpha1.Source{Type: v1alpha1.SourceTypeRaw, Inline: text.String()}
}

// rawRef is the source of plain objects by the digest of a layer.
func rawRef(p controlplane.Pushed, err error) v1alpha1.Source {
	GinkgoHelper()
	Expect(err).NotTo(HaveOccurred())
	source := ociRef(p.Repository, p.Layer)
	source.Type = v1alpha1.SourceTypeRaw
	return source
}

// configLayer is pushed as YAML as it is.
func configLayer(ctx context.Context, text string) *v1alpha1.LayerSource {
	GinkgoHelper()
	p, err := env.registry.PushBlob(ctx, testModule, []byte(text))
	Expect(err).NotTo(HaveOccurred())
	source := ociRef(p.Repository, p.Layer)
	return &v1alpha1.LayerSource{Type: v1alpha1.LayerSourceTypeOCIRef, Repo: source.Repo, Name: source.Name, Ref: source.Ref}
}

// templateOperator is Kyma's module of that name, as the demo has it.
func templateOperator() []byte {
	GinkgoHelper()
	root, err := tools.Root()
	Expect(err).NotTo(HaveOccurred())
	files, err := controlplane.ReadFolder(filepath.Join(root, "cluster", "local", "modules", "template-operator"))
	Expect(err).NotTo(HaveOccurred())
	Expect(files).To(HaveKey("template-operator.yaml"))
	return files["template-operator.yaml"]
}
