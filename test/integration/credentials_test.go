// SPDX-License-Identifier: Apache-2.0

package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

var _ = Describe("Credentials", func() {
	var s *space

	BeforeEach(func(ctx SpecContext) { s = newSpace(ctx) })

	connections := func(ctx SpecContext) (float64, error) {
		m, err := env.provider.scrape(ctx)
		return m.sum(targetConnections, ""), err
	}

	It("are used at once when they are rotated, and the old connection is closed", func(ctx SpecContext) {
		Eventually(connections).WithContext(ctx).Should(BeZero(), "other specs left connections")
		first, second := s.name+"-first", s.name+"-second"
		s.config(ctx, "rotating", s.user(ctx, first))
		m := s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), nil))
		m.Spec.ProviderConfigReference.Name = "rotating"
		s.install(ctx, m)
		Expect(connections(ctx)).To(BeEquivalentTo(1))

		s.secret(ctx, "rotating", corev1.SecretTypeOpaque, map[string][]byte{kubeconfigKey: s.user(ctx, second)})
		revoke(ctx, first)
		s.update(ctx, "web", setValues(values{"message": "as the second"}))
		s.awaitMessage(ctx, "web-settings", "as the second")
		s.awaitReady(ctx, "web")
		Eventually(connections).WithContext(ctx).Should(BeEquivalentTo(1))

		By("seeing drift over the new connection")
		edit(ctx, s.mustConfigMap(ctx, "web-settings"), `{"data":{"message":"changed"}}`)
		s.awaitMessage(ctx, "web-settings", "as the second")

		By("closing the last connection with the last Manifest")
		s.remove(ctx, "web")
		Eventually(connections).WithContext(ctx).Should(BeZero())
	})

	It("that are rotated repair a Manifest that could not be reconciled", func(ctx SpecContext) {
		config, err := env.target.User(s.name + "-nobody")
		Expect(err).NotTo(HaveOccurred())
		s.config(ctx, "rotating", kubeconfigOf(env.target, config))
		m := s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), nil))
		m.Spec.ProviderConfigReference.Name = "rotating"
		s.create(ctx, m)
		Eventually(s.get).WithContext(ctx).WithArguments("web").Should(SatisfyAll(notSynced("forbidden", s.name+"-nobody"), haveState(v1alpha1.StateError)))
		s.secret(ctx, "rotating", corev1.SecretTypeOpaque, map[string][]byte{kubeconfigKey: env.target.Kubeconfig()})
		s.awaitReady(ctx, "web")
	})

	It("of the provider itself install into the control plane", func(ctx SpecContext) {
		cpc := &v1alpha1.ClusterProviderConfig{
			ObjectMeta: metav1.ObjectMeta{Name: s.name},
			Spec: v1alpha1.ProviderConfigSpec{
				Credentials: v1alpha1.Credentials{Source: v1alpha1.CredentialsSourceInjectedIdentity},
				Registries:  registries(),
			},
		}
		s.create(ctx, cpc)
		DeferCleanup(func(ctx SpecContext) { Expect(client.IgnoreNotFound(env.controlClient.Delete(ctx, cpc))).To(Succeed()) })
		m := s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), values{"workload": false}))
		m.Spec.ProviderConfigReference.Kind = v1alpha1.ClusterProviderConfigKind
		m.Spec.ProviderConfigReference.Name = s.name
		s.install(ctx, m)
		Expect(env.controlClient.Get(ctx, s.key("web-settings"), &corev1.ConfigMap{})).To(Succeed())
		Expect(gone(s.configMap)(ctx, "web-settings")).To(BeTrue())
		s.remove(ctx, "web")
		Expect(env.controlClient.Get(ctx, s.key("web-settings"), &corev1.ConfigMap{})).To(beNotFound())
		Expect(s.leftovers(ctx, env.control)).To(BeEmpty())
	})

	It("are kept as long as a Manifest needs them", func(ctx SpecContext) {
		s.install(ctx, s.manifest("web", s.installOf("web", webChart().pushLayer(ctx), nil)))
		config := func(ctx SpecContext) (*v1alpha1.ProviderConfig, error) {
			pc := &v1alpha1.ProviderConfig{}
			return pc, env.controlClient.Get(ctx, s.key(configName), pc)
		}
		Eventually(config).WithContext(ctx).Should(HaveField("Status.Users", BeEquivalentTo(1)))
		Expect(env.controlClient.Delete(ctx, must(config(ctx)))).To(Succeed())
		Consistently(config).WithContext(ctx).ShouldNot(BeNil())

		s.remove(ctx, "web")
		Expect(s.leftovers(ctx, env.target)).To(BeEmpty())
		Eventually(func(ctx SpecContext) error {
			_, err := config(ctx)
			return err
		}).WithContext(ctx).Should(beNotFound())
	})
})
